// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <vector>

#include "simt_fixture.h"

namespace heddle::simt {

/// Generates random programs: every instruction adds its index to the lane's trace; branch conditions are a hash of
/// lane, pc and visit.
class program_builder {
 public:
  explicit program_builder(std::uint64_t seed) : random_(seed) {}

  /// Nested ifs and loops with break, continue and early exits.
  std::vector<isa::instruction> structured() {
    block(0);
    return finished();
  }
  std::vector<isa::instruction> unstructured() {
    tangle();
    return finished();
  }

 private:
  using opcode = isa::opcode;
  std::vector<isa::instruction> finished() {
    emit(opcode::exit);
    post_dominators();
    return code_;
  }
  [[nodiscard]] std::uint32_t here() const { return static_cast<std::uint32_t>(code_.size()); }
  std::uint32_t emit(opcode op) {
    isa::instruction i;
    i.op = op;
    code_.push_back(i);
    return here() - 1;
  }
  /// A conditional branch whose target is set later; its guard is P0, which the machine sets before each instruction.
  std::uint32_t conditional() {
    const std::uint32_t at = emit(opcode::bra);
    code_[at].guard = {0, false};
    return at;
  }

  void block(int depth) {
    const unsigned statements = 1 + random_.word() % 3;
    for (unsigned s = 0; s < statements; ++s) {
      emit(opcode::nop);
      if (depth > 4 || code_.size() > 150) continue;
      switch (random_.word() % 8) {
        case 0:
        case 1: if_else(depth); break;
        case 2:
        case 3: loop(depth); break;
        case 4:
          if (!loops_.empty()) leave(loops_.back().breaks);
          break;
        case 5:
          if (!loops_.empty()) leave(loops_.back().continues);
          break;
        case 6: code_[emit(opcode::exit)].guard = {0, false}; break;
        default: early_return(); break;
      }
    }
  }
  void if_else(int depth) {
    const std::uint32_t skip = conditional();
    block(depth + 1);
    if (random_.word() & 1) {
      const std::uint32_t over = emit(opcode::bra);
      code_[skip].target = here();
      block(depth + 1);
      code_[over].target = here();
    } else {
      code_[skip].target = here();
    }
  }
  struct loop_scope {
    std::vector<std::uint32_t> breaks, continues;
  };
  void loop(int depth) {
    const std::uint32_t head = here();
    loops_.emplace_back();
    block(depth + 1);
    for (const std::uint32_t at : loops_.back().continues) code_[at].target = here();
    code_[conditional()].target = head;
    const auto breaks = loops_.back().breaks;
    loops_.pop_back();
    for (const std::uint32_t at : breaks) code_[at].target = here();
    emit(opcode::nop);
  }
  void leave(std::vector<std::uint32_t>& list) { list.push_back(conditional()); }
  /// A branch around an unconditional exit: its sides reconverge only if the exit is not taken.
  void early_return() {
    const std::uint32_t around = conditional();
    emit(opcode::nop);
    emit(opcode::exit);
    code_[around].target = here();
  }

  /// Branches from anywhere to anywhere; backward ones are conditional.
  void tangle() {
    const unsigned count = 8 + random_.word() % 40;
    std::vector<std::uint32_t> branches;
    for (unsigned k = 0; k < count; ++k) {
      switch (random_.word() % 8) {
        case 0:
        case 1:
        case 2: branches.push_back(conditional()); break;
        case 3:
          if (random_.word() % 4 == 0) branches.push_back(emit(opcode::bra));
          break;
        case 4:
          if (random_.word() % 4 == 0) code_[emit(opcode::exit)].guard = {0, false};
          break;
        default: emit(opcode::nop); break;
      }
    }
    emit(opcode::nop);
    for (const std::uint32_t at : branches) {
      const bool guarded = code_[at].guard.reg != isa::pt;
      code_[at].target = guarded ? random_.word() % here() : at + 1 + random_.word() % (here() - at - 1);
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> successors(std::uint32_t k) const {
    const auto& i = code_[k];
    const bool guarded = i.guard.reg != isa::pt;
    if (i.op == opcode::bra)
      return guarded ? std::vector<std::uint32_t>{i.target, k + 1} : std::vector<std::uint32_t>{i.target};
    if (i.op == opcode::exit && !guarded) return {};
    return {k + 1};
  }
  /// Immediate post-dominators by iterating sets: slow and simple.
  void post_dominators() {
    const std::uint32_t n = here();
    std::vector<std::set<std::uint32_t>> after(n);
    std::set<std::uint32_t> everything;
    for (std::uint32_t k = 0; k < n; ++k) everything.insert(k);
    for (auto& s : after) s = everything;
    for (bool changed = true; changed;) {
      changed = false;
      for (std::uint32_t k = n; k-- > 0;) {
        std::set<std::uint32_t> both = everything;
        const auto next = successors(k);
        if (next.empty()) both.clear();
        for (const std::uint32_t s : next) {
          std::set<std::uint32_t> common;
          for (const std::uint32_t d : both)
            if (after[s].count(d)) common.insert(d);
          both = common;
        }
        both.insert(k);
        if (both != after[k]) after[k] = both, changed = true;
      }
    }
    for (std::uint32_t k = 0; k < n; ++k) {
      if (code_[k].op != opcode::bra || code_[k].guard.reg == isa::pt) continue;
      for (const std::uint32_t d : after[k]) {  // all other post-dominators come after the immediate one
        if (d != k && after[d].size() + 1 == after[k].size()) code_[k].reconverge = d;
      }
    }
  }

  random_bits random_;
  std::vector<isa::instruction> code_;
  std::vector<loop_scope> loops_;
};

/// Value of a lane's condition at a pc on the n-th visit; loops end because later visits tend to false.
inline bool decides(std::uint64_t seed, unsigned lane, std::uint32_t pc, unsigned visit) {
  random_bits r(seed * 1000003 + lane * 8191 + pc * 131 + visit);
  r.next();
  return r.word() % 8 < (visit > 6 ? 0u : 4u);
}

/// The instructions that a lane executes on its own; `finished` is false if it never ends.
inline std::vector<std::uint32_t> alone(const std::vector<isa::instruction>& code, std::uint64_t seed, unsigned lane,
                                        bool& finished) {
  std::vector<std::uint32_t> trace;
  std::vector<unsigned> visits(code.size());
  std::uint32_t pc = 0;
  finished = true;
  while (true) {
    trace.push_back(pc);
    if (trace.size() > 20000) {
      finished = false;
      return trace;
    }
    const auto& i = code[pc];
    const bool holds = i.guard.reg == isa::pt || decides(seed, lane, pc, visits[pc]++);
    if (i.op == isa::opcode::exit && holds) return trace;
    pc = i.op == isa::opcode::bra && holds ? i.target : pc + 1;
  }
}

}  // namespace heddle::simt
