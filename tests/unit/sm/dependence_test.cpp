// SPDX-License-Identifier: MIT
// Software-controlled dependence and the register file's operand read, with codes and cycles computed by hand.
#include <gtest/gtest.h>

#include <array>

#include "heddle/config/config.h"
#include "heddle/isa/matrix.h"
#include "heddle/sub_partition/issue/write_ports.h"
#include "sm_harness.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace dependence_test {

isa::instruction load(std::uint8_t d, std::uint8_t address) {
  isa::instruction i = op(isa::opcode::ld, d, isa::make_reg(address, 2));
  i.type = isa::dtype::u32;
  i.mem_space = isa::space::global;
  return i;
}

isa::instruction mufu(std::uint8_t d, std::uint8_t a) {
  isa::instruction i = op(isa::opcode::mufu, d, isa::make_reg(a));
  i.sub = static_cast<std::uint8_t>(isa::mufu_function::rcp);
  return i;
}

// A guarded branch back to the instruction `first`.
isa::instruction back_to(std::uint32_t first) {
  isa::instruction i;
  i.op = isa::opcode::bra;
  i.guard.reg = 0;
  i.target = first;
  return i;
}

std::shared_ptr<const decoded_program> decoded(std::vector<isa::instruction> code, const gpu_config& config) {
  auto program = std::make_shared<isa::program>();
  program->code = std::move(code);
  program->registers = 64;
  return decode(program, config, 0);
}

TEST(control_codes, stalls_cover_fixed_latencies_along_the_straight_line) {
  const gpu_config config = load_config("gtx1080");
  const auto p = decoded({ffma(0, 1, 2, 3), ffma(4, 1, 2, 3), ffma(5, 0, 4, 3), exit_instruction()}, config);
  ASSERT_TRUE(p->control_codes);
  EXPECT_EQ(p->code[0].stall, 1u);
  EXPECT_EQ(p->code[1].stall, 6u);  // R4 six cycles after 1; R0 is available by then, too
  for (const auto& d : p->code) EXPECT_EQ(d.counter, no_counter);
  for (const auto& d : p->code) EXPECT_EQ(d.waits, 0u);
}

isa::instruction product(isa::matrix_shape shape, std::uint8_t d, std::uint8_t a, unsigned a_registers, std::uint8_t b,
                         unsigned b_registers) {
  isa::instruction i = op(isa::opcode::hmma, d, isa::make_reg(a, static_cast<std::uint8_t>(a_registers)),
                          isa::make_reg(b, static_cast<std::uint8_t>(b_registers)), isa::make_reg(d, 4));
  i.dst_count = 4;
  i.src_type = isa::dtype::f16;
  i.sub = static_cast<std::uint8_t>(shape);
  return i;
}
isa::instruction deep_product(std::uint8_t d) { return product(isa::matrix_shape::m16n8k16, d, 4, 4, 8, 2); }

// No latency is truncated.
TEST(decode, holds_every_latency_that_a_configuration_may_have) {
  const auto with = [](const char* gpu, const std::string& value, std::vector<isa::instruction> code) {
    code.push_back(exit_instruction());
    return decoded(std::move(code), load_config(gpu, {value}))->code[0];
  };
  EXPECT_EQ(with("gtx1080", "fp32.latency_cycles=65600", {ffma(0, 1, 2, 3)}).latency_cycles, 65600u);
  EXPECT_EQ(with("gtx1080", "fp32.latency_cycles=100000", {ffma(0, 1, 2, 3)}).latency_cycles, 100000u);
  for (const unsigned cycles : {255u, 256u, 1000u, 5000u, 100000u})
    EXPECT_EQ(with("v100", "ldst.load_read_latency_cycles=" + std::to_string(cycles), {load(8, 2)}).source_read_cycles,
              cycles);
  EXPECT_EQ(with("a100", "tensor.f16_f32_fma_per_cycle=0.015625", {deep_product(8)}).initiation_cycles,
            16u * 8 * 16 * 64);
}

