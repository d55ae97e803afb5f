// SPDX-License-Identifier: MIT
// What a register file with few banks and ports costs, what an operand that is read late delays, and what a small
// instruction buffer costs: cycles computed by hand.
#include <gtest/gtest.h>

#include "dependence_bench.h"

namespace heddle::test {
namespace register_file_test {

using namespace dependence_bench;

// The bank is the register number modulo 4.
isa::instruction all_in_one_bank(unsigned k) {
  const auto first = static_cast<std::uint8_t>(16 + k % 2);
  return ffma(static_cast<std::uint8_t>(k % 16), first, static_cast<std::uint8_t>(first + 4),
              static_cast<std::uint8_t>(first + 8));
}
isa::instruction same_operands(unsigned k) { return ffma(static_cast<std::uint8_t>(k % 16), 16, 20, 24); }
isa::instruction two_of_three(unsigned k) {
  return ffma(static_cast<std::uint8_t>(k % 16), 16, 20, static_cast<std::uint8_t>(24 + k % 2 * 4));
}

// Each compare needs the predicate of the previous one.
TEST_F(register_file, predicates_guard_later_than_they_are_computed_with) {
  const auto operand = [](unsigned) { return compare(true); };
  const auto guard = [](unsigned) { return under_p1(compare(false)); };
  for (const char* dependence : {"sub_partition.dependence=software", "sub_partition.dependence=scoreboard"}) {
    EXPECT_EQ(cycles_of(operand, {dependence}, 32, "rtx2060"), 4u * 120) << dependence;
    EXPECT_EQ(cycles_of(guard, {dependence}, 32, "rtx2060"), 12u * 120) << dependence;
    for (const unsigned longer :
         {0u, 8u, 11u, 12u, 15u})  // from 12 on the sum exceeds a stall count, so a counter guards the predicate
      EXPECT_EQ(
          cycles_of(guard, {dependence, "sub_partition.guard_latency_cycles=" + std::to_string(longer)}, 32, "rtx2060"),
          (4u + longer) * 120)
          << dependence << longer;
    // 8 cycles for a compare of doubles, 9 more for the guard.
    const auto guard_of_doubles = [](unsigned) {
      isa::instruction i = under_p1(compare(false));
      i.op = isa::opcode::dsetp;
      i.type = isa::dtype::f64;
      i.src[0] = isa::make_reg(4, 2);
      i.src[1] = isa::make_reg(6, 2);
      return i;
    };
    EXPECT_EQ(cycles_of(guard_of_doubles, {dependence}, 32, "a100"), 17u * 120) << dependence;
    // The result of a unit that the SM has once comes through a queue, for guards and other uses at the same time.
    EXPECT_EQ(cycles_of(guard_of_doubles, {dependence}, 32, "rtx2060"),
              cycles_of(guard_of_doubles, {dependence, "sub_partition.guard_latency_cycles=0"}, 32, "rtx2060"));
  }
}

TEST_F(register_file, a_fixed_window_stops_issue_for_each_conflict) {
  EXPECT_EQ(cycles_of(all_in_one_bank, {}), 3u * 120);  // three reads from one bank: two more cycles
}
// Huerta et al. 2025, section 5.3: two banks with a read port of 32 lanes' words each. A multiplication with both
// sources in one bank is followed by one bubble, an FFMA with all three in one bank by two.
TEST_F(register_file, with_one_port_a_bank_costs_what_huerta_found) {
  const auto multiply = [](unsigned apart) {
    return [apart](unsigned k) {
      const unsigned first = 16 + k % 2 * 4;
      return op(isa::opcode::fmul, static_cast<std::uint8_t>(k % 16), isa::make_reg(static_cast<std::uint8_t>(first)),
                isa::make_reg(static_cast<std::uint8_t>(first + apart)));
    };
  };
  const auto three = [](unsigned second) {
    return [second](unsigned k) {
      const unsigned first = 16 + k % 2 * 8;
      return ffma(static_cast<std::uint8_t>(k % 16), static_cast<std::uint8_t>(first),
                  static_cast<std::uint8_t>(first + second), static_cast<std::uint8_t>(first + 4));
    };
  };
  const std::vector<std::string> narrow = {"sub_partition.register_bank_bytes=4"};
  EXPECT_EQ(cycles_of(multiply(1), narrow, 32, "rtx3080"), 120u);
  EXPECT_EQ(cycles_of(multiply(2), narrow, 32, "rtx3080"), 2u * 120);
  EXPECT_EQ(cycles_of(three(2), narrow, 32, "rtx3080"), 3u * 120);
  EXPECT_EQ(cycles_of(three(1), narrow, 32, "rtx3080"), 2u * 120);
  // With the shipped file, whose difference docs/model/gpus.md explains.
  EXPECT_EQ(cycles_of(multiply(2), {}, 32, "rtx3080"), 120u);
  EXPECT_EQ(cycles_of(three(2), {}, 32, "rtx3080"), 2u * 120);
}
TEST_F(register_file, a_collector_does_not_stop_issue) {
  EXPECT_EQ(cycles_of(all_in_one_bank, {"sub_partition.operand_read=collector", "sub_partition.dependence=scoreboard"}),
            120u);
}
TEST_F(register_file, the_reuse_cache_saves_reads_of_the_same_operand) {
  EXPECT_EQ(cycles_of(same_operands, {}), 120u);
  EXPECT_EQ(cycles_of(two_of_three, {}), 120u);  // one read remains
  EXPECT_EQ(cycles_of(same_operands, {"sub_partition.reuse_cache=false"}), 3u * 120);
}
// While the operands of one warp are read, the other three warps of its scheduler may not issue: one of three cycles
// issues, and in the other two all ready warps are in dispatch_stall.
TEST_F(register_file, a_fixed_window_is_dispatch_stall_for_those_that_are_ready) {
  const auto stalled = [](const std::string& window) {
    restart();
    sm_harness h(load_config("gtx1080", {"sub_partition.operand_read=" + window, "sub_partition.reuse_cache=false",
                                         "sub_partition.dependence=scoreboard", "sub_partition.scheduler=lrr"}));
    std::vector<isa::instruction> code;
    for (unsigned k = 0; k < 64; ++k) code.push_back(all_in_one_bank(k % 12));
    code.push_back(exit_instruction());
    h.run(std::move(code), 32 * 16, 1, 64);
    h.sm.check_invariants();
    const issue_totals t = h.total(0);
    EXPECT_EQ(t.warp_cycles[static_cast<unsigned>(warp_cycle::other)],
              t.warp_stalls[static_cast<unsigned>(warp_stall::dispatch_stall)] +
                  t.warp_stalls[static_cast<unsigned>(warp_stall::drain)]);
    return static_cast<double>(t.warp_stalls[static_cast<unsigned>(warp_stall::dispatch_stall)]) /
           static_cast<double>(t.active_warp_cycles);
  };
  EXPECT_GT(stalled("window"), 0.35);
  EXPECT_EQ(stalled("collector"), 0.0);
}

// Two warps of one scheduler alternate, so neither finds its own operands in the reuse cache.
TEST_F(register_file, the_reuse_cache_holds_the_last_warp_only) {
  EXPECT_EQ(cycles_of(same_operands, {"sub_partition.scheduler=lrr"}, 32 * 8), 2u * 3 * 120);
}
// A conflict delays a dependent instruction with either operand read and either dependence scheme.
TEST_F(register_file, a_conflict_delays_the_result) {
  const auto chain = [](unsigned) { return ffma(16, 16, 20, 17); };
  for (const char* read : {"window", "collector"})
    for (const char* dependence : {"software", "scoreboard"}) {
      const std::vector<std::string> settings = {std::string("sub_partition.operand_read=") + read,
                                                 "sub_partition.reuse_cache=false",
                                                 std::string("sub_partition.dependence=") + dependence};
      EXPECT_EQ(cycles_of(chain, settings), 7u * 120) << read << ' ' << dependence;
    }
}

// A shared load and an FFMA that overwrites its address, 60 times. The FFMA issues after the load has read its address,
// and the next load, which uses the FFMA's result as address, four cycles later.
TEST_F(register_file, overwriting_an_address_waits_until_it_is_read) {
  const auto turn = [](unsigned k) {
    isa::instruction i = op(isa::opcode::ld, isa::rz, isa::make_reg(2));  // the word is not used
    i.type = isa::dtype::u32;
    i.mem_space = isa::space::shared;
    return k % 2 == 0 ? i : ffma(2, 1, 1, 1);  // R1 is zero
  };
  const std::vector<std::string> v100 = {"ldst.shared_load_read_latency_cycles=11", "fp32.latency_cycles=4",
                                         "sub_partition.dual_issue=none"};
  EXPECT_EQ(cycles_of(turn, v100), (11u + 4) * 60);
  std::vector<std::string> slower = v100;
  slower[0] = "ldst.shared_load_read_latency_cycles=20";
  EXPECT_EQ(cycles_of(turn, slower), (20u + 4) * 60);
  slower.push_back("ldst.shared_load_read_latency_cycles=11");
  for (const unsigned longer : {1, 12, 50, 240}) {  // and the load waits longer for its address
    slower[0] = "ldst.operand_latency_cycles=" + std::to_string(longer);
    EXPECT_EQ(cycles_of(turn, slower), (11u + 4 + longer) * 60) << longer;
  }
}

// sub-partition.
TEST_F(register_file, sub_partitions_share_a_unit_in_turn) {
  const std::string latency = "fp64.latency_cycles=8";  // below 16, so that stall counts cover it
  EXPECT_EQ(cycles_of(dadd, {latency}), 8u * 120);
  EXPECT_EQ(cycles_of(dadd, {latency}, 4 * 32), 4u * 8 * 120);
  EXPECT_EQ(cycles_of(dadd, {latency, "fp64.shared=false"}), 32u * 120);
}
// Warps of two sub-partitions: if double precision issues alone, each instruction also takes an issue cycle of the
// other sub-partition.
TEST_F(register_file, an_instruction_that_issues_alone_takes_the_other_schedulers_cycle) {
  const std::vector<std::string> fast = {"fp64.shared=false", "fp64.lanes=32", "fp64.latency_cycles=8"};
  EXPECT_EQ(cycles_of(dadd, fast, 64), 120u);
  std::vector<std::string> alone = fast;
  alone.push_back("fp64.issues_alone=true");
  EXPECT_EQ(cycles_of(dadd, alone, 64), 2u * 120);
  EXPECT_EQ(cycles_of(dadd, alone), 120u);
}

TEST_F(register_file, both_ways_of_dependence_issue_a_chain_alike) {
  const auto chain = [](unsigned) { return ffma(0, 0, 1, 2); };
  EXPECT_EQ(cycles_of(chain, {"sub_partition.dependence=software"}), 6u * 120);
  EXPECT_EQ(cycles_of(chain, {"sub_partition.dependence=scoreboard"}), 6u * 120);
}

// Chains of DFMA with an SM unit that accepts one every 8 cycles: with a scoreboard, and with up to six chains with
// counters, one iteration of all chains takes the latency. With eight chains and six counters, the next DFMA of a chain
// that shares a counter waits for the neighbour's result, which comes 8 cycles later.
TEST_F(register_file, more_chains_than_counters_wait_for_a_neighbour) {
  const auto chains = [](unsigned count) {
    return [count](unsigned k) { return dfma(2 * (k % count), 2 * (k % count)); };
  };
  const auto cycles = [&](unsigned count, const std::string& dependence) {
    return cycles_of(chains(count), {"fp64.fma_latency_cycles=96", "sub_partition.dependence=" + dependence});
  };
  EXPECT_EQ(cycles(1, "software"), 96u * 120);
  EXPECT_EQ(cycles(2, "software"), 96u * 120 / 2);
  EXPECT_EQ(cycles(8, "scoreboard"), 96u * 120 / 8);
  EXPECT_EQ(cycles(8, "software"), (96u + 8) * 120 / 8);
}

// An entry of the buffer is refilled a fetch latency after it was emptied: with too few entries, a single warp issues
// only that many instructions in that time.
TEST_F(register_file, a_small_instruction_buffer_costs_fetches) {
  const auto independent = [](unsigned k) { return ffma(static_cast<std::uint8_t>(16 + k % 16), 1, 2, 3); };
  const auto cycles = [&](unsigned entries, unsigned latency, unsigned threads = 32) {
    return cycles_of(independent,
                     {"sub_partition.issue_width=1", "sub_partition.dual_issue=none",
                      "sub_partition.instruction_buffer_entries=" + std::to_string(entries),
                      "sub_partition.fetch_latency_cycles=" + std::to_string(latency)},
                     threads);
  };
  EXPECT_EQ(cycles(2, 2), 120u);
  EXPECT_EQ(cycles(1, 2), 2u * 120);
  EXPECT_EQ(cycles(1, 5), 5u * 120);
  EXPECT_EQ(cycles(2, 5), 5u * 120 / 2);
  EXPECT_EQ(cycles(4, 5), 5u * 120 / 4);
  EXPECT_EQ(cycles(5, 5), 120u);
  EXPECT_EQ(cycles(64, 5), 120u);
  // Five warps of a scheduler hide each other's stalls.
  EXPECT_NEAR(static_cast<double>(cycles(1, 5, 32 * 4 * 5)), 5.0 * 120, 8);
}

// Two instructions per cycle need twice as many entries.
TEST_F(register_file, a_small_instruction_buffer_costs_pairs) {
  const auto pairs = [](unsigned k) {
    return k % 2 == 0 ? ffma(static_cast<std::uint8_t>(16 + k % 16), 1, 2, 3)
                      : op(isa::opcode::iadd3, static_cast<std::uint8_t>(16 + k % 16), isa::make_reg(1),
                           isa::make_reg(2), isa::make_reg(3));
  };
  const auto cycles = [&](unsigned entries) {
    return cycles_of(pairs, {"sub_partition.dual_issue=any", "sub_partition.reuse_cache=false",
                             "sub_partition.operand_read=collector", "sub_partition.dependence=scoreboard",
                             "sub_partition.instruction_buffer_entries=" + std::to_string(entries)});
  };
  EXPECT_EQ(cycles(4), 60u);
  EXPECT_EQ(cycles(2), 120u);  // both at once, then two cycles of fetching
  EXPECT_EQ(cycles(1), 240u);
}

// With tlm.check the scoreboard runs beside the codes: a stall count that is one too short is detected.
TEST_F(register_file, codes_that_let_an_operand_be_read_too_early_are_found) {
  for (const unsigned stall : {6u, 5u}) {
    restart();
    sm_harness h(load_config("gtx1080", {"tlm.check=true"}));
    auto program = std::make_shared<isa::program>();
    program->code = {ffma(16, 1, 2, 3), ffma(17, 16, 2, 3), exit_instruction()};
    program->registers = 32;
    auto launch = std::make_shared<resident_launch>();
    auto code = std::make_shared<decoded_program>(*decode(program, h.config, 0));
    EXPECT_EQ(code->code[0].stall, 6u);
    code->code[0].stall = static_cast<decltype(code->code[0].stall)>(stall);
    launch->program = program;
    launch->decoded = code;
    launch->block = {32, 1, 1};
    launch->banks[0].resize(4096);
    h.cwd.submit(launch);
    if (stall == 6) EXPECT_NO_THROW(sc_core::sc_start());
    else EXPECT_THROW(sc_core::sc_start(), sc_core::sc_report);
  }
}

}  // namespace register_file_test
}  // namespace heddle::test
