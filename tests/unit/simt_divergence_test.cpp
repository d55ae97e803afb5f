// SPDX-License-Identifier: MIT
// The reconvergence stack: random structured programs (nested ifs, loops, break, continue, early exit) run by the stack
// machine give every lane the path that it takes alone, reconverge, and keep the stack short.
#include <set>

#include "simt_fixture.h"

namespace heddle::simt {
namespace {

using isa::opcode;

/// A small language: every instruction adds its index to the lane's trace; branches ask a hash of lane, place and visit.
class program_builder {
 public:
  explicit program_builder(std::uint64_t seed) : random_(seed) {}

  std::vector<isa::instruction> build() {
    block(0);
    emit(opcode::exit);
    post_dominators();
    return code_;
  }

 private:
  std::uint32_t here() const { return static_cast<std::uint32_t>(code_.size()); }
  std::uint32_t emit(opcode op) {
    isa::instruction i;
    i.op = op;
    code_.push_back(i);
    return here() - 1;
  }
  /// A conditional branch to be given its target later; its guard is P0, which the machine sets before each instruction.
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
        case 0: case 1: if_else(depth); break;
        case 2: case 3: loop(depth); break;
        case 4: if (!loops_.empty()) leave(loops_.back().breaks); break;
        case 5: if (!loops_.empty()) leave(loops_.back().continues); break;
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
  /// A branch around an unconditional exit: its sides meet only if the exit is not taken.
  void early_return() {
    const std::uint32_t around = conditional();
    emit(opcode::nop);
    emit(opcode::exit);
    code_[around].target = here();
  }

  std::vector<std::uint32_t> successors(std::uint32_t k) const {
    const auto& i = code_[k];
    const bool guarded = i.guard.reg != isa::pt;
    if (i.op == opcode::bra) return guarded ? std::vector<std::uint32_t>{i.target, k + 1} : std::vector<std::uint32_t>{i.target};
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
          for (const std::uint32_t d : both) if (after[s].count(d)) common.insert(d);
          both = common;
        }
        both.insert(k);
        if (both != after[k]) after[k] = both, changed = true;
      }
    }
    for (std::uint32_t k = 0; k < n; ++k) {
      if (code_[k].op != opcode::bra || code_[k].guard.reg == isa::pt) continue;
      for (const std::uint32_t d : after[k]) {   // the immediate one has all the others after it
        if (d != k && after[d].size() + 1 == after[k].size()) code_[k].reconverge = d;
      }
    }
  }

  random_bits random_;
  std::vector<isa::instruction> code_;
  std::vector<loop_scope> loops_;
};

/// Whether a lane's condition holds at a place for the n-th time; loops end because later visits tend to false.
bool decides(std::uint64_t seed, unsigned lane, std::uint32_t pc, unsigned visit) {
  random_bits r(seed * 1000003 + lane * 8191 + pc * 131 + visit);
  r.next();
  return r.word() % 8 < (visit > 6 ? 0u : 4u);
}

std::vector<std::uint32_t> alone(const std::vector<isa::instruction>& code, std::uint64_t seed, unsigned lane, bool& finished) {
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
    if (i.op == opcode::exit && holds) return trace;
    pc = i.op == opcode::bra && holds ? i.target : pc + 1;
  }
}

TEST(simt_divergence, random_programs_give_each_lane_its_own_path) {
  std::size_t diverged = 0, deepest = 0, tried = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    const auto code = program_builder(seed).build();
    std::vector<std::vector<std::uint32_t>> expected(warp_size), got(warp_size);
    bool finished = true;
    for (unsigned l = 0; l < warp_size && finished; ++l) expected[l] = alone(code, seed, l, finished);
    if (!finished) continue;
    ++tried;
    std::set<std::uint32_t> meeting_points;
    for (const auto& i : code) meeting_points.insert(i.reconverge);
    test_warp w;
    const lane_mask start = seed % 3 == 0 ? 0x0007ffffu : all_lanes;
    w.state.active = w.state.live = start;
    std::vector<std::array<unsigned, warp_size>> visits(code.size());
    for (std::size_t steps = 0; w.state.live != 0; ++steps) {
      ASSERT_LT(steps, 700000u) << "seed " << seed;
      auto& s = w.state;
      ASSERT_LT(s.pc, code.size()) << "seed " << seed;
      ASSERT_NE(s.active, 0u) << "seed " << seed;
      ASSERT_EQ(s.active & ~s.live, 0u) << "seed " << seed;
      const auto& i = code[s.pc];
      s.predicates[0] = 0;
      for (unsigned l = 0; l < warp_size; ++l) {
        if (!(s.active >> l & 1)) continue;
        got[l].push_back(s.pc);
        if (i.guard.reg != isa::pt && decides(seed, l, s.pc, visits[s.pc][l]++)) s.predicates[0] |= 1u << l;
      }
      const lane_mask mask = guarded(i, s);
      if (i.op == opcode::bra) {
        diverged += branch(i, s, mask);
      } else if (i.op == opcode::exit) {
        exit_lanes(s, mask);
      } else {
        advance(s);
      }
      deepest = std::max(deepest, s.stack.size());
      ASSERT_LE(s.stack.size(), 2 * meeting_points.size() + warp_size) << "seed " << seed;
      // Deferred lanes wait in exactly one runnable entry; entries of waiting lanes lie below.
      for (const stack_entry& e : s.stack) ASSERT_NE(e.mask & s.live, 0u) << "seed " << seed;
    }
    for (unsigned l = 0; l < warp_size; ++l) {
      if (start >> l & 1) ASSERT_EQ(got[l], expected[l]) << "seed " << seed << " lane " << l;
      else ASSERT_TRUE(got[l].empty());
    }
    EXPECT_TRUE(w.state.stack.empty());
  }
  EXPECT_GT(tried, 500u);
  EXPECT_GT(diverged, 5000u);
  EXPECT_GT(deepest, 3u);
}

