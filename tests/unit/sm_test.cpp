// SPDX-License-Identifier: MIT
// One SM with hand-assembled programs: cycles worked out by hand.
#include <gtest/gtest.h>

#include "config/config.h"
#include "sm_harness.h"

namespace heddle::test {
namespace {

// Cycles that `n` further FFMAs of a chain take: the difference of two runs cancels what start and end cost.
std::uint64_t chain_cycles(const char* gpu, unsigned threads, unsigned n, bool dependent, const char* scheduler = "gto") {
  gpu_config config = load_config(gpu, {std::string("sub_partition.scheduler=") + scheduler});
  // The chain must come from the instruction cache: only issue is measured here.
  config.instruction_cache.size_bytes = 1 << 20;
  config.instruction_cache.miss_latency_cycles = 0;
  config.instruction_cache.second_level_bytes = 0;
  sm_harness h(config);
  const auto run = [&](unsigned length) {
    std::vector<isa::instruction> code;
    for (unsigned i = 0; i < length; ++i) {
      const auto r = static_cast<std::uint8_t>(dependent ? 0 : i % 8 * 3);
      code.push_back(ffma(r, r, static_cast<std::uint8_t>(r + 1), static_cast<std::uint8_t>(r + 2)));
    }
    code.push_back(exit_instruction());
    const grid_record& g = h.run(std::move(code), threads);
    EXPECT_TRUE(g.finished);
    return g.end_cycle - g.start_cycle;
  };
  const std::uint64_t shorter = run(64);
  const std::uint64_t longer = run(64 + n);
  h.sm.check_invariants();
  EXPECT_TRUE(h.sm.idle());
  return longer - shorter;
}

TEST(sm, dependent_ffma_chain_issues_every_6_cycles_on_gtx1080) { EXPECT_EQ(chain_cycles("gtx1080", 32, 100, true), 600u); }
// 6 warps on each of 4 schedulers: 24 of 64 warps, 37.5 % occupancy, hide the latency of 6.
TEST(sm, six_warps_per_scheduler_hide_it) { EXPECT_EQ(chain_cycles("gtx1080", 24 * 32, 100, true), 600u); }
// Eight warps want eight slots per round; round robin gives each its turn.
TEST(sm, eight_warps_per_scheduler_share_the_slot) { EXPECT_EQ(chain_cycles("gtx1080", 32 * 32, 120, true, "lrr"), 8u * 120u); }
// Greedy then oldest serves the six oldest at their full rate of one in six cycles, then the other two.
TEST(sm, oldest_first_starves_the_youngest) {
  const std::uint64_t cycles = chain_cycles("gtx1080", 32 * 32, 120, true, "gto");
  EXPECT_NEAR(static_cast<double>(cycles), 2.0 * 6 * 120, 2);
}
TEST(sm, dependent_ffma_chain_issues_every_4_cycles_on_v100) { EXPECT_EQ(chain_cycles("v100", 32, 100, true), 400u); }
TEST(sm, v100_takes_an_ffma_every_2_cycles_at_best) { EXPECT_EQ(chain_cycles("v100", 32, 128, false), 256u); }
TEST(sm, gtx1080_takes_an_ffma_every_cycle_at_best) { EXPECT_EQ(chain_cycles("gtx1080", 32, 128, false), 128u); }

TEST(sm, states_partition_active_warp_cycles) {
  sm_harness h(load_config("gtx1080"));
  std::vector<isa::instruction> code;
  for (unsigned i = 0; i < 200; ++i) code.push_back(ffma(static_cast<std::uint8_t>(i % 5), 0, 1, 2));
  code.push_back(exit_instruction());
  h.run(std::move(code), 512, 40);
  const issue_totals t = h.total(0);
  std::uint64_t sum = 0;
  for (const auto c : t.warp_cycles) sum += c;
  EXPECT_EQ(sum, t.active_warp_cycles);
  EXPECT_EQ(t.inst_executed, 201u * 16 * 40);
  EXPECT_EQ(t.warp_cycles[static_cast<unsigned>(warp_cycle::selected)], t.inst_issued1 + t.inst_issued2);
  h.sm.check_invariants();
}

isa::instruction barrier_instruction() {
  isa::instruction i;
  i.op = isa::opcode::bar;
  i.src[0] = isa::make_immediate(0);
  return i;
}

TEST(sm, barrier_holds_all_warps_of_a_block) {
  sm_harness h(load_config("gtx1080"));
  // Only warp 0 is slow: a chain under a guard would be the same, here all run it, and the barrier costs its latency.
  std::vector<isa::instruction> code{ffma(0, 0, 1, 2), barrier_instruction(), ffma(0, 0, 1, 2), exit_instruction()};
  const grid_record& g = h.run(std::move(code), 1024, 4);
  EXPECT_TRUE(g.finished);
  EXPECT_EQ(h.sm.barrier_unit.completed, 4u);
  EXPECT_GT(h.total(0).warp_cycles[static_cast<unsigned>(warp_cycle::sync)], 0u);
}

TEST(sm, a_barrier_that_can_never_complete_is_a_fault) {
  sm_harness h(load_config("gtx1080"));
  isa::instruction counted = barrier_instruction();
  counted.src[1] = isa::make_immediate(128);   // four warps wanted, two there are
  counted.line = 7;
  h.run({counted, exit_instruction()}, 64);
  EXPECT_NE(h.fault.find("deadlock at a barrier in kernel 'test', block (0,0,0)"), std::string::npos) << h.fault;
  EXPECT_NE(h.fault.find("warps 0 to 1 wait at barrier 0, test.ptx:7:0"), std::string::npos) << h.fault;
}

TEST(sm, trap_names_kernel_line_block_and_thread) {
  sm_harness h(load_config("v100"));
  isa::instruction t;
  t.op = isa::opcode::trap;
  t.line = 12;
  t.column = 3;
  h.run({t, exit_instruction()}, 32);
  EXPECT_EQ(h.fault, "test.ptx:12:3: trap in kernel 'test', block (0,0,0), thread (0,0,0)");
}

}  // namespace
}  // namespace heddle::test
