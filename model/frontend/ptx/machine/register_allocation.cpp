// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/machine/register_allocation.h"

#include <algorithm>
#include <string>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/machine/interval_scan.h"

namespace heddle::ptx {

namespace {

using isa::opcode;

/// Rewrites a function so that chosen registers live in memory (32-bit registers) or in registers (predicates) between
/// their uses. New registers of the rewriting are marked as not to be spilled again.
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

  [[nodiscard]] bool is_spilled(std::uint32_t r) const {
    return r != no_register && r < slot_.size() && slot_[r] != no_register;
  }

  [[nodiscard]] machine_instruction local_access(const machine_instruction& like, opcode op, std::uint32_t slot,
                                                 unsigned part, unsigned count) const {
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
  std::uint32_t reload_predicate(std::uint32_t p, const machine_instruction& like,
                                 std::vector<machine_instruction>& code) {
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
  std::vector<std::uint32_t> slot_;  // bytes in local memory, or the register that holds a predicate
};

/// Registers that the slow path of a division or root takes, with its operands, its result and the address that it
/// returns to: it is a routine of the program, which the model executes as one ASSIST. Counted as `ptxas -v
/// -arch=sm_75` does, with up to 24 values live across the call.
unsigned registers_of(isa::assist_function f) {
  using isa::assist_function;
  switch (f) {
    case assist_function::div_f32: return 11;
    case assist_function::rcp_f32: return 10;
    case assist_function::sqrt_f32: return 5;
    case assist_function::div_f64: return 21;
    case assist_function::rcp_f64: return 10;
    case assist_function::sqrt_f64: return 15;
    case assist_function::div_s64: return 19;
    case assist_function::rem_s64: return 17;
    case assist_function::div_u64:
    case assist_function::rem_u64: return 15;
  }
  return 0;
}

bool is_routine(const machine_instruction& i) {
  return i.base.op == opcode::assist || i.base.op == opcode::syscall ||
         (i.base.op == opcode::trap && i.base.sub == isa::trap_assertion);
}

/// Registers that must be there for the routines that a program calls, without those that are counted beyond the
/// highest.
unsigned for_routines(const machine_function& f, const unit_map& units, const std::vector<segments>& live) {
  constexpr unsigned kept_by_callee = 16,
                     least_of_system = 22;  // R16 and up outlive a call of the system's; it takes 24 with two beyond
  std::uint32_t count = 0;
  for (const machine_block& b : f.blocks) count += static_cast<std::uint32_t>(b.code.size());
  std::vector<int> across(count + 2, 0);  // words that live before an instruction and behind it
  for (std::uint32_t r = 0; r < f.registers.size(); ++r)
    for (unsigned k = 0; k < f.registers[r].words; ++k)
      for (const segment& s : live[units.of(r, k)]) {
        const std::uint32_t first = (s.begin + 1) / 2, end = s.end / 2;
        if (first < end) ++across[first], --across[end];
      }
  unsigned most = 0;
  std::uint32_t position = 0;
  int words = 0;
  for (const machine_block& b : f.blocks)
    for (const machine_instruction& i : b.code) {
      words += across[position++];
      if (!is_routine(i)) continue;
      const unsigned kept = static_cast<unsigned>(words);
      if (i.base.op == opcode::assist)
        most = std::max(most, kept + 1 + registers_of(static_cast<isa::assist_function>(i.base.sub)));
      else most = std::max({most, least_of_system, kept_by_callee + kept});
    }
  return most;
}

}  // namespace

unsigned registers_needed(const machine_function& f, const register_rules& rules) {
  if (rules.limit <= rules.beyond) return 0;
  const unit_map units(f.registers);
  const std::vector<segments> live = live_segments(f, units);
  interval_scan registers(f, units, live, false, rules.limit - rules.beyond);
  if (rules.stack_pointer) registers.reserve(stack_pointer);
  registers.join_copies();
  if (!registers.place(std::vector<char>(f.registers.size(), 0)) || !registers.spilled().empty()) return 0;
  return std::max(registers.used(), rules.stack_pointer ? for_routines(f, units, live) : 1) + rules.beyond;
}

bool allocate_registers(machine_function& f, const register_rules& rules, register_allocation& a) {
  if (rules.limit <= rules.beyond) return false;
  const unsigned places = rules.limit - rules.beyond;
  std::vector<char> unspillable(f.registers.size(), 0);
  for (unsigned attempt = 0; attempt < 100; ++attempt) {
    unspillable.resize(f.registers.size(), 0);
    const unit_map units(f.registers);
    const std::vector<segments> live = live_segments(f, units);
    interval_scan predicates(f, units, live, true, isa::predicate_count);
    interval_scan registers(f, units, live, false, places);
    if (rules.stack_pointer) registers.reserve(stack_pointer);
    registers.join_copies();
    bool placed = predicates.place(unspillable);
    if (placed && predicates.spilled().empty()) {
      placed = registers.place(unspillable);
      if (placed && registers.spilled().empty()) {
        const unsigned counted = registers.used() + rules.beyond;
        registers.spread(
            std::max(rules.banks, 1u),
            std::min(places, std::max((counted + rules.step - 1) / rules.step * rules.step, rules.free_of_cost) -
                                 rules.beyond));
        a.registers = std::max(registers.used(), rules.stack_pointer ? stack_pointer + 1u : 1u) + rules.beyond;
        if (rules.stack_pointer)
          a.registers = std::max(a.registers, std::min(for_routines(f, units, live) + rules.beyond, rules.limit));
        for (std::uint32_t r = 0; r < f.registers.size(); ++r) {
          const bool predicate = f.registers[r].words == 0;
          const std::uint32_t at = predicate ? predicates.place_of(r) : registers.place_of(r);
          a.physical.push_back(static_cast<std::uint8_t>(at != no_register ? at : predicate ? isa::pt : isa::rz));
        }
        return true;
      }
    }
    const std::vector<std::uint32_t>& spilled =
        predicates.spilled().empty() ? registers.spilled() : predicates.spilled();
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
    if (words > 1) invariant(a.physical[r] % alignment_of(words) == 0, "registers of one value are not aligned");
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
