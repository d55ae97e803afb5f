// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/machine_passes.h"

#include <algorithm>
#include <unordered_map>

#include "heddle/frontend/ptx/machine/definitions.h"
#include "heddle/frontend/ptx/machine/liveness.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

std::uint8_t exchange_table(std::uint8_t lut) {  // rows 010 and 100 change places, 011 and 101 as well
  const auto bit = [&](unsigned k) { return lut >> k & 1u; };
  return static_cast<std::uint8_t>(bit(0) | bit(1) << 1 | bit(4) << 2 | bit(5) << 3 | bit(2) << 4 | bit(3) << 5 |
                                   bit(6) << 6 | bit(7) << 7);
}

isa::compare exchanged(isa::compare c) {
  using isa::compare;
  switch (c) {
    case compare::lt: return compare::gt;
    case compare::gt: return compare::lt;
    case compare::le: return compare::ge;
    case compare::ge: return compare::le;
    case compare::ltu: return compare::gtu;
    case compare::gtu: return compare::ltu;
    case compare::leu: return compare::geu;
    case compare::geu: return compare::leu;
    default: return c;
  }
}

}  // namespace

bool takes_constant(opcode op, unsigned k) {
  using isa::constant_use;
  switch (isa::info(op).constants) {
    case constant_use::none: return false;
    case constant_use::first: return k == 0;
    case constant_use::second: return k == 1;
    case constant_use::third: return k == 2;
    case constant_use::later: return k == 1 || k == 2;
    case constant_use::fourth: return k == 3;
    case constant_use::not_first: return k > 0;
    case constant_use::any: return true;
  }
  return false;
}

bool takes_many_constants(opcode op) {
  const isa::constant_use use = isa::info(op).constants;
  return use == isa::constant_use::not_first || use == isa::constant_use::any;
}

bool exchange_sources(machine_instruction& i) {
  using isa::exchange_rule;
  switch (isa::info(i.base.op).exchange) {
    case exchange_rule::no: return false;
    case exchange_rule::yes: break;
    case exchange_rule::table: i.base.sub = exchange_table(i.base.sub); break;
    case exchange_rule::compare: i.base.cmp = exchanged(i.base.cmp); break;
    case exchange_rule::choice: i.psrc[0].negate = !i.psrc[0].negate; break;
  }
  std::swap(i.src[0], i.src[1]);
  return true;
}

namespace {

/// Known sources of units that are plain copies.
class copy_propagation {
 public:
  explicit copy_propagation(machine_function& f) : f_(f), units_(f.registers), defs_(f, units_) {}

  void run() {
    for (machine_block& b : f_.blocks)
      for (machine_instruction& i : b.code)
        for (unsigned k = 0; k < i.src.size(); ++k) replace(i, k);
  }

 private:
  /// Follows copies from one word; false if it is not a copy.
  bool follow(const virtual_operand& word, virtual_operand& source) const {
    bool moved = false;
    virtual_operand at = word;
    for (unsigned step = 0; step < 64 && at.is_reg(); ++step) {
      const std::uint32_t u = units_.of(at.reg, at.part);
      if (!defs_.single(f_, at.reg, u)) break;
      const machine_instruction& d = *defs_.by[u];
      if (d.base.op != opcode::mov || d.dst.count != 1) break;
      const virtual_operand& s = d.src[0];
      if (s.negate || s.absolute || s.invert) break;
      if (s.is_reg() && !defs_.single(f_, s.reg, units_.of(s.reg, s.part))) break;
      at = s;
      moved = true;
    }
    source = at;
    return moved;
  }

  static bool has_other_value(const machine_instruction& i, unsigned k) {
    for (unsigned j = 0; j < i.src.size(); ++j)
      if (j != k && is_value(i.src[j])) return true;
    return false;
  }

  bool place_value(machine_instruction& i, unsigned k, virtual_operand v) {
    const bool many = takes_many_constants(i.base.op);
    if (!many && has_other_value(i, k)) return false;
    if (!takes_constant(i.base.op, k)) {
      if (k != 0 || !takes_constant(i.base.op, 1)) return false;
      if (!exchange_sources(i)) return false;
      i.src[1] = v;
      return true;
    }
    i.src[k] = v;
    return true;
  }

  void replace(machine_instruction& i, unsigned k) {
    virtual_operand& o = i.src[k];
    if (!o.is_reg()) return;
    virtual_operand low, high;
    const virtual_operand first(register_part{o.reg, o.part, 1});
    if (!follow(first, low)) return;
    virtual_operand result = low;
    if (o.count == 2) {
      const virtual_operand second(register_part{o.reg, static_cast<std::uint8_t>(o.part + 1), 1});
      if (!follow(second, high) || !join(low, high, result)) return;
    } else if (o.count != 1) {
      return;
    }
    result.count = o.count;
    result.negate = o.negate;
    result.absolute = o.absolute;
    result.invert = o.invert;
    if (is_value(result)) place_value(i, k, result);
    else if (!(result.is_zero_register() && is_address(i, k) && o.count == 2)) o = result;
  }

