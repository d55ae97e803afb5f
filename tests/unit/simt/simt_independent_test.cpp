// SPDX-License-Identifier: MIT
// Independent lanes: random programs, structured or not, give every lane the path that it takes on its own, in whatever
// order yields, barriers and warp-level synchronisations run them. Lanes that wait for each other make progress.
#include "divergence_programs.h"
#include "heddle/simt/warp/divergence.h"

namespace heddle::simt {
namespace simt_independent_test {

using isa::opcode;

/// Every live lane is in exactly one path or frame, and no list has stale entries.
void expect_each_lane_once(const warp_state& w) {
  lane_mask seen = w.active;
  unsigned lanes = static_cast<unsigned>(__builtin_popcount(w.active));
  for (const lane_path& p : w.paths) {
    EXPECT_NE(p.mask, 0u);
    seen |= p.mask;
    lanes += static_cast<unsigned>(__builtin_popcount(p.mask));
    if (p.frame != no_frame) {
      EXPECT_EQ(p.mask & ~w.frames.at(p.frame).participants, 0u);
    }
  }
  for (const convergence_frame& f : w.frames) {
    EXPECT_EQ(f.arrived & ~f.participants, 0u);
    EXPECT_TRUE(f.participants == 0 || f.arrived != f.participants);
    seen |= f.arrived;
    lanes += static_cast<unsigned>(__builtin_popcount(f.arrived));
    if (f.participants != 0 && f.parent != no_frame) {
      EXPECT_EQ(f.participants & ~w.frames.at(f.parent).participants, 0u);
    }
  }
  EXPECT_EQ(seen, w.live);
  EXPECT_EQ(lanes, static_cast<unsigned>(__builtin_popcount(w.live)));
}

/// Runs a random program. Each of its NOPs acts, depending on its pc, as a barrier of the block, a synchronisation of
/// some lanes, a yield, or nothing.
class random_machine {
 public:
  random_machine(std::vector<isa::instruction> code, std::uint64_t seed, bool with_events)
      : code_(std::move(code)), seed_(seed), with_events_(with_events), visits_(code_.size()) {
    w.state.start(seed % 3 == 0 ? 0x0007ffffu : all_lanes, true);
  }

  void step() {
    auto& s = w.state;
    if (s.active == 0) {  // all lanes wait: the block's other warps have arrived
      bool any = false;
      for (const lane_path& p : s.paths) any |= p.wait == path_wait::barrier;
      ASSERT_TRUE(any) << "seed " << seed_;
      leave_barrier(s, 3);
      run_next(s);
      ASSERT_NE(s.active, 0u);
    }
    ASSERT_LT(s.pc, code_.size());
    const isa::instruction& i = code_[s.pc];
    const unsigned event = with_events_ && i.op == opcode::nop ? random_bits(seed_ * 31 + s.pc).word() % 6 : 5;
    if (event == 1 && !s.granted && s.active != s.live) {
      isa::operand members = isa::make_immediate(random_bits(seed_ + s.pc % 3).word() | s.active);
      const lane_mask named = named_lanes(members, s, s.active);
      EXPECT_EQ(named & ~s.live, 0u);
      if ((named & ~s.active) != 0) return wait_for_lanes(s, s.active, named);
    }
    s.granted = false;
    execute(i, event);
  }

  test_warp w;
  std::vector<std::vector<std::uint32_t>> got = std::vector<std::vector<std::uint32_t>>(warp_size);
  std::size_t diverged = 0;

 private:
  void execute(const isa::instruction& i, unsigned event) {
    auto& s = w.state;
    s.predicates[0] = 0;
    for (unsigned l = 0; l < warp_size; ++l) {
      if (!(s.active >> l & 1)) continue;
      got[l].push_back(s.pc);
      if (i.guard.reg != isa::pt && decides(seed_, l, s.pc, visits_[s.pc][l]++)) s.predicates[0] |= 1u << l;
    }
    const lane_mask mask = guarded(i, s);
    const std::uint32_t at = s.pc;
    if (i.op == opcode::bra) {
      diverged += branch(i, s, mask);
      if (i.target <= at && mask != 0) take_back_edge(s, with_events_ && at % 2 == 0, 1 + seed_ % 4);
    } else if (i.op == opcode::exit) {
      exit_lanes(s, mask);
    } else if (event == 0) {
      wait_at_barrier(s, s.active, 3);
    } else {
      advance(s);
      if (event == 2) yield_to_other_path(s);
    }
  }

