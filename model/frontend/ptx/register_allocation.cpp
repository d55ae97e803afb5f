// SPDX-License-Identifier: MIT
#include "frontend/ptx/register_allocation.h"

#include <algorithm>
#include <string>

#include "config/error.h"
#include "frontend/ptx/interval_scan.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

/// Rewrites a function so that chosen registers live in memory (32-bit registers) or in registers (predicates) between their
/// uses. New registers of the rewriting are marked as not to be spilled again.
class spiller {
 public:
  spiller(machine_function& f, std::vector<char>& unspillable) : f_(f), unspillable_(unspillable) {}

  void run(const std::vector<std::uint32_t>& spilled, const unit_map& units, const std::vector<segments>& live) {
    slot_.assign(f_.registers.size(), no_register);
    for (std::uint32_t r : spilled) {
      if (f_.registers[r].words == 0) {
        slot_[r] = fresh(1, false);
        unspillable_[slot_[r]] = 0;
      } else {
        slot_[r] = find_slot(f_.registers[r].words, r, units, live);
      }
    }
    slot_.resize(f_.registers.size(), no_register);
    for (machine_block& b : f_.blocks) {
      std::vector<machine_instruction> code;
      for (machine_instruction& i : b.code) rewrite(i, code);
      b.code = std::move(code);
    }
  }

 private:
  struct slot {
    unsigned words;
    std::uint32_t offset;
    segments taken;
  };

  /// Values whose lives do not meet share a place in local memory.
  std::uint32_t find_slot(unsigned words, std::uint32_t reg, const unit_map& units, const std::vector<segments>& live) {
    segments all;
    for (unsigned k = 0; k < words; ++k) merge_into(all, live[units.of(reg, k)]);
    for (slot& s : slots_) {
      if (s.words != words || overlap(s.taken, all)) continue;
      merge_into(s.taken, all);
      return s.offset;
    }
    f_.local_bytes = (f_.local_bytes + words * 4 - 1) / (words * 4) * (words * 4);
    slots_.push_back({words, f_.local_bytes, all});
    f_.local_bytes += words * 4;
    return slots_.back().offset;
  }

  std::uint32_t fresh(unsigned words, bool temporary) {
    const std::uint32_t r = f_.new_register(words);
    f_.registers[r].temporary = temporary;
    unspillable_.resize(f_.registers.size(), 0);
    unspillable_[r] = 1;
    return r;
  }

  bool is_spilled(std::uint32_t r) const { return r != no_register && r < slot_.size() && slot_[r] != no_register; }

  machine_instruction local_access(const machine_instruction& like, opcode op, std::uint32_t slot, unsigned part, unsigned count) const {
    machine_instruction i;
    i.base.op = op;
    i.base.line = like.base.line;
    i.base.column = like.base.column;
    i.base.mem_space = isa::space::local;
    i.base.type = count == 1 ? isa::dtype::b32 : count == 2 ? isa::dtype::b64 : isa::dtype::b128;
    i.base.offset = slot + 4 * part;
    i.src[0].kind = isa::operand_kind::reg;
    return i;
  }

  /// The value of a spilled predicate, in a predicate register of its own for this instruction.
  std::uint32_t reload_predicate(std::uint32_t p, const machine_instruction& like, std::vector<machine_instruction>& code) {
    const std::uint32_t q = fresh(0, true);
    machine_instruction i;
    i.base.op = opcode::isetp;
    i.base.line = like.base.line;
    i.base.column = like.base.column;
    i.base.cmp = isa::compare::ne;
    i.src[0] = virtual_operand(register_part{slot_[p], 0, 1});
    i.src[1].kind = isa::operand_kind::reg;
    i.pdst[0] = q;
    code.push_back(i);
    return q;
  }

