// SPDX-License-Identifier: MIT
// A slice whose requests come from both partitions of the L2.
#include "l2_slice_bench.h"

namespace heddle::test {
namespace l2_partitions_test {

using namespace l2_slice_bench;

constexpr unsigned far = 30;
constexpr unsigned near_sm = 0, far_sm = 1;

class l2_partitions_test : public simulation {};

/// Sends requests so far apart that each finds the slice idle.
struct partitions_bench : bench {
  partitions_bench() { slice.add_far({false, true}, far); }

  void read(unsigned sm_id, std::uint8_t sectors) { sm.read(0, sectors, next()).request.sm = sm_id; }
  void write(unsigned sm_id) { sm.write(0, 32, std::vector<std::uint8_t>(32, 7), next()).request.sm = sm_id; }
  void add(unsigned sm_id) { atomic(sm, 0, isa::atomic_op::add, 1, 4, next()).request.sm = sm_id; }
  cycle_t next() { return at += 200; }
  std::vector<cycle_t> latencies() {
    run(at + 500);
    check_done();
    std::vector<cycle_t> all;
    for (const driver::record& r : sm.records) all.push_back(r.answered - r.asked);
    return all;
  }

  cycle_t at = 0;
};

constexpr cycle_t miss = hit_latency + 10 + 1;  // as l2_slice_test has it

TEST_F(l2_partitions_test, a_far_miss_and_the_first_far_hit_take_longer) {
  partitions_bench b;
  b.read(far_sm, 1);
  b.read(far_sm, 1);
  b.read(near_sm, 2);
  b.read(far_sm, 2);
  b.read(far_sm, 3);
  const std::vector<cycle_t> expected = {miss + far, hit_latency, miss, hit_latency + far, hit_latency};
  EXPECT_EQ(b.latencies(), expected) << "a partition keeps the sectors that its SMs read";
}

TEST_F(l2_partitions_test, writes_go_to_the_sectors_own_partition_and_end_the_copy) {
  partitions_bench b;
  b.read(far_sm, 2);
  b.write(near_sm);
  b.read(far_sm, 2);
  b.read(far_sm, 2);
  b.write(far_sm);
  b.read(near_sm, 2);
  b.read(far_sm, 2);
  const std::vector<cycle_t> expected = {miss + far,        hit_latency, hit_latency + far, hit_latency,
                                         hit_latency + far, hit_latency, hit_latency + far};
  EXPECT_EQ(b.latencies(), expected);
}

TEST_F(l2_partitions_test, atomics_are_performed_in_the_sectors_own_partition) {
  partitions_bench b;
  b.read(near_sm, 1);
  b.add(near_sm);
  b.add(far_sm);
  b.read(far_sm, 1);
  b.add(near_sm);
  b.read(far_sm, 1);
  const std::vector<cycle_t> expected = {miss,        hit_latency,      hit_latency + far + 1, hit_latency + far,
                                         hit_latency, hit_latency + far};
  EXPECT_EQ(b.latencies(), expected);
}

TEST_F(l2_partitions_test, a_far_answer_delays_no_near_one) {
  partitions_bench b;
  b.read(near_sm, 1);
  b.at += 200;
  b.sm.read(0, 1, b.at, 1).request.sm = far_sm;
  b.sm.read(0, 1, b.at + 1, 2).request.sm = near_sm;
  b.run(b.at + 500);
  b.check_done();
  ASSERT_EQ(b.sm.records.size(), 3u);
  EXPECT_EQ(b.sm.records[1].token, 2u);
  EXPECT_EQ(b.sm.records[1].answered, b.at + 1 + hit_latency);
  EXPECT_EQ(b.sm.records[2].answered, b.at + hit_latency + far);
}

}  // namespace l2_partitions_test
}  // namespace heddle::test