  std::vector<isa::instruction> code_;
  std::uint64_t seed_;
  bool with_events_;
  std::vector<std::array<unsigned, warp_size>> visits_;
};

TEST(simt_independent, random_programs_give_each_lane_its_own_path) {
  std::size_t diverged = 0, tried = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    const auto code = seed % 2 == 0 ? program_builder(seed).unstructured() : program_builder(seed).structured();
    std::vector<std::vector<std::uint32_t>> expected(warp_size);
    bool finished = true;
    for (unsigned l = 0; l < warp_size && finished; ++l) expected[l] = alone(code, seed, l, finished);
    if (!finished) continue;
    ++tried;
    std::set<std::uint32_t> reconvergence_points;
    for (const auto& i : code) reconvergence_points.insert(i.reconverge);
    random_machine m(code, seed, seed % 8 >= 2);
    const lane_mask start = m.w.state.live;
    for (std::size_t steps = 0; m.w.state.live != 0; ++steps) {
      ASSERT_LT(steps, 700000u) << "seed " << seed;
      m.step();
      expect_each_lane_once(m.w.state);
      ASSERT_LE(m.w.state.frames.size(), reconvergence_points.size() + warp_size) << "seed " << seed;
      ASSERT_FALSE(HasFailure()) << "seed " << seed << " step " << steps;
    }
    for (unsigned l = 0; l < warp_size; ++l) {
      if (start >> l & 1) ASSERT_EQ(m.got[l], expected[l]) << "seed " << seed << " lane " << l;
      else ASSERT_TRUE(m.got[l].empty());
    }
    EXPECT_TRUE(m.w.state.paths.empty());
    EXPECT_TRUE(m.w.state.frames.empty());
    diverged += m.diverged;
  }
  EXPECT_GT(tried, 500u);
  EXPECT_GT(diverged, 5000u);
}

TEST(simt_independent, without_events_the_order_is_the_stack_s_or_shorter) {
  std::size_t compared = 0, same = 0;
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    const auto code = program_builder(seed).structured();
    std::array<std::vector<std::pair<std::uint32_t, lane_mask>>, 2> order;
    for (const bool independent : {false, true}) {
      test_warp w;
      w.state.start(all_lanes, independent);
      std::vector<std::array<unsigned, warp_size>> visits(code.size());
      auto& trace = order[independent];
      while (w.state.live != 0 && trace.size() < 20000) {
        auto& s = w.state;
        const auto& i = code[s.pc];
        trace.emplace_back(s.pc, s.active);
        s.predicates[0] = 0;
        for (unsigned l = 0; l < warp_size; ++l)
          if ((s.active >> l & 1) && i.guard.reg != isa::pt && decides(seed, l, s.pc, visits[s.pc][l]++))
            s.predicates[0] |= 1u << l;
        const lane_mask mask = guarded(i, s);
        if (i.op == opcode::bra) branch(i, s, mask);
        else if (i.op == opcode::exit) exit_lanes(s, mask);
        else advance(s);
      }
    }
    // Lanes of several frames that meet at one pc continue together, which a stack does not allow: fewer steps, never
    // more.
    ASSERT_LE(order[1].size(), order[0].size()) << "seed " << seed;
    same += order[0] == order[1];
    compared += order[0].size();
  }
  EXPECT_GT(compared, 10000u);
  EXPECT_GE(same, 180u);
}

/// A program whose conditions and effects are functions of the machine: each instruction returns which active lanes
/// branch.
struct step_of_program {
  opcode op;
  std::uint32_t target = isa::no_target, reconverge = isa::no_target;
  std::function<lane_mask(lane_mask active)> act = [](lane_mask) { return all_lanes; };
};

/// Number of steps until no lane lives; `limit` if that is not reached. Backward branches belong to loops that wait.
std::size_t run(const std::vector<step_of_program>& program, bool independent, std::size_t limit = 20000) {
  test_warp w;
  auto& s = w.state;
  s.start(all_lanes, independent);
  for (std::size_t steps = 0; steps < limit; ++steps) {
    const step_of_program& p = program.at(s.pc);
    const std::uint32_t at = s.pc;
    const lane_mask taken = p.act(s.active) & s.active;
    if (p.op == opcode::bra) {
      isa::instruction i;
      i.op = p.op;
      i.guard = {0, false};
      i.target = p.target;
      i.reconverge = p.reconverge;
      branch(i, s, taken);
      if (independent && p.target <= at && taken != 0) take_back_edge(s, true, 4);
    } else if (p.op == opcode::exit) {
      exit_lanes(s, s.active);
    } else {
      advance(s);
    }
    if (s.live == 0) return steps;
  }
  return limit;
}