  static bool is_address(const machine_instruction& i, unsigned k) { return k == 0 && isa::names_address(i.base.op); }

  static bool join(const virtual_operand& low, const virtual_operand& high, virtual_operand& pair) {
    pair = low;
    if (low.is_reg() && high.is_reg()) return low.reg == high.reg && low.part % 2 == 0 && high.part == low.part + 1;
    if (low.is_constant() && high.is_constant())
      return low.bank == high.bank && high.value == low.value + 4 && low.value % 8 == 0;
    const bool literal =
        (low.is_immediate() || low.is_zero_register()) && (high.is_immediate() || high.is_zero_register());
    if (!literal) return false;
    pair.value = (low.is_immediate() ? low.value : 0) | (high.is_immediate() ? high.value << 32 : 0);
    pair.kind = pair.value == 0 ? isa::operand_kind::reg : isa::operand_kind::immediate;
    pair.reg = no_register;
    pair.part = 0;
    return true;
  }

  machine_function& f_;
  unit_map units_;
  definitions defs_;
};

}  // namespace

void propagate_copies(machine_function& f) { copy_propagation(f).run(); }

void remove_dead_code(machine_function& f) {
  const unit_map units(f.registers);
  std::vector<std::vector<machine_instruction*>> writers(units.count());
  std::vector<machine_instruction*> work;
  std::unordered_map<const machine_instruction*, bool> kept;
  for (machine_block& b : f.blocks)
    for (machine_instruction& i : b.code) {
      for_each_definition(i, units, [&](std::uint32_t u) { writers[u].push_back(&i); });
      if (has_side_effect(i)) kept[&i] = true, work.push_back(&i);
    }
  while (!work.empty()) {
    const machine_instruction* i = work.back();
    work.pop_back();
    for_each_use(*i, f.registers, units, [&](std::uint32_t u) {
      for (machine_instruction* w : writers[u])
        if (!kept[w]) kept[w] = true, work.push_back(w);
      writers[u].clear();
    });
  }
  for (machine_block& b : f.blocks) {
    std::vector<machine_instruction> code;
    for (machine_instruction& i : b.code)
      if (kept[&i]) code.push_back(i);
    b.code = std::move(code);
  }
}

void narrow_fetches(machine_function& f) {
  struct reach {
    unsigned words = 0, writers = 0;
  };
  std::vector<reach> read(f.registers.size());
  for (const machine_block& b : f.blocks)
    for (const machine_instruction& i : b.code) {
      if (i.base.dst_count > 0 && i.dst.reg != no_register) ++read[i.dst.reg].writers;
      for (const virtual_operand& o : i.src)
        if (o.is_reg()) read[o.reg].words = std::max(read[o.reg].words, unsigned{o.part} + o.count);
    }
  for (machine_block& b : f.blocks)
    for (machine_instruction& i : b.code) {
      if ((i.base.op != opcode::tex && i.base.op != opcode::tld4) || i.dst.reg == no_register) continue;
      const reach& r = read[i.dst.reg];
      if (r.writers != 1 || i.dst.count != 4 || r.words == 0 || r.words > 2) continue;  // three take the place of four
      f.registers[i.dst.reg].words = i.dst.count = i.base.dst_count = static_cast<std::uint8_t>(r.words);
      f.registers[i.dst.reg].bits = static_cast<std::uint8_t>(32 * r.words);
    }
}

void merge_chains(machine_function& f) {
  const unit_map units(f.registers);
  const definitions defs(f, units);
  for (machine_block& b : f.blocks) {
    for (machine_instruction& i : b.code) {
      if (i.base.op != opcode::iadd3 || i.pdst[0] != no_register || i.base.extended) continue;
      for (unsigned k = 0; k < 2; ++k) {
        const virtual_operand o = i.src[k];
        if (!i.src[2].is_zero_register() || i.src[2].negate || !o.is_reg() || o.negate) continue;
        const std::uint32_t u = units.of(o.reg, o.part);
        if (!defs.single(f, o.reg, u) || defs.uses[u] != 1) continue;
        const machine_instruction& d = *defs.by[u];
        if (d.base.op != opcode::iadd3 || d.pdst[0] != no_register || d.base.extended) continue;
        if (!d.src[2].is_zero_register() || d.src[2].negate) continue;
        const bool values = is_value(d.src[0]) + is_value(d.src[1]) + is_value(i.src[1 - k]) <= 1;
        bool stable = values;
        for (unsigned j = 0; j < 2; ++j)
          stable =
              stable && (!d.src[j].is_reg() || defs.single(f, d.src[j].reg, units.of(d.src[j].reg, d.src[j].part)));
        if (!stable) continue;
        i.src[2] = d.src[1];
        i.src[k] = d.src[0];
        if (is_value(i.src[0])) std::swap(i.src[0], is_value(i.src[1]) ? i.src[2] : i.src[1]);
        break;
      }
    }
  }
}

}  // namespace heddle::ptx