isa::instruction jump(std::uint32_t target, std::uint32_t reconverge) {
  isa::instruction i;
  i.op = opcode::bra;
  i.target = target;
  i.reconverge = reconverge;
  return i;
}

TEST(simt_divergence, sides_meet_again_with_all_lanes) {
  test_warp w;
  auto& s = w.state;
  s.pc = 10;
  EXPECT_TRUE(branch(jump(20, 30), s, 0x0000ffffu));
  EXPECT_EQ(s.pc, 11u);                       // those that fall through go first
  EXPECT_EQ(s.active, 0xffff0000u);
  s.pc = 29;
  advance(s);
  EXPECT_EQ(s.pc, 20u);
  EXPECT_EQ(s.active, 0x0000ffffu);
  s.pc = 29;
  advance(s);
  EXPECT_EQ(s.pc, 30u);
  EXPECT_EQ(s.active, all_lanes);
  EXPECT_TRUE(s.stack.empty());
  EXPECT_EQ(s.reconverge, isa::no_target);
}

TEST(simt_divergence, agreement_pushes_nothing) {
  test_warp w;
  auto& s = w.state;
  EXPECT_FALSE(branch(jump(20, 30), s, all_lanes));
  EXPECT_EQ(s.pc, 20u);
  EXPECT_FALSE(branch(jump(5, 30), s, 0));
  EXPECT_EQ(s.pc, 21u);
  EXPECT_TRUE(s.stack.empty());
}

TEST(simt_divergence, a_loop_that_lanes_leave_one_by_one_keeps_one_entry) {
  test_warp w;
  auto& s = w.state;
  for (unsigned l = 0; l < 31; ++l) {          // 5: loop body; 6: @P bra 5, lanes leave at 7
    s.pc = 6;
    EXPECT_TRUE(branch(jump(5, 7), s, s.active & ~(1u << l)));
    EXPECT_EQ(s.pc, 5u);
    EXPECT_EQ(s.stack.size(), 1u);
  }
  s.pc = 6;
  EXPECT_FALSE(branch(jump(5, 7), s, 0));
  EXPECT_EQ(s.pc, 7u);
  EXPECT_EQ(s.active, all_lanes);
  EXPECT_TRUE(s.stack.empty());
}

TEST(simt_divergence, sides_that_never_meet_wait_in_one_entry_per_place) {
  test_warp w;
  auto& s = w.state;
  for (unsigned l = 0; l < 31; ++l) {          // an endless loop that lanes leave to exit at 90
    s.pc = 6;
    EXPECT_TRUE(branch(jump(90, isa::no_target), s, 1u << l));
    EXPECT_EQ(s.stack.size(), 1u);
  }
  exit_lanes(s, 1u << 31);
  EXPECT_EQ(s.pc, 90u);
  EXPECT_EQ(s.active, 0x7fffffffu);
  exit_lanes(s, 0x7fffffffu);
  EXPECT_EQ(s.live, 0u);
  EXPECT_EQ(s.active, 0u);
  EXPECT_TRUE(s.stack.empty());
}

TEST(simt_divergence, lanes_that_exit_leave_every_entry) {
  test_warp w;
  auto& s = w.state;
  s.pc = 10;
  branch(jump(20, 30), s, 0x0000ffffu);
  exit_lanes(s, 0xffff0000u);                  // the whole side ends: the other one goes on, then all that are left
  EXPECT_EQ(s.pc, 20u);
  EXPECT_EQ(s.active, 0x0000ffffu);
  exit_lanes(s, 0x00ff0000u | 0x000000ffu);
  EXPECT_EQ(s.pc, 21u);
  s.pc = 29;
  advance(s);
  EXPECT_EQ(s.active, 0x0000ff00u);
  EXPECT_EQ(s.pc, 30u);
  exit_lanes(s, all_lanes);
  EXPECT_EQ(s.live, 0u);
}

}  // namespace
}  // namespace heddle::simt