  void rewrite(machine_instruction& i, std::vector<machine_instruction>& code) {
    for (virtual_predicate& p : i.psrc)
      if (is_spilled(p.reg)) p.reg = reload_predicate(p.reg, i, code);
    if (is_spilled(i.guard.reg)) i.guard.reg = reload_predicate(i.guard.reg, i, code);
    for (virtual_operand& o : i.src) {
      if (!o.is_reg() || !is_spilled(o.reg)) continue;
      const std::uint32_t t = fresh(o.count, true);
      machine_instruction load = local_access(i, opcode::ld, slot_[o.reg], o.part, o.count);
      load.dst = {t, 0, o.count};
      load.base.dst_count = o.count;
      code.push_back(load);
      for (virtual_operand& same : i.src)
        if (&same != &o && same.is_reg() && same.reg == o.reg && same.part == o.part && same.count == o.count) {
          same.reg = t;
          same.part = 0;
        }
      o.reg = t;
      o.part = 0;
    }
    std::vector<machine_instruction> after;
    if (is_spilled(i.dst.reg)) {
      const std::uint32_t t = fresh(i.dst.count, true);
      machine_instruction store = local_access(i, opcode::st, slot_[i.dst.reg], i.dst.part, i.dst.count);
      store.src[1] = virtual_operand(register_part{t, 0, i.dst.count});
      store.guard = i.guard;
      i.dst = {t, 0, i.dst.count};
      after.push_back(store);
    }
    for (std::uint32_t& p : i.pdst) {
      if (!is_spilled(p)) continue;
      const std::uint32_t q = fresh(0, true);
      machine_instruction keep;
      keep.base.op = opcode::sel;
      keep.base.line = i.base.line;
      keep.base.column = i.base.column;
      keep.dst = {slot_[p], 0, 1};
      keep.base.dst_count = 1;
      keep.src[0].kind = isa::operand_kind::reg;
      keep.src[1].kind = isa::operand_kind::immediate;
      keep.src[1].value = 1;
      keep.psrc[0] = {q, true};
      keep.guard = i.guard;
      p = q;
      after.push_back(keep);
    }
    code.push_back(i);
    code.insert(code.end(), after.begin(), after.end());
  }

  machine_function& f_;
  std::vector<char>& unspillable_;
  std::vector<slot> slots_;
  std::vector<std::uint32_t> slot_;   // bytes in local memory, or the register that holds a predicate
};

constexpr unsigned rest_instructions = 4;   // about the cycles in which operands are read

}  // namespace

bool allocate_registers(machine_function& f, unsigned limit, unsigned free_of_cost, unsigned banks, register_allocation& a) {
  std::vector<char> unspillable(f.registers.size(), 0);
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    unspillable.resize(f.registers.size(), 0);
    const unit_map units(f.registers);
    const std::vector<segments> live = live_segments(f, units);
    interval_scan predicates(f, units, live, true, isa::predicate_count);
    interval_scan registers(f, units, live, false, limit);
    registers.join_copies();
    bool placed = predicates.place(unspillable);
    if (placed && predicates.spilled().empty()) {
      placed = registers.place(unspillable);
      if (placed && registers.spilled().empty()) {
        // Within the unit in which registers are handed out, and as long as occupancy stays whole, they need not be sparing.
        const unsigned generous = std::min(limit, std::max((registers.used() + 7) / 8 * 8, free_of_cost));
        interval_scan rested(f, units, live, false, generous);
        rested.join_copies();
        rested.rest(rest_instructions);
        interval_scan& chosen = rested.place(unspillable) && rested.spilled().empty() ? rested : registers;
        if (banks > 1) chosen.spread(banks, std::min(limit, (chosen.used() + 7) / 8 * 8));
        a.registers = std::max(chosen.used(), 1u);
        for (std::uint32_t r = 0; r < f.registers.size(); ++r) {
          const bool predicate = f.registers[r].words == 0;
          const std::uint32_t at = predicate ? predicates.place_of(r) : chosen.place_of(r);
          a.physical.push_back(static_cast<std::uint8_t>(at != no_register ? at : predicate ? isa::pt : isa::rz));
        }
        return true;
      }
    }
    const std::vector<std::uint32_t>& spilled = predicates.spilled().empty() ? registers.spilled() : predicates.spilled();
    if (!placed && spilled.empty()) break;
    spiller(f, unspillable).run(spilled, units, live);
  }
  return false;
}

void verify_allocation(const machine_function& f, const register_allocation& a) {
  const unit_map units(f.registers);
  const std::vector<segments> live = live_segments(f, units);
  std::vector<segments> general(256), predicates(isa::predicate_count + 1);
  for (std::uint32_t r = 0; r < f.registers.size(); ++r) {
    const unsigned words = f.registers[r].words;
    bool lives = false;
    for (unsigned k = 0; k < std::max(words, 1u); ++k) lives = lives || !live[units.of(r, k)].empty();
    if (!lives) continue;
    if (words > 1) invariant(a.physical[r] % words == 0, "a register pair or quad is not aligned");
    for (unsigned k = 0; k < std::max(words, 1u); ++k) {
      const segments& s = live[units.of(r, k)];
      const unsigned at = a.physical[r] + k;
      if (s.empty()) continue;
      invariant(words == 0 ? at < isa::predicate_count : at < a.registers, "a live value has no register");
      segments& taken = words == 0 ? predicates[at] : general[at];
      invariant(!overlap(taken, s), "two live values share a register");
      merge_into(taken, s);
    }
  }
}

}  // namespace heddle::ptx