TEST(simt_independent, lanes_of_a_warp_pass_on_a_lock) {
  for (const bool independent : {false, true}) {
    lane_mask owner = 0, failed = 0;
    unsigned count = 0;
    const std::vector<step_of_program> program{
        {opcode::atom, 0, 0,
         [&](lane_mask active) {
           const lane_mask winner = owner == 0 ? active & (0u - active) : 0;
           owner |= winner;
           failed = (failed & ~active) | (active & ~winner);
           return all_lanes;
         }},
        {opcode::bra, 0, 2, [&](lane_mask) { return failed; }},
        {opcode::st, 0, 0,
         [&](lane_mask active) {
           EXPECT_EQ(active, owner);  // no other lane is in the critical section
           ++count;
           return all_lanes;
         }},
        {opcode::st, 0, 0,
         [&](lane_mask) {
           owner = 0;
           return all_lanes;
         }},
        {opcode::exit},
    };
    const std::size_t steps = run(program, independent);
    if (independent) {
      EXPECT_LT(steps, 2000u);
      EXPECT_EQ(count, warp_size);
    } else {
      EXPECT_EQ(steps, 20000u);  // the first owner waits at the loop's end for lanes that wait for it
      EXPECT_EQ(count, 0u);
    }
  }
}

TEST(simt_independent, consumers_that_run_first_let_the_producer_run) {
  for (const bool independent : {false, true}) {
    bool flag = false;
    const std::vector<step_of_program> program{
        {opcode::bra, 3, 4, [](lane_mask) { return 1u; }},  // lane 0 produces
        {opcode::bra, 1, 2, [&](lane_mask) { return flag ? 0 : all_lanes; }},
        {opcode::bra, 4},
        {opcode::st, 0, 0,
         [&](lane_mask) {
           flag = true;
           return all_lanes;
         }},
        {opcode::exit},
    };
    const std::size_t steps = run(program, independent);
    if (independent) EXPECT_LT(steps, 100u);
    else EXPECT_EQ(steps, 20000u);
    EXPECT_EQ(flag, independent);
  }
}

TEST(simt_independent, lanes_that_synchronise_continue_converged) {
  test_warp w;
  auto& s = w.state;
  s.start(all_lanes, true);
  isa::instruction i;
  i.op = opcode::bra;
  i.target = 20;
  branch(i, s, 0x000000ffu);  // sides that do not reconverge
  EXPECT_EQ(s.pc, 1u);
  s.pc = 30;
  wait_for_lanes(s, s.active, 0x0000ffffu);
  EXPECT_EQ(s.pc, 20u);  // the other lanes have not arrived, so they run
  EXPECT_EQ(s.active, 0x000000ffu);
  s.pc = 30;
  wait_for_lanes(s, 0x0000000fu, 0x0000ffffu);  // some of the named lanes skip it
  EXPECT_EQ(s.pc, 31u);
  EXPECT_EQ(s.active, 0x000000f0u);
  exit_lanes(s, s.active);  // all named live lanes now wait
  EXPECT_EQ(s.pc, 30u);
  EXPECT_EQ(s.active, 0xffffff0fu);
  EXPECT_TRUE(s.granted);
}

TEST(simt_independent, lanes_at_a_barrier_wait_apart_and_leave_together) {
  test_warp w;
  auto& s = w.state;
  s.start(all_lanes, true);
  isa::instruction i;
  i.op = opcode::bra;
  i.guard = {0, false};
  i.target = 20;
  i.reconverge = 40;
  branch(i, s, 0x0000ffffu);
  wait_at_barrier(s, s.active, 0);  // at 1
  EXPECT_EQ(s.pc, 20u);
  s.pc = 39;
  advance(s);  // only arrived lanes can run: they continue alone
  EXPECT_EQ(s.pc, 40u);
  EXPECT_EQ(s.active, 0x0000ffffu);
  wait_at_barrier(s, s.active, 0);
  EXPECT_EQ(s.active, 0u);
  leave_barrier(s, 1);  // another barrier
  run_next(s);
  EXPECT_EQ(s.active, 0u);
  leave_barrier(s, 0);
  run_next(s);
  expect_each_lane_once(s);
  EXPECT_TRUE(s.pc == 41u || s.pc == 2u);
}

}  // namespace simt_independent_test
}  // namespace heddle::simt
