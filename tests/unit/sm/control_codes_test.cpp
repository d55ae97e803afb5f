// SPDX-License-Identifier: MIT
// Control codes, which decoding computes for software-controlled dependence: stall counts and counters by hand.
#include <gtest/gtest.h>

#include "dependence_bench.h"

namespace heddle::test {
namespace control_codes_test {

using namespace dependence_bench;

TEST(control_codes, stalls_cover_fixed_latencies_along_the_straight_line) {
  const gpu_config config = load_config("gtx1080");
  const auto p = decoded({ffma(0, 1, 2, 3), ffma(4, 1, 2, 3), ffma(5, 0, 4, 3), exit_instruction()}, config);
  ASSERT_TRUE(p->control_codes);
  EXPECT_EQ(p->code[0].stall, 1u);
  EXPECT_EQ(p->code[1].stall, 6u);  // R4 six cycles after 1; R0 is available by then, too
  for (const auto& d : p->code) EXPECT_EQ(d.counter, no_counter);
  for (const auto& d : p->code) EXPECT_EQ(d.waits, 0u);
}

TEST(control_codes, loads_raise_counters_and_their_users_wait_for_them) {
  const auto p =
      decoded({load(8, 2), load(9, 4), ffma(0, 1, 2, 3), ffma(1, 9, 0, 0), ffma(10, 8, 9, 0), exit_instruction()},
              load_config("v100"));
  EXPECT_EQ(p->code[0].counter, 0u);
  EXPECT_EQ(p->code[1].counter, 1u);
  EXPECT_EQ(p->code[2].waits, 0u);
  EXPECT_EQ(p->code[3].waits, 2u);
  EXPECT_EQ(p->code[4].waits, 1u);  // counter 1 was waited for
}

// Seven loads in flight, used in order, and six counters: the last two share one.
TEST(control_codes, adjacent_results_share_a_counter_if_all_are_taken) {
  std::vector<isa::instruction> code;
  for (unsigned k = 0; k < 7; ++k) code.push_back(load(static_cast<std::uint8_t>(8 + k), 2));
  for (unsigned k = 0; k < 7; ++k) code.push_back(ffma(0, static_cast<std::uint8_t>(8 + k), 1, 1));
  code.push_back(exit_instruction());
  const auto p = decoded(code, load_config("v100"));
  const unsigned counters[] = {0, 1, 2, 3, 4, 5, 5};
  for (unsigned k = 0; k < 7; ++k) EXPECT_EQ(p->code[k].counter, counters[k]) << k;
  for (unsigned k = 0; k < 7; ++k) EXPECT_EQ(p->code[7 + k].waits, k < 6 ? 1u << k : 0u) << k;
}

// Results share a counter if their first user follows at the largest distance: of all adjacent pairs the first two,
// because all are used only after the block.
TEST(control_codes, adjacent_results_that_are_used_last_share_a_counter) {
  std::vector<isa::instruction> code;
  for (unsigned k = 0; k < 7; ++k) code.push_back(load(static_cast<std::uint8_t>(8 + k), 2));
  code.push_back(exit_instruction());
  const auto p = decoded(code, load_config("v100"));
  const unsigned counters[] = {0, 0, 2, 3, 4, 5, 1};
  for (unsigned k = 0; k < 7; ++k) EXPECT_EQ(p->code[k].counter, counters[k]) << k;
}

// The load of a chain waits for the previous one and finds its counter idle: six chains have six counters, and each
// waits only for itself. With eight chains, two pairs share.
TEST(control_codes, chains_keep_their_counters) {
  const auto chains = [](unsigned count) {
    std::vector<isa::instruction> code;
    for (unsigned k = 0; k < 4 * count; ++k) {
      const auto of_chain = static_cast<std::uint8_t>(8 + 2 * (k % count));
      code.push_back(load(of_chain, of_chain));
      code.back().dst_count = 2;
    }
    code.push_back(exit_instruction());
    return decoded(code, load_config("v100"));
  };
  const auto six = chains(6);
  for (unsigned k = 0; k < 24; ++k) {
    EXPECT_EQ(six->code[k].counter, k % 6) << k;
    EXPECT_EQ(six->code[k].waits, k < 6 ? 0u : 1u << k % 6) << k;
    EXPECT_EQ(six->code[k].read_counter, no_counter) << k;  // the load's own result overwrites the address
  }
  const auto eight = chains(8);
  const unsigned counters[] = {0, 1, 2, 3, 3, 5, 5, 4};
  for (unsigned k = 0; k < 24; ++k) {  // in the last iteration their results are not used
    EXPECT_EQ(eight->code[k].counter, counters[k % 8]) << k;
    const bool waits = k >= 8 && k % 8 != 4 && k % 8 != 6;  // otherwise the neighbour has waited
    EXPECT_EQ(eight->code[k].waits, waits ? 1u << counters[k % 8] : 0u) << k;
  }
}

// Alternating loads from shared and from global memory: a counter is shared within one kind only.
TEST(control_codes, what_shares_a_counter_is_of_one_kind) {
  std::vector<isa::instruction> code;
  for (unsigned k = 0; k < 12; ++k) {
    code.push_back(load(static_cast<std::uint8_t>(8 + k), 2));
    if (k % 2 != 0) code.back().mem_space = isa::space::shared;
  }
  code.push_back(exit_instruction());
  const auto p = decoded(code, load_config("v100"));
  unsigned all = 0;
  for (unsigned global = 0; global < 12; global += 2)
    for (unsigned shared = 1; shared < 12; shared += 2) {
      EXPECT_NE(p->code[global].counter, p->code[shared].counter) << global << ' ' << shared;
      all |= 1u << p->code[global].counter | 1u << p->code[shared].counter;
    }
  EXPECT_EQ(all, 63u);
}

// Six special functions use six counters. The V100 accepts one every 8 cycles with a latency of 14. One cycle after the
// sixth issues, the results of the first four are available, although no instruction has waited for them. The seventh
// waits for them at no cost, and no counter is shared.
TEST(control_codes, results_that_must_be_there_free_their_counters) {
  std::vector<isa::instruction> code;
  for (unsigned k = 0; k < 7; ++k) code.push_back(mufu(static_cast<std::uint8_t>(8 + k), 1));
  code.push_back(exit_instruction());
  const auto p = decoded(code, load_config("v100"));
  for (unsigned k = 0; k < 6; ++k) EXPECT_EQ(p->code[k].counter, k);
  for (unsigned k = 0; k < 6; ++k) EXPECT_EQ(p->code[k].waits, 0u);
  EXPECT_EQ(p->code[6].waits, 0xfu);
  EXPECT_EQ(p->code[6].counter, 0u);
}

TEST(control_codes, a_loop_waits_for_loads_of_its_previous_iteration) {
  const auto p = decoded({ffma(0, 8, 1, 0), load(8, 2), back_to(0), exit_instruction()}, load_config("v100"));
  EXPECT_EQ(p->code[0].waits, 1u);  // in the first iteration no counter is raised
  EXPECT_EQ(p->code[1].waits, 0u);  // follows a wait for the same register
}

// Loads in three blocks, used in none of them, leave counters for what is waited for at once: a load from shared memory
// does not wait for them.
TEST(control_codes, loads_that_other_blocks_use_share_a_counter) {
  std::vector<isa::instruction> code = {load(8, 2),  load(9, 2),        load(10, 2),       back_to(5),
                                        load(11, 2), load(12, 2),       back_to(8),        load(13, 2),
                                        load(20, 4), ffma(0, 20, 1, 1), ffma(1, 8, 9, 10), exit_instruction()};
  code[8].mem_space = isa::space::shared;
  const auto p = decoded(code, load_config("v100"));
  const unsigned counters[] = {0, 1, 2, 7, 2, 2, 7, 2, 3};
  for (unsigned k = 0; k < 9; ++k) EXPECT_EQ(p->code[k].counter, counters[k]) << k;
  EXPECT_EQ(p->code[9].waits, 1u << 3);
  EXPECT_EQ(p->code[10].waits, 7u);
}

constexpr unsigned read_counter = counter_count - 1;

// Six loads that stay in flight across iterations take all counters. With shared memory, R8 is loaded before the loop
// with the same counter as in it. With global memory, the code before the loop does not wait: R8 keeps the counter that
// it had there, and the loop waits for both.
TEST(control_codes, a_loop_finds_a_value_by_one_counter) {
  const auto loop = [](isa::space space) {
    std::vector<isa::instruction> code = {load(8, 2), ffma(1, 1, 1, 1), ffma(0, 8, 0, 0)};
    for (const unsigned r : {10, 11, 12, 13, 14, 8}) code.push_back(load(static_cast<std::uint8_t>(r), 2));
    for (isa::instruction& i : code)
      if (i.op == isa::opcode::ld) i.mem_space = space;
    code.push_back(back_to(2));
    code.push_back(exit_instruction());
    return decoded(code, load_config("v100"));
  };
  const unsigned counters[] = {7, 7, 1, 2, 3, 4, 0, 5};  // after the first load
  const auto shared = loop(isa::space::shared), global = loop(isa::space::global);
  for (unsigned k = 0; k < 8; ++k) EXPECT_EQ(shared->code[1 + k].counter, counters[k]) << k;
  for (unsigned k = 0; k < 8; ++k) EXPECT_EQ(global->code[1 + k].counter, counters[k]) << k;
  EXPECT_EQ(shared->code[0].counter, 5u);
  EXPECT_EQ(shared->code[1].waits, 0u);
  EXPECT_EQ(shared->code[2].waits, 1u << 5);
  EXPECT_EQ(global->code[0].counter, 0u);
  EXPECT_EQ(global->code[1].waits, 0u);
  EXPECT_EQ(global->code[2].waits, 1u << 5 | 1u);
}

// The loop's first load overwrites a register that the store before the loop has yet to read, and its last load uses
// the counter of that read. The code before the loop waits for the read, so that an iteration's first load does not
// wait for the previous iteration's last one.
TEST(control_codes, loop_entry_waits_for_counters_that_iterations_use_for_other_results) {
  isa::instruction store = op(isa::opcode::st, isa::rz, isa::make_reg(2, 2), isa::make_reg(8));
  store.type = isa::dtype::u32;
  store.mem_space = isa::space::global;
  std::vector<isa::instruction> code = {store, ffma(1, 1, 1, 1)};
  for (const unsigned r : {8, 10, 11, 12, 13, 14}) code.push_back(load(static_cast<std::uint8_t>(r), 2));
  code.push_back(back_to(2));
  code.push_back(exit_instruction());
  const auto p = decoded(code, load_config("v100"));
  EXPECT_EQ(p->code[0].read_counter, 5u);
  EXPECT_EQ(p->code[1].waits, 1u << 5);
  for (unsigned k = 0; k < 6; ++k) EXPECT_EQ(p->code[2 + k].counter, k) << k;
  for (unsigned k = 0; k < 6; ++k) EXPECT_EQ(p->code[2 + k].waits, 1u << k) << k;
}

// A load reads its address some cycles after issue. An instruction that overwrites the address waits for the sixth
// counter; no other instruction does.
TEST(control_codes, overwriting_a_source_waits_until_it_is_read) {
  const gpu_config config = load_config("v100");
  const auto p = decoded(
      {load(8, 2), ffma(0, 2, 1, 1), ffma(2, 1, 1, 1), ffma(3, 1, 1, 1), load(4, 4), exit_instruction()}, config);
  EXPECT_EQ(p->code[0].source_read_cycles, config.ldst.load_read_latency_cycles);
  EXPECT_EQ(p->code[0].read_counter, read_counter);
  EXPECT_EQ(p->code[4].read_counter, no_counter);  // no other instruction overwrites R4 and R5
  EXPECT_EQ(p->code[1].waits, 0u);
  EXPECT_EQ(p->code[2].waits, 1u << read_counter);
  EXPECT_EQ(p->code[3].waits, 0u);  // that counter was waited for
  EXPECT_EQ(p->code[4].waits, 0u);  // its own result comes after the read
}

TEST(control_codes, a_source_may_be_unread_over_a_branch) {
  const auto p = decoded({ffma(2, 1, 1, 1), load(8, 2), back_to(0), exit_instruction()}, load_config("v100"));
  EXPECT_EQ(p->code[0].waits, 1u << read_counter);
}

// R2 is overwritten only after the load's result, which follows the read, has been used.
TEST(control_codes, a_wait_for_the_result_covers_the_read) {
  const auto p = decoded({load(8, 2), ffma(0, 8, 1, 1), ffma(2, 1, 1, 1), exit_instruction()}, load_config("v100"));
  EXPECT_EQ(p->code[0].read_counter, no_counter);
  EXPECT_EQ(p->code[1].waits, 1u);
  EXPECT_EQ(p->code[2].waits, 0u);
}

// A block without reads to guard has six counters for results, other blocks have five.
TEST(control_codes, reads_and_results_share_the_counters) {
  std::vector<isa::instruction> code;
  for (std::uint8_t k = 0; k < 6; ++k) code.push_back(load(static_cast<std::uint8_t>(8 + k), 2));
  code.push_back(ffma(2, 1, 1, 1));
  code.push_back(exit_instruction());
  const auto p = decoded(code, load_config("v100"));
  const unsigned expected[] = {0, 0, 2, 3, 4, 1};
  for (unsigned k = 0; k < 6; ++k) EXPECT_EQ(p->code[k].counter, expected[k]) << k;
  for (unsigned k = 0; k < 6; ++k) EXPECT_EQ(p->code[k].read_counter, read_counter) << k;
  EXPECT_EQ(p->code[6].waits, 1u << read_counter);
}

// Special functions use a unit with a shared queue: their results have counters, however short their latency.
TEST(control_codes, results_of_variable_latency_have_counters) {
  const auto counter_of = [](const isa::instruction& i, const std::string& gpu) {
    return decoded({i, exit_instruction()}, load_config(gpu))->code[0].counter;
  };
  isa::instruction convert = mufu(4, 1);
  convert.op = isa::opcode::f2i;
  convert.type = isa::dtype::s32;
  convert.src_type = isa::dtype::f32;
  isa::instruction dfma = op(isa::opcode::dfma, 4, isa::make_reg(8, 2), isa::make_reg(8, 2), isa::make_reg(8, 2));
  dfma.type = isa::dtype::f64;
  dfma.dst_count = 2;
  EXPECT_EQ(counter_of(mufu(4, 1), "v100"), 0u);
  EXPECT_EQ(counter_of(convert, "v100"), 0u);
  EXPECT_EQ(counter_of(dfma, "gtx1080"), 0u);  // one unit per SM
  EXPECT_EQ(counter_of(dfma, "v100"), no_counter);
  EXPECT_EQ(counter_of(ffma(4, 1, 1, 1), "v100"), no_counter);
}

// The V100 accepts a DFMA every 4 cycles with a latency of 8. When the second chain's DFMA has issued, 4 cycles remain
// before the first chain's next one. The unit itself needs no stall count.
TEST(control_codes, a_unit_that_is_held_shortens_stall_counts) {
  const auto p =
      decoded({dfma(0, 0), dfma(2, 2), dfma(0, 0), dfma(2, 2), dfma(4, 6), exit_instruction()}, load_config("v100"));
  EXPECT_EQ(p->code[0].stall, 1u);
  EXPECT_EQ(p->code[1].stall, 4u);
  EXPECT_EQ(p->code[2].stall, 4u);
  EXPECT_EQ(p->code[3].stall, 1u);
}

// Instructions before R8's FFMA hold the unit, too; but they may themselves have been delayed, up to the second DFMA.
// Only their stall counts are guaranteed to lie in between.
TEST(control_codes, a_unit_that_was_held_before_the_producer_does_not) {
  const auto p =
      decoded({dfma(0, 0), ffma(8, 1, 1, 1), dfma(2, 2), ffma(9, 8, 1, 1), exit_instruction()}, load_config("v100"));
  EXPECT_EQ(p->code[1].stall, 1u);
  EXPECT_EQ(p->code[2].stall, 3u);  // four cycles from R8's issue, of which one has passed
}

TEST(control_codes, pairs_have_stall_count_0) {
  const gpu_config config = load_config("gtx1080");
  const auto p =
      decoded({ffma(0, 1, 2, 3), mufu(4, 1), ffma(5, 1, 2, 3), ffma(6, 1, 2, 3), exit_instruction()}, config);
  EXPECT_EQ(p->code[0].stall, 0u);  // with MUFU
  EXPECT_EQ(p->code[1].stall, 1u);  // at most two issue together
  EXPECT_EQ(p->code[2].stall, 1u);  // the same unit
}

TEST(control_codes, are_for_software_dependence_only) {
  EXPECT_FALSE(decoded({ffma(0, 1, 2, 3), exit_instruction()}, load_config("gtxtitan"))->control_codes);
  EXPECT_FALSE(
      decoded({ffma(0, 1, 2, 3), exit_instruction()}, load_config("v100", {"sub_partition.dependence=scoreboard"}))
          ->control_codes);
}

// On an A100 the result of a matrix product may be accumulated after 25 cycles, which needs a counter. Each of the
// three chains has its own, whatever else is pending.
TEST(control_codes, assign_counters_round_robin_to_chains_whose_results_are_waited_for) {
  std::vector<isa::instruction> code{load(2, 0)};  // used at the end
  for (unsigned k = 0; k < 9; ++k) code.push_back(deep_product(static_cast<std::uint8_t>(12 + k % 3 * 4)));
  code.push_back(ffma(3, 2, 1, 1));
  code.push_back(exit_instruction());
  const auto p = decoded(code, load_config("a100"));
  const unsigned counters[] = {0, 1, 2, 3, 4, 1, 2, 3, 4, 1}, waits[] = {0, 0, 0, 0, 2, 4, 8, 16, 2, 4};
  for (unsigned k = 0; k < 10; ++k) {
    EXPECT_EQ(p->code[k].counter, counters[k]) << k;
    EXPECT_EQ(p->code[k].waits, waits[k]) << k;
  }
  EXPECT_EQ(p->code[10].waits, 1u);
}

// A product of 2048 multiply-adds enters an A100's unit in 8 cycles, enough to read ten registers from two banks. At 32
// times the rate it enters in one cycle.
TEST(control_codes, matrices_are_read_while_the_unit_takes_them) {
  EXPECT_EQ(decoded({deep_product(12), exit_instruction()}, load_config("a100"))->code[0].bank_conflicts, 0u);
  EXPECT_EQ(decoded({deep_product(12), exit_instruction()}, load_config("a100", {"tensor.f16_f32_fma_per_cycle=8192"}))
                ->code[0]
                .bank_conflicts,
            2u);
}

TEST(control_codes, products_have_latencies_by_sums_and_depth) {
  const gpu_config config = load_config("rtx3070");
  isa::instruction in_halves = product(isa::matrix_shape::m16n8k8, 12, 4, 2, 8, 1);
  in_halves.type = isa::dtype::f16;
  isa::instruction bytes = op(isa::opcode::imma, 12, isa::make_reg(4), isa::make_reg(8), isa::make_reg(12, 2));
  bytes.type = isa::dtype::s32;
  bytes.src_type = isa::dtype::s8;
  bytes.sub = static_cast<std::uint8_t>(isa::matrix_shape::m8n8k16);
  const auto p = decoded(
      {deep_product(12), product(isa::matrix_shape::m16n8k8, 12, 4, 2, 8, 1), in_halves, bytes, exit_instruction()},
      config);
  EXPECT_EQ(p->code[0].latency_cycles, config.tensor.deep_f32_latency_cycles);
  EXPECT_EQ(p->code[1].latency_cycles, config.tensor.f32_latency_cycles);
  EXPECT_EQ(p->code[2].latency_cycles, config.tensor.latency_cycles);
  EXPECT_EQ(p->code[3].latency_cycles, config.tensor.m8n8k16_latency_cycles);
}

TEST(control_codes, a_guard_is_waited_for_longer_than_a_predicate_to_compute_with) {
  const auto p =
      decoded({compare(false), compare(true), under_p1(ffma(8, 1, 2, 3)), exit_instruction()}, load_config("a100"));
  EXPECT_EQ(p->code[0].stall, 4u);
  EXPECT_EQ(p->code[1].stall, 13u);
  const auto q = decoded({compare(false), under_p1(ffma(8, 1, 2, 3)), exit_instruction()}, load_config("gtx1080"));
  EXPECT_EQ(q->code[0].stall, 12u);  // the same for all on this chip
}

}  // namespace control_codes_test
}  // namespace heddle::test
