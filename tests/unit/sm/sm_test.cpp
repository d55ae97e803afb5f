// SPDX-License-Identifier: MIT
// One SM with hand-assembled programs: cycles computed by hand.
#include <gtest/gtest.h>

#include "heddle/config/config.h"
#include "heddle/simt/warp/context_image.h"
#include "heddle/sm/waiting_block.h"
#include "sm_harness.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace sm_test {

class sm : public fresh_simulation {};

// Cycles of `n` further instructions, the i-th of which is make(i): the difference of two runs cancels start and end
// costs.
template <class Make>
std::uint64_t further_cycles(gpu_config config, unsigned threads, unsigned n, Make&& make) {
  // All instructions hit the instruction cache, so that only issue is measured.
  config.instruction_cache.size_bytes = 1 << 20;
  config.instruction_cache.miss_latency_cycles = 0;
  config.instruction_cache.second_level_bytes = 0;
  sm_harness h(config);
  const auto run = [&](unsigned length) {
    std::vector<isa::instruction> code;
    for (unsigned i = 0; i < length; ++i) code.push_back(make(i));
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

std::uint64_t chain_cycles(const char* gpu, unsigned threads, unsigned n, bool dependent,
                           const char* scheduler = "gto") {
  return further_cycles(load_config(gpu, {std::string("sub_partition.scheduler=") + scheduler}), threads, n,
                        [&](unsigned i) {
                          const auto r = static_cast<std::uint8_t>(dependent ? 0 : i % 8 * 3);
                          return ffma(r, r, static_cast<std::uint8_t>(r + 1), static_cast<std::uint8_t>(r + 2));
                        });
}

TEST_F(sm, dependent_ffma_chain_issues_every_6_cycles_on_gtx1080) {
  EXPECT_EQ(chain_cycles("gtx1080", 32, 100, true), 600u);
}
// 6 warps on each of 4 schedulers: 24 of 64 warps, 37.5 % occupancy, hide the latency of 6.
TEST_F(sm, six_warps_per_scheduler_hide_the_latency) { EXPECT_EQ(chain_cycles("gtx1080", 24 * 32, 100, true), 600u); }
// Eight warps need eight slots per round; round robin serves each in turn.
TEST_F(sm, eight_warps_per_scheduler_share_the_slot) {
  EXPECT_EQ(chain_cycles("gtx1080", 32 * 32, 120, true, "lrr"), 8u * 120u);
}
// Greedy then oldest issues the six oldest at their full rate of one in six cycles, then the other two.
TEST_F(sm, oldest_first_starves_the_youngest) {
  const std::uint64_t cycles = chain_cycles("gtx1080", 32 * 32, 120, true, "gto");
  EXPECT_NEAR(static_cast<double>(cycles), 2.0 * 6 * 120, 2);
}
TEST_F(sm, dependent_ffma_chain_issues_every_4_cycles_on_v100) { EXPECT_EQ(chain_cycles("v100", 32, 100, true), 400u); }
TEST_F(sm, v100_takes_an_ffma_every_2_cycles_at_best) { EXPECT_EQ(chain_cycles("v100", 32, 128, false), 256u); }
TEST_F(sm, gtx1080_takes_an_ffma_every_cycle_at_best) { EXPECT_EQ(chain_cycles("gtx1080", 32, 128, false), 128u); }

// Four words in the only bank take four passes, for one lane as well as for 32 lanes with the same address: three
// further issues, or two if the passes of both half-warps are one issue.
TEST_F(sm, shared_memory_replays_are_counted_for_one_lane_too) {
  for (const unsigned threads : {1u, 2u, 32u}) {
    restart();
    sm_harness h(load_config("gtxtitan", {"shared_memory.banks=1", "shared_memory.bank_bytes=4"}));
    isa::instruction i;
    i.op = isa::opcode::ld;
    i.type = isa::dtype::b32;
    i.mem_space = isa::space::shared;
    i.dst = 4;
    i.dst_count = 4;
    i.src[0] = isa::make_reg(0);
    ASSERT_TRUE(h.run({i, i, exit_instruction()}, threads).finished) << h.fault;
    EXPECT_EQ(h.total(0).shared_replays, threads == 32 ? 4u : 6u) << threads;
    EXPECT_EQ(h.total(0).inst_executed, 3u);
  }
}

// All lanes load the word at address 0 of shared memory. Its value 0 is the next address, so each load takes exactly
// the latency.
TEST_F(sm, dependent_loads_from_shared_memory_issue_every_23_cycles_on_gtx1080) {
  const auto load = [](unsigned) {
    isa::instruction i = op(isa::opcode::ld, 0, isa::make_reg(0), isa::make_immediate(0));
    i.type = isa::dtype::u32;
    i.mem_space = isa::space::shared;
    return i;
  };
  EXPECT_EQ(further_cycles(load_config("gtx1080"), 32, 50, load), 23u * 50);
}

isa::instruction dadd(unsigned i) {
  isa::instruction d =
      op(isa::opcode::dadd, static_cast<std::uint8_t>(8 + i % 4 * 2), isa::make_reg(2, 2), isa::make_reg(2, 2));
  d.type = isa::dtype::f64;
  d.dst_count = 2;
  return d;
}

// A GTX 480 with lanes for whole warps and a latency of four cycles: only the rule that fp64 issues alone delays
// instructions.
class sm_fp64 : public fresh_simulation {
 protected:
  template <class Make>
  static std::uint64_t cycles(bool alone, unsigned threads, Make&& make) {
    restart();
    gpu_config config =
        load_config("gtx480", {"fp64.lanes=32", "fp64.shared=false", "fp64.latency_cycles=4", "fp32.lanes=32",
                               "fp32.latency_cycles=4", "sub_partition.issue_width=2", "sub_partition.dual_issue=any",
                               "sub_partition.instruction_buffer_entries=32"});
    EXPECT_TRUE(config.fp64.issues_alone);
    config.fp64.issues_alone = alone;
    return further_cycles(config, threads, 64, make);
  }
};

TEST_F(sm_fp64, takes_the_issue_cycle_of_the_other_sub_partition) {
  EXPECT_EQ(cycles(true, 64, dadd), 2u * 64);
  EXPECT_EQ(cycles(false, 64, dadd), 64u);
}

TEST_F(sm_fp64, is_never_dual_issued) {
  const auto mixed = [](unsigned i) {
    return i % 2 == 0 ? dadd(i / 2) : ffma(static_cast<std::uint8_t>(16 + i / 2 % 4), 1, 1, 1);
  };
  EXPECT_EQ(cycles(true, 32, mixed), 64u);
  EXPECT_EQ(cycles(false, 32, mixed), 32u);
}

TEST_F(sm, states_partition_active_warp_cycles) {
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

TEST_F(sm, barrier_holds_all_warps_of_a_block) {
  sm_harness h(load_config("gtx1080"));
  // All warps execute the chain, rather than warp 0 alone under a guard; the barrier adds its latency.
  std::vector<isa::instruction> code{ffma(0, 0, 1, 2), barrier_instruction(), ffma(0, 0, 1, 2), exit_instruction()};
  const grid_record& g = h.run(std::move(code), 1024, 4);
  EXPECT_TRUE(g.finished);
  EXPECT_EQ(h.sm.barrier_unit.completed, 4u);
  EXPECT_GT(h.total(0).warp_cycles[static_cast<unsigned>(warp_cycle::sync)], 0u);
}

// A block's barriers without the SM. Warps arrive with the lanes of `mask`; the lanes of `live` have not exited.
struct barriers {
  explicit barriers(const char* gpu) : unit("barrier_unit", load_config(gpu)) {}
  barrier_unit::outcome arrive(unsigned warp, isa::instruction bar, simt::lane_mask mask = simt::all_lanes,
                               simt::lane_mask live = simt::all_lanes) {
    simt::warp_state state;
    state.live = live;
    state.predicates[0] = 0x0f0f;
    std::string error;
    const barrier_unit::outcome o = unit.arrive(slot, warp, bar, state, mask, error);
    EXPECT_EQ(error, "");
    EXPECT_FALSE(o.deadlock);
    return o;
  }
  std::uint64_t released_by_exit(unsigned warp, simt::lane_mask lanes, bool last) {
    unit.exited(slot, warp, lanes, last);
    return unit.after_exit(slot).release;
  }
  barrier_unit unit;
  unsigned slot = 0;
};

isa::instruction counted_barrier(unsigned threads) {
  isa::instruction i = barrier_instruction();
  i.src[1] = isa::make_immediate(threads);
  i.psrc[0].reg = 0;
  return i;
}

TEST_F(sm, a_counted_barrier_waits_for_the_last_of_its_threads) {
  for (const char* gpu : {"gtx1080", "v100"}) {
    barriers b(gpu);
    b.unit.open(0, 5, 160);
    EXPECT_EQ(b.arrive(4, counted_barrier(96)).release, 0u);
    EXPECT_EQ(b.arrive(0, counted_barrier(96)).release, 0u);
    EXPECT_EQ(b.arrive(2, counted_barrier(96)).release, 0b10101u);
    EXPECT_EQ(b.unit.completed, 1u);
  }
}

TEST_F(sm, lanes_and_warps_that_exited_are_not_waited_for) {
  barriers b("v100");  // threads are counted individually
  const simt::lane_mask low = 0xffff;
  b.unit.open(0, 2, 64);
  EXPECT_EQ(b.arrive(0, counted_barrier(64), low, low).release, 0u) << "the other half exited before";
  EXPECT_EQ(b.arrive(1, counted_barrier(64)).release, 0b11u);
  b.unit.open(0, 2, 64);
  EXPECT_EQ(b.arrive(1, counted_barrier(64)).release, 0u);
  EXPECT_EQ(b.arrive(0, counted_barrier(64), low).release, 0u);
  EXPECT_EQ(b.released_by_exit(0, ~low, false), 0b11u) << "the other half exits afterwards";
  b.unit.open(0, 2, 64);
  EXPECT_EQ(b.arrive(1, barrier_instruction()).release, 0u);
  EXPECT_EQ(b.arrive(0, barrier_instruction(), low).release, 0u);
  EXPECT_EQ(b.released_by_exit(0, ~low, false), 0b11u) << "all that live have come";
  barriers by_warp("gtx1080");
  by_warp.unit.open(0, 2, 64);
  EXPECT_EQ(by_warp.arrive(0, barrier_instruction()).release, 0u);
  EXPECT_EQ(by_warp.released_by_exit(1, low, false), 0u);
  EXPECT_EQ(by_warp.released_by_exit(1, ~low, true), 0b1u);
}

// Two of three warps have arrived, eight lanes of each with a true predicate, when the block is swapped out; it is
// restored in another slot.
TEST_F(sm, barrier_state_is_restored_as_saved) {
  for (const char* gpu : {"gtx1080", "v100"}) {
    barriers b(gpu);
    b.unit.open(0, 4, 128);
    b.arrive(0, counted_barrier(96));
    b.arrive(3, counted_barrier(96));
    simt::context_image image;
    image.write();
    b.unit.exchange(0, image, true);
    b.unit.open(0, 0, 0);
    b.unit.open(1, 0, 0);
    image.read(std::vector<std::uint32_t>(image.words()));
    b.unit.exchange(1, image, true);
    b.slot = 1;
    EXPECT_EQ(b.unit.waiting(1), 0b1001u);
    EXPECT_EQ(b.unit.waits_at(1, 3), 0u);
    const barrier_unit::outcome o = b.arrive(1, counted_barrier(96));
    EXPECT_EQ(o.release, 0b1011u);
    EXPECT_EQ(o.count, 24u);
    EXPECT_EQ(o.threads, 96u);
    EXPECT_EQ(b.unit.waiting(1), 0u);
    EXPECT_EQ(b.arrive(0, barrier_instruction()).release, 0u);
    EXPECT_EQ(b.arrive(1, barrier_instruction()).release, 0u);
    EXPECT_EQ(b.arrive(2, barrier_instruction()).release, 0u);
    EXPECT_EQ(b.arrive(3, barrier_instruction()).release, 0b1111u) << "all four live";
  }
}

TEST_F(sm, a_barrier_that_can_never_complete_is_a_fault) {
  sm_harness h(load_config("gtx1080"));
  isa::instruction counted = barrier_instruction();
  counted.src[1] = isa::make_immediate(128);  // four warps expected, two present
  counted.line = 7;
  h.run({counted, exit_instruction()}, 64);
  EXPECT_NE(h.fault.find("deadlock at a barrier in kernel 'test', block (0,0,0)"), std::string::npos) << h.fault;
  EXPECT_NE(h.fault.find("warps 0 to 1 wait at barrier 0, test.ptx:7:0"), std::string::npos) << h.fault;
}

TEST_F(sm, trap_names_kernel_line_block_and_thread) {
  sm_harness h(load_config("v100"));
  isa::instruction t;
  t.op = isa::opcode::trap;
  t.line = 12;
  t.column = 3;
  h.run({t, exit_instruction()}, 32);
  EXPECT_EQ(h.fault, "test.ptx:12:3: trap in kernel 'test', block (0,0,0), thread (0,0,0)");
}

TEST(waiting_block, deadlocks_of_equal_blocks_are_reported_once) {
  isa::program program;
  program.file = "k.ptx";
  program.kernel = "k";
  const auto block = [&](unsigned number) {
    waiting_block b;
    b.number = number;
    b.index = {number, 0, 0};
    b.program = &program;
    b.for_ever = true;
    b.warps = {{0, {"waits at barrier 1"}}};
    return b;
  };
  const auto text_for = [](const std::string& first) {
    return "k.ptx: deadlock at a barrier in kernel 'k', block " + first +
           ": every warp that has not exited waits, and no barrier can complete\n  warp 0 waits at barrier 1";
  };
  EXPECT_EQ(text_for("(3,0,0)"), describe_deadlock({block(3)}));
  EXPECT_EQ(text_for("(0,0,0)") + "\n  and so in block (2,0,0)", describe_deadlock({block(2), block(0)}));
  EXPECT_EQ(text_for("(0,0,0)") + "\n  and so in blocks (1,0,0) to (2,0,0), (4,0,0)",
            describe_deadlock({block(4), block(0), block(1), block(2)}));
}

}  // namespace sm_test
}  // namespace heddle::test