// Two registers conflict in one of 64 banks, as in one of 16, only if they are 64 apart.
TEST(decode, counts_conflicts_in_all_register_banks) {
  const auto conflicts = [](unsigned banks, std::uint8_t second) {
    const gpu_config config = load_config("gtx1080", {"sub_partition.register_banks=" + std::to_string(banks)});
    return decoded({ffma(0, 1, second, 100), exit_instruction()}, config)->code[0].bank_conflicts;
  };
  EXPECT_EQ(conflicts(16, 17), 1u);
  EXPECT_EQ(conflicts(64, 17), 0u);
  EXPECT_EQ(conflicts(64, 65), 1u);
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
TEST(control_codes, neighbours_share_counters_where_there_are_too_many) {
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
TEST(control_codes, neighbours_share_that_are_used_last) {
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

TEST(control_codes, a_loop_waits_for_what_its_last_turn_loaded) {
  const auto p = decoded({ffma(0, 8, 1, 0), load(8, 2), back_to(0), exit_instruction()}, load_config("v100"));
  EXPECT_EQ(p->code[0].waits, 1u);  // in the first iteration no counter is raised
  EXPECT_EQ(p->code[1].waits, 0u);  // follows a wait for the same register
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
TEST(control_codes, who_enters_a_loop_waits_for_counters_that_its_turns_use_for_others) {
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
TEST(control_codes, who_overwrites_a_source_waits_until_it_is_read) {
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
TEST(control_codes, who_has_waited_for_the_result_need_not_wait_for_the_read) {
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

isa::instruction dfma(unsigned d, unsigned a) {
  isa::instruction i =
      op(isa::opcode::dfma, static_cast<std::uint8_t>(d), isa::make_reg(static_cast<std::uint8_t>(a), 2),
         isa::make_reg(static_cast<std::uint8_t>(a), 2), isa::make_reg(static_cast<std::uint8_t>(a), 2));
  i.type = isa::dtype::f64;
  i.dst_count = 2;
  return i;
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
TEST(control_codes, give_counters_in_turn_to_chains_whose_results_are_waited_for) {
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

// Writes P1; the argument tells whether it also reads it.
isa::instruction compare(bool reads) {
  isa::instruction i = op(isa::opcode::isetp, isa::rz, isa::make_reg(4), isa::make_reg(5));
  i.dst_count = 0;
  i.type = isa::dtype::u32;
  i.cmp = isa::compare::eq;  // registers are zero: always true
  i.pdst[0] = 1;
  if (reads) i.psrc[0].reg = 1;
  return i;
}
isa::instruction under_p1(isa::instruction i) {
  i.guard.reg = 1;
  return i;
}

TEST(control_codes, a_guard_is_waited_for_longer_than_a_predicate_to_compute_with) {
  const auto p =
      decoded({compare(false), compare(true), under_p1(ffma(8, 1, 2, 3)), exit_instruction()}, load_config("a100"));
  EXPECT_EQ(p->code[0].stall, 4u);
  EXPECT_EQ(p->code[1].stall, 13u);
  const auto q = decoded({compare(false), under_p1(ffma(8, 1, 2, 3)), exit_instruction()}, load_config("gtx1080"));
  EXPECT_EQ(q->code[0].stall, 12u);  // the same for all on this chip
}

class scoreboards : public fresh_simulation {};

// Times have 30 bits: after 2^29 cycles the base moves. Near times keep their value and kind; times far in the past
// count as available.
TEST_F(scoreboards, know_what_is_near_after_any_time) {
  scoreboard s("scoreboard", 2);
  const auto p = decoded({ffma(20, 1, 60, 60), ffma(20, 2, 60, 60), ffma(20, 3, 60, 60), ffma(20, 4, 60, 60)},
                         load_config("v100", {"sub_partition.dependence=scoreboard"}));
  const auto ask = [&](unsigned r, unsigned slot = 0) { return s.probe(slot, p->code[r - 1]); };
  s.clear(0, 64);
  s.clear(1, 64);
  constexpr cycle_t far = cycle_t{1} << 29;
  s.set_ready(0, ffma(1, 0, 0, 0), 100, producer::long_latency);
  s.set_ready(0, ffma(2, 0, 0, 0), far - 10, producer::short_latency);
  s.set_pending(0, ffma(3, 0, 0, 0), producer::long_latency);
  EXPECT_EQ(ask(1).cycle, 100u);
  EXPECT_EQ(ask(1).kind, producer::long_latency);
  for (const cycle_t now : {far + 20, 3 * far, 100 * far}) {
    s.set_ready(0, ffma(4, 0, 0, 0), now, producer::fixed);
    EXPECT_LE(ask(1).cycle, now);
    EXPECT_EQ(ask(1).kind, producer::fixed) << "forgotten";
    EXPECT_EQ(ask(3).cycle, never);
    EXPECT_EQ(ask(3).kind, producer::long_latency);
    EXPECT_EQ(ask(4).cycle, now);
    EXPECT_LE(ask(1, 1).cycle, now);
    EXPECT_EQ(ask(1, 1).kind, producer::fixed);
    if (now > 2 * far) continue;
    EXPECT_EQ(ask(2).cycle, far - 10);
    EXPECT_EQ(ask(2).kind, producer::short_latency);
  }
}

class register_file : public fresh_simulation {
 protected:
  /// Cycles of 120 further instructions, of which number k is `make(k)`.
  template <class F>
  static std::uint64_t cycles_of(F make, std::vector<std::string> settings, unsigned threads = 32,
                                 const std::string& gpu = "gtx1080");
};

template <class F>
std::uint64_t register_file::cycles_of(F make, std::vector<std::string> settings, unsigned threads,
                                       const std::string& gpu) {
  restart();
  gpu_config config = load_config(gpu, settings);
  config.instruction_cache.size_bytes = 1 << 20;  // so that only issue is measured
  config.instruction_cache.miss_latency_cycles = 0;
  config.instruction_cache.second_level_bytes = 0;
  sm_harness h(config);
  const auto run = [&](unsigned length) {
    std::vector<isa::instruction> code;
    for (unsigned k = 0; k < length; ++k) code.push_back(make(k));
    code.push_back(exit_instruction());
    const grid_record& g = h.run(std::move(code), threads, 1, 64);
    return g.end_cycle - g.start_cycle;
  };
  const std::uint64_t shorter = run(64);
  const std::uint64_t cycles = run(64 + 120) - shorter;
  h.sm.check_invariants();
  return cycles;
}

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
  // With the shipped file, whose difference docs/gpus.md explains.
  EXPECT_EQ(cycles_of(multiply(2), {}, 32, "rtx3080"), 120u);
  EXPECT_EQ(cycles_of(three(2), {}, 32, "rtx3080"), 2u * 120);
}
TEST_F(register_file, a_collector_does_not) {
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
  slower[0] = "ldst.operand_latency_cycles=1";  // and the load waits longer for its address
  slower.push_back("ldst.shared_load_read_latency_cycles=11");
  EXPECT_EQ(cycles_of(turn, slower), (11u + 5) * 60);
}

// Independent double-precision additions: registers 0 to 15 from 16 and 17.
isa::instruction dadd(unsigned k) {
  isa::instruction i =
      op(isa::opcode::dadd, static_cast<std::uint8_t>(k % 8 * 2), isa::make_reg(16, 2), isa::make_reg(16, 2));
  i.type = isa::dtype::f64;
  i.dst_count = 2;
  return i;
}
// One lane in each of four sub-partitions: as one unit of four lanes it accepts a warp every 8 cycles, from any
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

// If two conditions stall a warp at the same time, its state is the first of them in the order of the contract. Checks
// the states of a single warp during 60 further instructions.
class state_priority : public register_file {
 protected:
  template <class F>
  static std::array<double, static_cast<std::size_t>(warp_cycle::count)> states_of(F make,
                                                                                   std::vector<std::string> settings) {
    restart();
    gpu_config config = load_config("gtx1080", settings);
    config.instruction_cache.size_bytes = 1 << 20;
    config.instruction_cache.miss_latency_cycles = 0;
    config.instruction_cache.second_level_bytes = 0;
    sm_harness h(config);
    for (const unsigned length : {40u, 100u}) {
      std::vector<isa::instruction> code;
      for (unsigned k = 0; k < length; ++k) code.push_back(make(k));
      code.push_back(exit_instruction());
      h.run(std::move(code), 32, 1, 64);
    }
    std::array<double, static_cast<std::size_t>(warp_cycle::count)> each{};
    for (std::size_t s = 0; s < each.size(); ++s)
      each[s] = static_cast<double>(h.total(1).warp_cycles[s] - h.total(0).warp_cycles[s]) / 60;
    return each;
  }
  static double in(const std::array<double, static_cast<std::size_t>(warp_cycle::count)>& each, warp_cycle state) {
    return each[static_cast<std::size_t>(state)];
  }
};

TEST_F(state_priority, an_operand_that_is_not_there_comes_before_a_busy_unit) {
  const std::vector<std::string> settings = {"fp64.latency_cycles=8"};  // one warp every 8 cycles through four lanes
  auto each = states_of(dadd, settings);
  EXPECT_EQ(1.0, in(each, warp_cycle::selected));
  EXPECT_EQ(7.0, in(each, warp_cycle::pipe_busy));
  EXPECT_EQ(0.0, in(each, warp_cycle::exec_dependency));
  const auto chain = [](unsigned) {
    isa::instruction i = dadd(0);
    i.src[0] = isa::make_reg(0, 2);
    i.src[1] = isa::make_reg(18, 2);  // in other banks
    return i;
  };
  each = states_of(chain, {"fp64.latency_cycles=5"});
  EXPECT_EQ(1.0, in(each, warp_cycle::selected));
  EXPECT_EQ(4.0, in(each, warp_cycle::exec_dependency));
  EXPECT_EQ(3.0, in(each, warp_cycle::pipe_busy)) << "the unit is busy in all seven";
}

TEST_F(state_priority, an_instruction_that_is_not_there_comes_before_its_operand) {
  const auto chain = [](unsigned) { return ffma(0, 0, 1, 2); };
  auto each = states_of(chain, {});
  EXPECT_EQ(5.0, in(each, warp_cycle::exec_dependency));
  EXPECT_EQ(0.0, in(each, warp_cycle::inst_fetch));
  each = states_of(chain, {"sub_partition.issue_width=1", "sub_partition.dual_issue=none",
                           "sub_partition.instruction_buffer_entries=1", "sub_partition.fetch_latency_cycles=4"});
  EXPECT_EQ(1.0, in(each, warp_cycle::selected));
  EXPECT_EQ(3.0, in(each, warp_cycle::inst_fetch));
  EXPECT_EQ(2.0, in(each, warp_cycle::exec_dependency)) << "the operand lacks in all five";
}

// A memory instruction and an FFMA that overwrites its source, 60 times. The FFMA waits for no result of fixed latency,
// but for the read of the source by the memory path, counted as that path's scoreboard. The next memory instruction,
// whose source the FFMA writes, waits for the FFMA's latency.
TEST_F(state_priority, who_waits_for_a_read_waits_for_its_path) {
  const auto stalls_of = [](isa::space space) {
    restart();
    gpu_config config =
        load_config("v100", {"ldst.shared_load_read_latency_cycles=11", "ldst.load_read_latency_cycles=15"});
    config.instruction_cache.size_bytes = 1 << 20;
    config.instruction_cache.miss_latency_cycles = 0;
    config.instruction_cache.second_level_bytes = 0;
    sm_harness h(config);
    for (const unsigned turns : {20u, 80u}) {
      std::vector<isa::instruction> code = {
          op(isa::opcode::mov, 2, isa::make_immediate(space == isa::space::global ? isa::heap_base : 0)),
          op(isa::opcode::mov, 3, isa::make_immediate(space == isa::space::global ? isa::heap_base >> 32 : 0))};
      for (unsigned k = 0; k < turns; ++k) {
        code.push_back(load(isa::rz, 2));  // the word is not used
        if (space == isa::space::shared) code.back().src[0] = isa::make_reg(2);
        code.back().mem_space = space;
        code.push_back(op(isa::opcode::mov, 2, isa::make_immediate(space == isa::space::global ? isa::heap_base : 0)));
      }
      code.push_back(exit_instruction());
      h.run(std::move(code), 32, 1, 64);
    }
    std::array<double, static_cast<std::size_t>(warp_stall::count)> each{};
    for (std::size_t s = 0; s < each.size(); ++s)
      each[s] = static_cast<double>(h.total(1).warp_stalls[s] - h.total(0).warp_stalls[s]) / 60;
    return each;
  };
  const auto in = [](const auto& each, warp_stall s) { return each[static_cast<std::size_t>(s)]; };
  const auto shared = stalls_of(isa::space::shared), global = stalls_of(isa::space::global);
  EXPECT_EQ(in(shared, warp_stall::short_scoreboard), 10.0);
  EXPECT_EQ(in(shared, warp_stall::long_scoreboard), 0.0);
  EXPECT_EQ(in(shared, warp_stall::wait), 3.0);
  EXPECT_EQ(in(global, warp_stall::short_scoreboard), 0.0);
  EXPECT_EQ(in(global, warp_stall::long_scoreboard), 14.0);
  EXPECT_EQ(in(global, warp_stall::wait), 3.0);
}

// Every load result finds the bank's only port taken by FFMAs until they end; with a second port it does not wait.
TEST(write_ports, loads_wait_for_a_cycle_without_a_result) {
  write_ports one(2, 1), two(2, 2), any(2, 0);
  EXPECT_TRUE(one.limited());
  EXPECT_FALSE(any.limited());
  for (cycle_t c = 10; c < 15; ++c) {  // results in bank 0 from 14 to 18
    one.reserve(4, 1, c + 4, c);
    two.reserve(4, 1, c + 4, c);
  }
  EXPECT_EQ(one.write(6, 1, 16, 16), 19u);
  EXPECT_EQ(one.write(7, 1, 16, 16), 16u);  // the other bank
  EXPECT_EQ(one.write(7, 1, 16, 16), 17u);  // the port is taken now
  EXPECT_EQ(one.write(8, 4, 20, 20), 21u);  // four registers, two in each bank
  EXPECT_EQ(two.write(6, 1, 16, 16), 16u);
  EXPECT_EQ(one.write(6, 1, 500, 500), 500u);
  one.reserve(4, 1, 600, 596);
  EXPECT_EQ(one.write(6, 1, 600, 600), 601u);
}

// 128 bits per lane, arriving in parts of 32 or 64 bits every 2 cycles from cycle 30 on.
TEST(write_ports, parts_of_a_load_come_one_behind_the_other) {
  for (const unsigned ports : {0u, 1u}) {
    write_ports p(2, ports);
    EXPECT_EQ(p.write(0, 4, 30, 30, 1, 2, 30), 36u);
    EXPECT_EQ(p.write(0, 4, 60, 60, 2, 2, 60), 62u);
    EXPECT_EQ(p.write(0, 4, 93, 93, 1, 2, 90), 96u) << "lines that come one a cycle go on as they come";
    EXPECT_EQ(p.write(0, 4, 160, 160, 1, 2, 120), 160u) << "what came before the last part has gone on long ago";
  }
}

// Results far in the future are treated like near ones: a latency of 1,000 cycles, a load that completes long after the
// last issue, a load whose parts arrive 100 cycles apart.
TEST(write_ports, far_results_take_ports_too) {
  write_ports one(1, 1);
  one.reserve(4, 1, 1010, 10);
  one.reserve(4, 1, 1011, 11);
  EXPECT_EQ(one.write(6, 1, 1009, 1009), 1009u);
  EXPECT_EQ(one.write(6, 1, 1010, 1010), 1012u);
  EXPECT_EQ(one.write(6, 1, 5000, 5000), 5000u);
  EXPECT_EQ(one.write(7, 1, 5000, 5000), 5001u);
  EXPECT_EQ(one.write(4, 4, 5400, 5100, 1, 100, 5100), 5400u);
  one.reserve(4, 1, 5402, 5396);
  EXPECT_EQ(one.write(8, 1, 5400, 5400), 5401u);
  EXPECT_EQ(one.write(8, 1, 5401, 5401), 5403u);
  EXPECT_EQ(one.write(9, 1, 90000, 5403), 90000u) << "a result that its unit delays";
  EXPECT_EQ(one.write(9, 1, 90000, 5403), 90001u);
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

}  // namespace dependence_test
}  // namespace heddle::test
