// SPDX-License-Identifier: MIT
// What decoding keeps of latencies and banks, the scoreboard, and the write ports of register banks.
#include <gtest/gtest.h>

#include "dependence_bench.h"
#include "heddle/sub_partition/issue/write_ports.h"

namespace heddle::test {
namespace dependence_test {

using namespace dependence_bench;

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
  EXPECT_EQ(with("gtx1080", "fp32.lanes=10.67", {ffma(0, 1, 2, 3)}).initiation_cycles, 3u);
  EXPECT_EQ(with("a100", "tensor.f16_f32_fma_per_cycle=0.015625", {deep_product(8)}).initiation_cycles,
            16u * 8 * 16 * 64);
}

isa::instruction wide_imad() {
  isa::instruction i = op(isa::opcode::imad, 8, isa::make_reg(1), isa::make_reg(2), isa::make_reg(4, 2));
  i.wide = true;
  i.dst_count = 2;
  return i;
}

isa::instruction converted(isa::opcode o, isa::dtype to, isa::dtype from) {
  isa::instruction i = op(o, 8, isa::make_reg(1));
  i.type = to;
  i.src_type = from;
  return i;
}

// The pipes that ptxas 13.0 schedules for, by its stall counts: one for multiply-adds of floats and integers, one for
// the other integers, minima and comparisons.
TEST(decode, knows_which_instructions_share_a_pipe) {
  const auto on = [](const char* gpu, isa::instruction i) {
    return decoded({std::move(i), exit_instruction()}, load_config(gpu))->code[0];
  };
  const isa::instruction largest = op(isa::opcode::fmnmx, 8, isa::make_reg(1), isa::make_reg(2));
  for (const char* gpu : {"v100", "rtx2060", "a100", "rtx3080", "h100"}) {
    EXPECT_EQ(on(gpu, largest).unit, isa::unit::integer) << gpu;
    EXPECT_EQ(on(gpu, op(isa::opcode::fsetp, 8, isa::make_reg(1), isa::make_reg(2))).unit, isa::unit::integer) << gpu;
    EXPECT_EQ(on(gpu, op(isa::opcode::imad, 8, isa::make_reg(1), isa::make_reg(2))).unit, isa::unit::fp32) << gpu;
    EXPECT_EQ(on(gpu, op(isa::opcode::imad, 8, isa::make_reg(1), isa::make_reg(2))).initiation_cycles, 2u) << gpu;
    EXPECT_EQ(on(gpu, wide_imad()).initiation_cycles, 4u) << gpu;
    EXPECT_EQ(on(gpu, ffma(0, 1, 2, 3)).unit, isa::unit::fp32) << gpu;
  }
  EXPECT_EQ(on("h100", ffma(0, 1, 2, 3)).initiation_cycles, 1u);
  EXPECT_EQ(on("gtx1080", largest).unit, isa::unit::fp32);

  const isa::instruction pack = converted(isa::opcode::f2f, isa::dtype::f16x2, isa::dtype::f32);
  const isa::instruction widen = converted(isa::opcode::f2f, isa::dtype::f32, isa::dtype::f16);
  const isa::instruction number = converted(isa::opcode::i2f, isa::dtype::f32, isa::dtype::s32);
  EXPECT_EQ(on("rtx2060", pack).unit, isa::unit::sfu);
  EXPECT_EQ(on("rtx2060", widen).unit, isa::unit::half);
  EXPECT_EQ(on("a100", pack).unit, isa::unit::integer);
  EXPECT_EQ(on("a100", number).unit, isa::unit::sfu);
  for (const char* gpu : {"rtx3080", "h100"}) {
    EXPECT_EQ(on(gpu, number).unit, isa::unit::integer) << gpu;
    EXPECT_EQ(on(gpu, number).latency_cycles, 4u) << gpu;
    EXPECT_EQ(on(gpu, number).result, producer::fixed) << gpu;
  }
  EXPECT_EQ(on("h100", converted(isa::opcode::i2f, isa::dtype::f64, isa::dtype::s32)).unit, isa::unit::sfu);
}

// As ptxas 13.0 waits: five cycles from FFMA to LOP3 and back, four within a unit.
TEST(decode, results_take_a_cycle_more_to_another_unit) {
  const auto latency = [](const char* gpu, std::vector<isa::instruction> code) {
    code.push_back(exit_instruction());
    return decoded(std::move(code), load_config(gpu))->code[0].latency_cycles;
  };
  const auto logic = [](std::uint8_t d, std::uint8_t a) {
    return op(isa::opcode::lop3, d, isa::make_reg(a), isa::make_reg(30), isa::make_reg(31));
  };
  for (const char* gpu : {"rtx2060", "a100", "h100"}) {
    EXPECT_EQ(latency(gpu, {ffma(8, 1, 2, 3), ffma(9, 8, 2, 3)}), 4u) << gpu;
    EXPECT_EQ(latency(gpu, {ffma(8, 1, 2, 3), logic(9, 8)}), 5u) << gpu;
    EXPECT_EQ(latency(gpu, {logic(8, 1), logic(9, 8)}), 4u) << gpu;
    EXPECT_EQ(latency(gpu, {logic(8, 1), ffma(9, 8, 2, 3)}), 5u) << gpu;
    EXPECT_EQ(latency(gpu, {ffma(8, 1, 2, 3), ffma(9, 8, 2, 3), logic(10, 8)}), 4u) << "the first reader decides";
    EXPECT_EQ(latency(gpu, {ffma(8, 1, 2, 3), logic(8, 1), logic(9, 8)}), 4u) << "overwritten";
    EXPECT_EQ(latency(gpu, {ffma(8, 1, 2, 3), load(10, 8)}), 4u) << "to memory its own latency counts";
  }
  // The end of a loop is followed by its beginning.
  EXPECT_EQ(decoded({logic(9, 8), ffma(8, 1, 2, 3), back_to(0), exit_instruction()}, load_config("h100"))
                ->code[1]
                .latency_cycles,
            5u);
  EXPECT_EQ(latency("gtx1080", {ffma(8, 1, 2, 3), logic(9, 8)}), 6u);
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

class scoreboards : public fresh_simulation {};

// Times have 30 bits: after 2^29 cycles the base moves. Near times keep their value and kind; times far in the past
// count as available.
TEST_F(scoreboards, keep_recent_times_after_any_number_of_cycles) {
  scoreboard s({"scoreboard"}, 2);
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
TEST(write_ports, parts_of_a_load_arrive_in_consecutive_cycles) {
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

}  // namespace dependence_test
}  // namespace heddle::test
