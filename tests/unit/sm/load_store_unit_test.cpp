// SPDX-License-Identifier: MIT
#include "heddle/sm/load_store_unit.h"

#include <gtest/gtest.h>

#include "heddle/config/error.h"
#include "sm_memory_bench.h"
#include "tests/unit/common/fresh_simulation.h"

namespace load_store_unit_test {

using namespace heddle;
using load_store_unit_test = fresh_simulation;
constexpr std::uint64_t base = sm_memory_bench::base;

TEST_F(load_store_unit_test, read_only_hit_takes_the_latency_of_the_l1) {
  gpu_config config;
  config.l1.banks = 4;
  sm_memory_bench b(config);
  lsu_transaction& warm = b.strided(lsu_kind::load, base, 4);
  warm.read_only = true;
  lsu_transaction& hit = b.strided(lsu_kind::load, base, 4);
  hit.read_only = true;
  for (unsigned k = 0; k < 32; ++k) b.memory.put<std::uint32_t>(base + 4 * k, 1000 + k);
  b.partitions.issue(warm, 10);
  b.partitions.issue(hit, 1000);
  b.run();
  EXPECT_EQ(hit.issue_cycle, 1000u);
  EXPECT_EQ(b.latency(hit), 82u);
  // Look-up after 4 cycles, BEGIN_REQ in the same cycle; BEGIN_RESP, 100 cycles later, is seen at the next edge.
  EXPECT_EQ(b.latency(warm), 4u + 100 + 1);
  for (unsigned k = 0; k < 32; ++k) {
    EXPECT_EQ(warm.words[0][k], 1000 + k);
    EXPECT_EQ(hit.words[0][k], 1000 + k);
  }
  const l1_counters& c = *b.l1.counters.find(0);
  EXPECT_EQ(c.accesses, 8u);
  EXPECT_EQ(c.hits, 4u);
  EXPECT_EQ(c.misses, 4u);
  EXPECT_EQ(c.fills, 4u);
  EXPECT_EQ(c.bypassed, 0u);
  EXPECT_EQ(b.memory.reads, 1u);
}

TEST_F(load_store_unit_test, shared_memory_latency_grows_with_conflicts) {
  sm_memory_bench b;
  lsu_transaction& plain = b.on_shared(lsu_kind::load, 4);
  lsu_transaction& two = b.on_shared(lsu_kind::load, 8);
  lsu_transaction& worst = b.on_shared(lsu_kind::load, 128);
  lsu_transaction& store = b.on_shared(lsu_kind::store, 4);
  lsu_transaction& atomic = b.on_shared(lsu_kind::atomic, 0);
  b.partitions.issue(plain, 5);
  b.partitions.issue(two, 200);
  b.partitions.issue(worst, 400);
  b.partitions.issue(store, 600);
  b.partitions.issue(atomic, 800);
  b.run();
  EXPECT_EQ(b.latency(plain), 23u);
  EXPECT_EQ(b.latency(two), 25u);
  EXPECT_EQ(b.latency(worst), 23u + 2 * 31);
  EXPECT_EQ(b.latency(store), 23u);
  EXPECT_EQ(b.latency(atomic), 23u + 2 * 31);
  const shared_memory_counters& c = *b.shared.counters.find(0);
  EXPECT_EQ(c.accesses, 5u);
  EXPECT_EQ(c.load_transactions, 1u + 2 + 32);
  EXPECT_EQ(c.store_transactions, 1u);
  EXPECT_EQ(c.bank_conflicts, 1u + 31 + 31);
  EXPECT_EQ(c.requested_bytes, 5u * 128);
  EXPECT_EQ(c.moved_bytes, 128u * (1 + 2 + 32 + 1 + 32));
}

TEST_F(load_store_unit_test, banks_are_held_for_all_passes) {
  gpu_config config;
  config.shared_memory.pass_cycles = 1;
  sm_memory_bench b(config);
  lsu_transaction& first = b.on_shared(lsu_kind::load, 128, 0);
  lsu_transaction& second = b.on_shared(lsu_kind::load, 4, 1);
  b.partitions.issue(first, 10);
  b.partitions.issue(second, 10);
  b.run();
  EXPECT_EQ(b.latency(first), 23u + 62);
  EXPECT_EQ(b.latency(second), 23u + 32);
}

// 32 passes of 1.25 cycles occupy the banks for 40 cycles; a single pass leaves a quarter cycle to the next, so that
// the fourth occupies them for two cycles.
TEST_F(load_store_unit_test, a_pass_may_hold_the_banks_for_more_than_a_cycle) {
  gpu_config config;
  config.shared_memory.pass_cycles = 1.25;
  sm_memory_bench b(config);
  lsu_transaction& first = b.on_shared(lsu_kind::load, 128, 0);
  std::vector<lsu_transaction*> later;
  for (unsigned p = 1; p < 4; ++p) later.push_back(&b.on_shared(lsu_kind::load, 4, p));
  later.push_back(&b.on_shared(lsu_kind::load, 4, 0));
  later.push_back(&b.on_shared(lsu_kind::load, 4, 1));
  b.partitions.issue(first, 10);
  for (lsu_transaction* t : later) b.partitions.issue(*t, 10);
  b.run();
  EXPECT_EQ(b.latency(first), 23u + 62) << "the latency of conflicts is another matter";
  const cycle_t expected[] = {40, 41, 42, 43, 45};
  for (unsigned k = 0; k < 5; ++k) EXPECT_EQ(b.partitions.answers[later[k]].cycle, 10u + 23 + expected[k]) << k;
}

TEST_F(load_store_unit_test, an_atomic_holds_the_banks_for_each_lane_of_a_word_unless_it_counts_them) {
  gpu_config config;
  config.shared_memory.atomic_pass_cycles = 1.5;
  sm_memory_bench b(config);
  lsu_transaction& one_by_one = b.on_shared(lsu_kind::reduction, 0, 0);
  lsu_transaction& counting = b.on_shared(lsu_kind::reduction, 0, 1);
  lsu_transaction& conflicting = b.on_shared(lsu_kind::reduction, 128, 2);
  lsu_transaction& last = b.on_shared(lsu_kind::load, 4, 3);
  counting.counts = conflicting.counts = true;
  for (lsu_transaction* t : {&one_by_one, &counting, &conflicting, &last}) b.partitions.issue(*t, 10);
  b.run();
  EXPECT_EQ(b.latency(one_by_one), 23u + 2 * 31);
  EXPECT_EQ(b.latency(counting), 23u + 48);
  EXPECT_EQ(b.latency(last), 23u + 48 + 1 + 48) << "words of one bank take a pass each";
  EXPECT_EQ(b.shared.counters.find(0)->atomic_transactions, 32u + 1 + 32);
}

TEST_F(load_store_unit_test, sub_partitions_are_served_round_robin_at_the_interval_of_address_stages) {
  gpu_config config;
  config.shared_memory.pass_cycles = 1;
  sm_memory_bench b(config);
  std::vector<lsu_transaction*> all;
  for (unsigned p = 0; p < 4; ++p)
    for (unsigned k = 0; k < 3; ++k) all.push_back(&b.on_shared(lsu_kind::load, 4, p));
  for (lsu_transaction* t : all) b.partitions.issue(*t, 10);
  b.run();
  // One instruction per cycle in total; four cycles between two of one sub-partition.
  for (unsigned p = 0; p < 4; ++p)
    for (unsigned k = 0; k < 3; ++k) EXPECT_EQ(b.partitions.answers[all[p * 3 + k]].cycle, 10u + 23 + p + 4 * k);
}

TEST_F(load_store_unit_test, a_queue_of_four_accepts_five_back_to_back) {
  gpu_config config;
  config.shared_memory.pass_cycles = 1;
  sm_memory_bench b(config);
  std::vector<lsu_transaction*> all;
  for (unsigned k = 0; k < 8; ++k) {
    all.push_back(&b.on_shared(lsu_kind::load, 4));
    b.partitions.issue(*all.back(), 10);
  }
  b.run();
  const cycle_t expected[] = {10, 11, 12, 13, 14, 18, 22, 26};
  for (unsigned k = 0; k < 8; ++k) EXPECT_EQ(all[k]->issue_cycle, expected[k]);
}

TEST_F(load_store_unit_test, one_line_per_cycle) {
  sm_memory_bench b;
  lsu_transaction& warm = b.strided(lsu_kind::load, base, 128);
  lsu_transaction& hit = b.strided(lsu_kind::load, base, 128);
  warm.read_only = hit.read_only = true;
  b.partitions.issue(warm, 10);
  b.partitions.issue(hit, 1000);
  b.run();
  EXPECT_EQ(b.latency(hit), 82u + 31);
  const lsu_counters& c = *b.lsu.counters.find(0);
  EXPECT_EQ(c.global_load.requests, 2u);
  EXPECT_EQ(c.global_load.transactions, 64u);
  EXPECT_EQ(c.global_load.requested_bytes, 256u);
}

// Sectors 0 and 2 share one of two banks, 0 and 1 do not; a line's four take two cycles, and in one bank four.
TEST_F(load_store_unit_test, sectors_of_a_hit_in_one_bank_are_read_one_after_another) {
  const struct {
    unsigned banks;
    cycle_t latency[3], next[3];  // latency of the access to these sectors; delay of an access one cycle later
    double read_cycles = 1;
  } cases[] = {{4, {28, 28, 28}, {0, 0, 0}},
               {2, {28, 29, 29}, {0, 1, 1}},
               {1, {29, 29, 31}, {1, 1, 3}},
               {1, {29, 29, 31}, {2, 2, 5}, 1.5}};
  constexpr std::uint32_t lanes[] = {0x0000ffffu, 0x00ff00ffu, 0xffffffffu};  // sectors 0 and 1, 0 and 2, all
  for (const auto& c : cases) {
    for (unsigned k = 0; k < 3; ++k) {
      restart();
      gpu_config config;
      config.l1.latency_cycles = 28;
      config.l1.banks = c.banks;
      config.l1.read_cycles = c.read_cycles;
      sm_memory_bench b(config);
      lsu_transaction& warm = b.strided(lsu_kind::load, base, 4, 3);  // partition 0 is next in round robin
      lsu_transaction& hit = b.strided(lsu_kind::load, base, 4);
      lsu_transaction& next = b.strided(lsu_kind::load, base, 4);
      warm.read_only = hit.read_only = next.read_only = true;
      hit.global_mask = lanes[k];
      next.global_mask = 1;
      next.partition = 1;
      b.partitions.issue(warm, 10);
      b.partitions.issue(hit, 1000);
      b.partitions.issue(next, 1000);
      b.run();
      EXPECT_EQ(b.latency(hit), c.latency[k]) << c.banks << " banks, case " << k;
      // The second look-up follows one cycle after the first.
      EXPECT_EQ(b.latency(next), 28u + 1 + c.next[k]) << c.banks << " banks, case " << k;
      EXPECT_EQ(b.l1.counters.find(0)->bank_conflicts, c.latency[k] - 28);
    }
  }
}

TEST_F(load_store_unit_test, plain_global_loads_are_cached_only_if_the_configuration_says_so) {
  for (const bool cached : {false, true}) {
    gpu_config config;
    config.l1.cache_global_loads = cached;
    config.l1.banks = 4;
    restart();
    sm_memory_bench b(config);
    lsu_transaction& first = b.strided(lsu_kind::load, base, 4);
    lsu_transaction& second = b.strided(lsu_kind::load, base, 4);
    lsu_transaction& passes_by = b.strided(lsu_kind::load, base, 4);
    passes_by.bypass_l1 = true;
    lsu_transaction& local = b.strided(lsu_kind::load, base + 0x1000, 4);
    lsu_transaction& local_again = b.strided(lsu_kind::load, base + 0x1000, 4);
    local.local = local_again.local = true;
    b.partitions.issue(first, 10);
    b.partitions.issue(second, 500);
    b.partitions.issue(passes_by, 1000);
    b.partitions.issue(local, 1500);
    b.partitions.issue(local_again, 2000);
    b.run();
    EXPECT_EQ(b.latency(second), cached ? 82u : 105u);
    EXPECT_EQ(b.latency(passes_by), 105u);
    EXPECT_EQ(b.latency(local), 105u);
    EXPECT_EQ(b.latency(local_again), 82u);
    EXPECT_EQ(b.l1.counters.find(0)->bypassed, cached ? 4u : 12u);
    EXPECT_EQ(b.lsu.counters.find(0)->local_load.requests, 2u);
  }
}

TEST_F(load_store_unit_test, stores_and_reductions_are_answered_when_performed) {
  sm_memory_bench b;
  lsu_transaction& store = b.strided(lsu_kind::store, base, 128);
  for (unsigned lane = 0; lane < 32; ++lane) store.words[0][lane] = 77 + lane;
  lsu_transaction& reduction = b.strided(lsu_kind::reduction, base, 0);
  lsu_transaction& atomic = b.strided(lsu_kind::atomic, base, 0);
  for (unsigned lane = 0; lane < 32; ++lane) reduction.words[0][lane] = atomic.words[0][lane] = 1;
  b.partitions.issue(store, 10);
  b.partitions.issue(reduction, 500);
  b.partitions.issue(atomic, 1000);
  b.run();
  EXPECT_EQ(b.latency(store), 4u + 31 + 100 + 1);
  EXPECT_EQ(b.latency(reduction), 105u);
  EXPECT_EQ(b.latency(atomic), 105u);
  EXPECT_EQ(b.memory.writes, 32u);
  EXPECT_EQ(b.memory.atomics, 2u);
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(atomic.words[0][lane], 77u + 32 + lane) << "lanes in order";
  EXPECT_EQ(b.memory.get<std::uint32_t>(base), 77u + 64);
  EXPECT_EQ(b.lsu.counters.find(0)->atomic.requests, 2u);
}

TEST_F(load_store_unit_test, mixed_generic_access_waits_for_both_memories) {
  sm_memory_bench b;
  lsu_transaction& t = b.strided(lsu_kind::load, base, 4);
  t.shared_mask = 0xffff;
  t.global_mask = 0xffff0000u;
  for (unsigned lane = 0; lane < 16; ++lane) t.own_addresses[lane] = 128 * lane;
  b.partitions.issue(t, 10);
  lsu_transaction& nothing = b.make(lsu_kind::load);
  b.partitions.issue(nothing, 500);
  b.run();
  EXPECT_EQ(b.latency(t), 105u);
  EXPECT_EQ(b.shared.counters.find(0)->load_transactions, 16u);
  EXPECT_EQ(b.latency(nothing), 4u) << "no lane: over when it is taken";
}

TEST_F(load_store_unit_test, faults_name_the_address_and_send_nothing) {
  sm_memory_bench b;
  lsu_transaction& illegal = b.strided(lsu_kind::load, base, 4);
  illegal.own_addresses[17] = 0x7f12 / 4 * 4;
  lsu_transaction& end = b.strided(lsu_kind::store, base + sm_memory_bench::size - 124, 4);
  lsu_transaction& misaligned = b.strided(lsu_kind::store, base, 8, 1, 8);
  misaligned.own_addresses[3] += 4;
  lsu_transaction& atomic = b.strided(lsu_kind::atomic, 0xfffffffffffffff0ull, 0, 2);
  lsu_transaction& masked = b.strided(lsu_kind::load, base, 4, 3);
  masked.own_addresses[5] = 1;
  masked.global_mask &= ~(1u << 5);
  unsigned at = 10;
  for (lsu_transaction* t : {&illegal, &end, &misaligned, &atomic, &masked}) b.partitions.issue(*t, at += 20);
  b.run();
  EXPECT_TRUE(b.partitions.answers[&illegal].fault);
  EXPECT_EQ(illegal.fault, "illegal address 0x00007f10 (4-byte load)");
  EXPECT_EQ(illegal.fault_lane, 17u);
  EXPECT_EQ(b.latency(illegal), 4u);
  EXPECT_EQ(end.fault, "illegal address 0x00110000 (4-byte store)");
  EXPECT_EQ(end.fault_lane, 31u);
  EXPECT_EQ(misaligned.fault, "misaligned address 0x0001001c (8-byte store)");
  EXPECT_EQ(misaligned.fault_lane, 3u);
  EXPECT_EQ(atomic.fault, "illegal address 0xfffffffffffffff0 (4-byte atomic)");
  EXPECT_FALSE(b.partitions.answers[&masked].fault);
  EXPECT_EQ(b.memory.writes + b.memory.atomics, 0u);
  EXPECT_EQ(b.memory.reads, 1u);
  EXPECT_EQ(b.lsu.counters.find(0)->faults, 4u);
}

// The allocation ends in the middle of a lane's eight bytes; with a preceding access, its bounds are known.
TEST_F(load_store_unit_test, no_byte_beyond_an_allocation_is_read) {
  for (const bool known : {false, true}) {
    restart();
    sm_memory_bench b;
    b.ranges.remove(base);
    b.ranges.add(base, 32 * 8 - 4);
    lsu_transaction& inside = b.strided(lsu_kind::load, base, 4);
    lsu_transaction& beyond = b.strided(lsu_kind::load, base, 8, 0, 8);
    lsu_transaction& alone = b.strided(lsu_kind::load, base + 31 * 8, 0, 0, 8);
    lsu_transaction& to_the_end = b.strided(lsu_kind::load, base + 31 * 8, 0);
    if (known) b.partitions.issue(inside, 10);
    b.partitions.issue(beyond, 200);
    b.partitions.issue(alone, 400);
    b.partitions.issue(to_the_end, 600);
    b.run();
    EXPECT_EQ(beyond.fault, "illegal address 0x000100f8 (8-byte load)");
    EXPECT_EQ(beyond.fault_lane, 31u);
    EXPECT_EQ(alone.fault_lane, 0u);
    EXPECT_TRUE(b.partitions.answers[&alone].fault);
    EXPECT_FALSE(b.partitions.answers[&to_the_end].fault);
  }
}

TEST_F(load_store_unit_test, ranges_hold_what_lies_in_them_whole) {
  address_ranges ranges;
  ranges.add(0x1000, 0x100);
  ranges.add(0x1100, 0x100);
  address_ranges::hint h;
  for (unsigned again = 0; again < 2; ++again) {
    EXPECT_TRUE(ranges.find(0x1000, 4, h));
    EXPECT_TRUE(ranges.find(0x10fc, 4, h));
    EXPECT_FALSE(ranges.find(0x10fd, 4, h)) << "it goes on in another allocation";
    EXPECT_FALSE(ranges.find(0x0fff, 1, h));
  }
  EXPECT_TRUE(ranges.find(0x11ff, 1, h));
  EXPECT_FALSE(ranges.find(0x11ff, 2, h));
  EXPECT_FALSE(ranges.find(0x1200, 1, h));
  EXPECT_FALSE(ranges.find(~std::uint64_t{0}, 2, h));
}

TEST_F(load_store_unit_test, an_error_from_memory_is_a_fault) {
  sm_memory_bench b;
  b.memory.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  lsu_transaction& load = b.strided(lsu_kind::load, base, 128);
  lsu_transaction& store = b.strided(lsu_kind::store, base, 4, 1);
  lsu_transaction& cached = b.strided(lsu_kind::load, base + 0x400, 4, 2);
  cached.read_only = true;
  for (lsu_transaction* t : {&load, &store, &cached}) b.partitions.issue(*t, 10);
  b.run();
  for (lsu_transaction* t : {&load, &store, &cached}) EXPECT_TRUE(b.partitions.answers[t].fault);
  EXPECT_EQ(cached.fault, "the memory answered with TLM_ADDRESS_ERROR_RESPONSE in the line at 0x00010400");
}

TEST_F(load_store_unit_test, throttled_while_the_memory_accepts_nothing) {
  gpu_config config;
  config.l1.miss_queue_entries = 2;
  sm_memory_bench b(config);
  b.memory.answer = fake_memory::style::end_req_by_call;
  b.memory.hold = true;
  lsu_transaction& store = b.strided(lsu_kind::store, base, 128);
  lsu_transaction& shared = b.on_shared(lsu_kind::load, 4, 1);
  lsu_transaction& second = b.strided(lsu_kind::store, base + 0x4000, 4, 2);
  b.partitions.issue(store, 10);
  b.partitions.issue(shared, 50);
  b.partitions.issue(second, 60);
  sc_core::sc_start(1, sc_core::SC_US);
  // One line at the port, two in the miss queue; the fourth is rejected in cycle 17.
  ASSERT_EQ(b.partitions.throttle.size(), 1u);
  EXPECT_EQ(b.partitions.throttle[0], std::make_pair(cycle_t{17}, true));
  EXPECT_EQ(b.latency(shared), 23u) << "shared memory is not held up";
  EXPECT_EQ(b.latency(second), never);
  const std::uint64_t calls = b.clock.calls();
  sc_core::sc_start(1, sc_core::SC_US);
  EXPECT_EQ(b.clock.calls(), calls) << "no unit is called while nothing can move";
  b.memory.let_go();
  b.run();
  ASSERT_GE(b.partitions.throttle.size(), 2u);
  for (std::size_t k = 0; k < b.partitions.throttle.size(); ++k) EXPECT_EQ(b.partitions.throttle[k].second, k % 2 == 0);
  EXPECT_FALSE(b.lsu.throttled());
  EXPECT_EQ(b.memory.writes, 33u);
}

TEST_F(load_store_unit_test, instructions_in_flight_are_bounded) {
  gpu_config config;
  config.ldst.pending_instructions = 3;
  sm_memory_bench b(config);
  std::vector<lsu_transaction*> all;
  for (unsigned k = 0; k < 7; ++k) {
    all.push_back(&b.strided(lsu_kind::load, base + 128 * k, 4, k % 4));
    b.partitions.issue(*all.back(), 10);
  }
  b.run();
  const cycle_t expected[] = {115, 116, 117, 216, 217, 218, 317};
  for (unsigned k = 0; k < 7; ++k) EXPECT_EQ(b.partitions.answers[all[k]].cycle, expected[k]) << k;
  EXPECT_FALSE(b.partitions.throttle.empty()) << "too many memory operations are outstanding";
}

TEST_F(load_store_unit_test, refuses_to_be_built_without_lanes) {
  gpu_config config;
  config.ldst.lanes = 0;
  EXPECT_THROW(sm_memory_bench b(config), input_error);
}

}  // namespace load_store_unit_test
