// SPDX-License-Identifier: MIT
// The reconvergence stack: random programs (nested ifs, loops, break, continue, early exit; unstructured ones) executed
// with the stack give every lane the path that it takes on its own, reconverge, and keep the stack small.
#include <set>

#include "divergence_programs.h"

namespace heddle::simt {
namespace simt_divergence_test {

using isa::opcode;

TEST(simt_divergence, random_programs_give_each_lane_its_own_path) {
  std::size_t diverged = 0, deepest = 0, tried = 0;
  for (std::uint64_t seed = 1; seed <= 800; ++seed) {
    const auto code = seed % 4 == 0 ? program_builder(seed).unstructured() : program_builder(seed).structured();
    std::vector<std::vector<std::uint32_t>> expected(warp_size), got(warp_size);
    bool finished = true;
    for (unsigned l = 0; l < warp_size && finished; ++l) expected[l] = alone(code, seed, l, finished);
    if (!finished) continue;
    ++tried;
    std::set<std::uint32_t> reconvergence_points;
    for (const auto& i : code) reconvergence_points.insert(i.reconverge);
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
      ASSERT_LE(s.stack.size(), 2 * reconvergence_points.size() + warp_size) << "seed " << seed;
      // Deferred lanes wait in exactly one runnable entry; entries of waiting lanes are below.
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
  i.guard = {0, false};
  i.target = target;
  i.reconverge = reconverge;
  return i;
}

TEST(simt_divergence, paths_reconverge_with_all_lanes) {
  test_warp w;
  auto& s = w.state;
  s.pc = 10;
  EXPECT_TRUE(branch(jump(20, 30), s, 0x0000ffffu));
  EXPECT_EQ(s.pc, 11u);  // the lanes that fall through run first
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

TEST(simt_divergence, a_uniform_branch_pushes_nothing) {
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
  for (unsigned l = 0; l < 31; ++l) {  // 5: loop body; 6: @P bra 5, lanes leave at 7
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

TEST(simt_divergence, paths_that_never_reconverge_have_one_entry_per_address) {
  test_warp w;
  auto& s = w.state;
  for (unsigned l = 0; l < 31; ++l) {  // an endless loop that lanes leave to exit at 90
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
  exit_lanes(s, 0xffff0000u);  // all lanes of one side exit: the other side continues, then all remaining lanes
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

}  // namespace simt_divergence_test
}  // namespace heddle::simt
