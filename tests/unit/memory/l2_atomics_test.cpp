// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "heddle/isa/opcode.h"
#include "l2_slice_bench.h"

namespace heddle::test {
namespace l2_atomics_test {

using namespace l2_slice_bench;

TEST_F(l2_slice_test, atomics_are_performed_in_order_and_cost_time_per_address) {
  gpu_config c = small_config();
  c.l2.atomic_interval_cycles = 3;
  c.l2.atomic_contention_cycles = 4;
  c.l2.atomic_limit_cycles = 18;  // further lanes add nothing
  bench b(c);
  std::vector<std::uint64_t> old;
  b.sm.on_response = [&](line_payload& p) {
    if (p.request.atomic == nullptr) return;
    for (unsigned i = 0; i < p.request.atomic->count; ++i) old.push_back(p.request.atomic->result[i]);
  };
  b.sm.read(0x400, 0xf, 1);
  atomic(b.sm, 0x400, isa::atomic_op::add, 8, 0, 100);  // eight lanes on one cell
  atomic(b.sm, 0x400, isa::atomic_op::add, 8, 4, 200);  // eight cells
  atomic(b.sm, 0x400, isa::atomic_op::add, 2, 0, 300);
  b.run(400);
  ASSERT_EQ(old.size(), 18u);
  EXPECT_EQ(b.slice.counters().find(0)->atomics, 3u);
  EXPECT_EQ(b.slice.counters().find(0)->atomic_lanes, 18u);
  EXPECT_EQ(b.slice.counters().find(0)->atomic_changes, 18u);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(old[i], i);
  EXPECT_EQ(old[8], 8u);
  EXPECT_EQ(old[9], 0u);
  EXPECT_EQ(b.sm.records[1].answered, 100 + hit_latency + 18);
  EXPECT_EQ(b.sm.records[2].answered, 200 + hit_latency);
  EXPECT_EQ(b.sm.records[3].answered, 300 + hit_latency + 4 + 3);
  b.check_done();
}

TEST_F(l2_slice_test, without_a_limit_every_further_lane_of_an_atomic_takes_its_time) {
  gpu_config c = small_config();
  c.l2.atomic_interval_cycles = 3;
  c.l2.atomic_contention_cycles = 4;
  c.l2.atomic_limit_cycles = 0;
  bench b(c);
  b.sm.read(0x400, 0xf, 1);
  atomic(b.sm, 0x400, isa::atomic_op::add, 8, 0, 100);
  b.run(300);
  EXPECT_EQ(b.sm.records.at(1).answered, 100 + hit_latency + 4 + 7 * 3);
  b.check_done();
}

// The unit is pipelined: the next atomic starts while the lanes of the one before are still in the pipeline.
TEST_F(l2_slice_test, atomics_keep_the_unit_for_their_occupancy_not_for_their_latency) {
  gpu_config c = small_config();
  c.l2.atomic_interval_cycles = 3;
  c.l2.atomic_occupancy_cycles = 2;
  c.l2.atomic_contention_cycles = 0;
  c.l2.atomic_limit_cycles = 0;
  bench b(c);
  b.sm.read(0x400, 0xf, 1);
  atomic(b.sm, 0x400, isa::atomic_op::add, 8, 0, 100);
  atomic(b.sm, 0x400, isa::atomic_op::add, 8, 0, 101);
  atomic(b.sm, 0x400, isa::atomic_op::add, 1, 0, 102);  // two cycles of latency less than those before
  b.run(300);
  const cycle_t first = 100 + hit_latency, second = first + 1 + 7 * 2;
  EXPECT_EQ(b.sm.records.at(1).answered, first + 7 * 3);
  EXPECT_EQ(b.sm.records.at(2).answered, second + 7 * 3);
  EXPECT_GE(b.sm.records.at(3).answered, b.sm.records.at(2).answered) << "answers keep the order";
  EXPECT_LE(b.sm.records.at(3).answered, b.sm.records.at(2).answered + 1);
  b.check_done();
}

// 1.25 cycles a sector: five for the four of a line, two for every fourth of single sectors.
TEST_F(l2_slice_test, sectors_of_an_atomic_pass_the_unit_one_after_another) {
  gpu_config c = small_config();
  c.l2.atomic_interval_cycles = 1;
  c.l2.atomic_occupancy_cycles = 1;
  c.l2.atomic_sector_cycles = 1.25;
  c.l2.atomic_contention_cycles = c.l2.atomic_limit_cycles = 0;
  bench b(c);
  b.sm.read(0x400, 0xf, 1);
  for (unsigned k = 0; k < 2; ++k) atomic(b.sm, 0x400, isa::atomic_op::add, 32, 4, 100 + k);  // a word each
  for (unsigned k = 0; k < 5; ++k) atomic(b.sm, 0x400, isa::atomic_op::add, 8, 4, 200 + k);   // of one sector
  atomic(b.sm, 0x400, isa::atomic_op::add, 8, 0, 300);                                        // of one word
  atomic(b.sm, 0x400, isa::atomic_op::add, 1, 0, 301);
  b.run(500);
  const auto answered = [&](std::size_t k) { return b.sm.records.at(k).answered; };
  EXPECT_EQ(answered(2) - answered(1), 5u);
  EXPECT_EQ(answered(1), 100 + hit_latency + 4);
  EXPECT_EQ(answered(7) - answered(3), 5u) << "a quarter of a cycle is carried on";
  EXPECT_EQ(answered(8), 300 + hit_latency + 7) << "lanes of one word take longer than their sector";
  b.check_done();
}

TEST_F(l2_slice_test, atomics_of_16_bytes_exchange_all_of_them_in_order) {
  bench b;
  std::vector<std::uint64_t> old;
  b.sm.on_response = [&](line_payload& p) {
    const atomic_request& a = *p.request.atomic;
    for (unsigned i = 0; i < a.count; ++i) old.insert(old.end(), {a.result[i], a.result_high[i]});
  };
  const auto send = [&](isa::atomic_op op, cycle_t at) {
    line_payload& p = b.sm.fresh(0);
    p.make_atomic(0x400);
    atomic_request& a = *p.request.atomic;
    a.operation = static_cast<std::uint8_t>(op);
    a.type = static_cast<std::uint8_t>(isa::dtype::b128);
    a.returns = a.wide = true;
    a.count = 4;
    for (unsigned i = 0; i < a.count; ++i) {
      a.lane[i] = static_cast<std::uint8_t>(i);
      a.offset[i] = 16;
      // cas: compares with what the lane before has left, but the third one with another upper half
      a.operand[i] = op == isa::atomic_op::exch ? i + 1 : i + 4;
      a.operand_high[i] = op == isa::atomic_op::exch ? i + 11 : i + 14 + (i == 2);
      a.swap[i] = i + 5;
      a.swap_high[i] = i + 15;
    }
    b.sm.send(p, at);
  };
  send(isa::atomic_op::exch, 1);
  send(isa::atomic_op::cas, 200);
  b.run(500);
  EXPECT_EQ(old, (std::vector<std::uint64_t>{0, 0, 1, 11, 2, 12, 3, 13, 4, 14, 5, 15, 6, 16, 6, 16}));
  EXPECT_EQ(b.slice.counters().find(0)->atomic_changes, 6u);
  const std::vector<std::uint8_t> bytes = b.debug_read(0x400, 48);
  for (unsigned k = 0; k < 48; ++k) EXPECT_EQ(bytes[k], k == 16 ? 6 : k == 24 ? 16 : 0) << k;
  b.check_done();
}

TEST_F(l2_slice_test, atomic_on_a_missing_sector_waits_for_it) {
  bench b;
  b.memory.bytes[0x400] = 41;
  std::uint64_t old = 0;
  b.sm.on_response = [&](line_payload& p) { old = p.request.atomic->result[0]; };
  atomic(b.sm, 0x400, isa::atomic_op::add, 1, 0, 1);
  b.run(100);
  EXPECT_EQ(old, 41u);
  EXPECT_EQ(b.debug_read(0x400, 1)[0], 42);
  EXPECT_EQ(b.memory.bytes[0x400], 41);
  b.check_done();
}

}  // namespace l2_atomics_test
}  // namespace heddle::test
