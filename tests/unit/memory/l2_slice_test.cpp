// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "heddle/isa/opcode.h"
#include "heddle/tlm/port/protocol_error.h"
#include "l2_slice_bench.h"

namespace heddle::test {
namespace l2_slice_cases {

using namespace l2_slice_bench;

TEST_F(l2_slice_test, hit_is_answered_after_exactly_the_hit_latency) {
  bench b;
  b.sm.read(0x1000, 0xf, 5);
  b.sm.read(0x1000, 0xf, 100);
  b.run(300);
  ASSERT_EQ(b.sm.records.size(), 2u);
  // Miss: sent to memory when a hit would have been answered, 10 cycles there, accepted in the next cycle.
  EXPECT_EQ(b.memory.asked.at(0), 5 + hit_latency);
  EXPECT_EQ(b.sm.records[0].answered, 5 + hit_latency + 10 + 1);
  EXPECT_EQ(b.sm.records[1].answered, 100u + hit_latency);
  b.check_done();
}

// The way of code within the SM is shorter, so its time in the slice has its own value. Behind data that is not due
// yet, code waits for it.
TEST_F(l2_slice_test, code_has_a_hit_latency_of_its_own) {
  bench b(small_config(), 12);
  EXPECT_EQ(b.slice.least_response_cycles(), 11u);
  const auto read_code = [&](cycle_t at) { b.sm.read(0x1000, 0xf, at).request.what = gpu_request::kind::instruction; };
  b.sm.read(0x1000, 0xf, 5);
  read_code(100);
  b.sm.read(0x1000, 0xf, 200);
  read_code(202);
  b.run(400);
  ASSERT_EQ(b.sm.records.size(), 4u);
  EXPECT_EQ(b.sm.records[1].answered, 100u + 12);
  EXPECT_EQ(b.sm.records[3].answered, 200u + hit_latency + 1);
  b.check_done();
}

TEST_F(l2_slice_test, hits_are_limited_by_the_look_up_interval) {
  gpu_config c = small_config();
  c.l2.lookup_interval_cycles = 2;
  bench b(c);
  b.sm.read(0, 0xf, 1);
  for (unsigned i = 0; i < 50; ++i) b.sm.read(0, 0xf, 100);
  b.run(1000);
  ASSERT_EQ(b.sm.records.size(), 51u);
  EXPECT_EQ(b.sm.records[50].answered - b.sm.records[1].answered, 49 * 2u);
  b.check_done();
}

TEST_F(l2_slice_test, fetches_only_missing_sectors_in_natural_runs) {
  bench b;
  b.sm.read(0x800, 0b0110, 1);
  b.sm.read(0x800, 0b1111, 100);
  b.run(400);
  const std::vector<std::pair<std::uint64_t, unsigned>> expected = {{0x820, 32}, {0x840, 32}, {0x800, 32}, {0x860, 32}};
  EXPECT_EQ(b.memory.reads, expected);
  const l2_counters* c = b.slice.counters().find(0);
  ASSERT_NE(c, nullptr);
  EXPECT_EQ(c->read_sectors, 6u);
  EXPECT_EQ(c->read_hits, 2u);
  EXPECT_EQ(c->read_misses, 4u);
  b.check_done();
}

// A miss fetches an aligned pair of sectors: the other one hits later, is merged while it is in flight, and keeps
// bytes that were written meanwhile; one that the line has is not fetched again.
TEST_F(l2_slice_test, a_miss_also_fetches_the_missing_sector_of_its_pair) {
  gpu_config c = small_config();
  c.l2.fetch_bytes = 64;
  bench b(c);
  for (unsigned i = 0; i < 128; ++i) b.memory.bytes[0x800 + i] = static_cast<std::uint8_t>(i);
  b.memory.latency = 50;
  b.sm.read(0x800, 0b0010, 1);  // fetches the sectors 0 and 1
  b.sm.read(0x800, 0b0001, 2);  // merged
  b.sm.write(0x800, 4, {0xa1, 0xa2}, 3);
  b.sm.read(0x800, 0b0001, 200);  // hits
  b.sm.write(0x800, 96, std::vector<std::uint8_t>(32, 7), 210);
  b.sm.read(0x800, 0b0100, 300);  // the line has sector 3
  b.run(600);
  const std::vector<std::pair<std::uint64_t, unsigned>> expected = {{0x800, 64}, {0x840, 32}};
  EXPECT_EQ(b.memory.reads, expected);
  const l2_counters* k = b.slice.counters().find(0);
  EXPECT_EQ(k->fetch_bytes, 96u);
  EXPECT_EQ(k->read_sectors, 4u);
  EXPECT_EQ(k->read_misses, 2u);
  EXPECT_EQ(k->read_pending_hits, 1u);
  EXPECT_EQ(k->read_hits, 1u);
  EXPECT_EQ(b.sm.records[3].answered, 200u + hit_latency);
  const std::vector<std::uint8_t> line = b.debug_read(0x800, 128);
  for (unsigned i = 0; i < 128; ++i) EXPECT_EQ(line[i], i == 4 ? 0xa1 : i == 5 ? 0xa2 : i >= 96 ? 7 : i) << i;
  b.check_done();
}

TEST_F(l2_slice_test, requests_to_a_line_in_flight_are_merged) {
  bench b;
  b.memory.latency = 100;
  b.sm.read(0x800, 0xf, 1);
  b.sm.read(0x800, 0x3, 2);
  b.sm.read(0x800, 0xf, 3);
  b.run(400);
  EXPECT_EQ(b.memory.reads.size(), 1u);
  EXPECT_EQ(b.sm.records.size(), 3u);
  EXPECT_EQ(b.slice.counters().find(0)->read_pending_hits, 6u);
  b.check_done();
}

TEST_F(l2_slice_test, a_write_needs_no_fetch_and_its_bytes_survive_the_fill) {
  bench b;
  for (unsigned i = 0; i < 128; ++i) b.memory.bytes[0x2000 + i] = static_cast<std::uint8_t>(i);
  b.sm.write(0x2000, 4, {0xa1, 0xa2, 0xa3, 0xa4}, 1);
  b.run(60);
  EXPECT_TRUE(b.memory.reads.empty());
  std::vector<std::uint8_t> got(32);
  b.sm.on_response = [&](line_payload& p) {
    if (p.is_read()) std::memcpy(got.data(), p.line_data(), 32);
  };
  b.sm.read(0x2000, 1, 70);
  b.run(200);
  ASSERT_EQ(b.memory.reads.size(), 1u);
  for (unsigned i = 0; i < 32; ++i) EXPECT_EQ(got[i], i >= 4 && i < 8 ? 0xa1 + i - 4 : i) << i;
  b.check_done();
}

TEST_F(l2_slice_test, a_write_behind_a_waiting_read_does_not_reach_it) {
  bench b;
  b.memory.latency = 100;
  b.memory.bytes[0x2000] = 7;
  b.sm.read(0x2000, 1, 1, 1);
  b.sm.write(0x2000, 0, {9}, 2, 2);
  b.sm.read(0x2000, 1, 3, 3);
  std::map<std::uint64_t, unsigned> seen;
  b.sm.on_response = [&](line_payload& p) {
    if (p.is_read()) seen[p.request.token] = p.line_data()[0];
  };
  b.run(400);
  EXPECT_EQ(seen[1], 7u);
  EXPECT_EQ(seen[3], 9u);
  b.check_done();
}

// The order in which a set of four lines fetches lines: it is full when the first line is used again, then a fifth is
// requested.
std::vector<std::uint64_t> fetched_under(choice::replacement policy) {
  gpu_config c = small_config();
  c.l2.size_bytes = 4 * 128;
  c.l2.replacement = policy;
  bench b(c);
  cycle_t at = 0;
  for (const unsigned address : {0, 0x80, 0x100, 0x180, 0, 0x200, 0, 0x80}) b.sm.read(address, 0xf, at += 100);
  b.run(1000);
  b.check_done();
  std::vector<std::uint64_t> reads;
  for (const auto& [address, bytes] : b.memory.reads) reads.push_back(address);
  return reads;
}

TEST_F(l2_slice_test, the_least_recently_used_line_is_evicted) {
  EXPECT_EQ(fetched_under(choice::replacement::lru), (std::vector<std::uint64_t>{0, 0x80, 0x100, 0x180, 0x200, 0x80}));
}

TEST_F(l2_slice_test, the_oldest_line_is_evicted_first_in_first_out) {
  EXPECT_EQ(fetched_under(choice::replacement::fifo),
            (std::vector<std::uint64_t>{0, 0x80, 0x100, 0x180, 0x200, 0, 0x80}));
}

TEST_F(l2_slice_test, dirty_lines_are_written_back_when_evicted) {
  gpu_config c = small_config();
  c.l2.size_bytes = 4 * 128;  // one set of four ways
  bench b(c);
  b.sm.write(0, 0, std::vector<std::uint8_t>(128, 1), 1);      // whole line: one write of 128 bytes
  b.sm.write(0x100, 32, std::vector<std::uint8_t>(32, 2), 2);  // one sector
  b.sm.write(0x200, 8, {3, 3, 3, 3}, 3);                       // natural run of 4 bytes
  b.sm.write(0x300, 1, std::vector<std::uint8_t>(7, 4), 4);    // three runs: byte enables
  for (unsigned i = 0; i < 4; ++i) b.sm.read(0x1000 + i * 128, 0xf, 100 + i);
  b.run(500);
  const std::vector<std::pair<std::uint64_t, unsigned>> expected = {{0, 128}, {0x120, 32}, {0x208, 4}, {0x300, 32}};
  EXPECT_EQ(b.memory.writes, expected);
  EXPECT_EQ(b.memory.with_enables, 1u);
  const l2_counters* k = b.slice.counters().find(0);
  EXPECT_EQ(k->evictions, 4u);
  EXPECT_EQ(k->write_backs, 4u);
  EXPECT_EQ(k->write_back_bytes, 128u + 32 + 4 + 7);
  EXPECT_EQ(b.memory.bytes[0x301], 4);
  EXPECT_EQ(b.memory.bytes.count(0x300), 0u);
  b.check_done();
}

// A queue of two entries plus one per pipeline stage. A request that finds it full waits, and its entry is released
// once.
TEST_F(l2_slice_test, a_stalled_request_occupies_one_queue_entry) {
  gpu_config c = small_config();
  c.l2.queue_entries = 2;
  c.l2.lookup_interval_cycles = 4;
  bench b(c);
  b.sm.read(0, 0xf, 1);
  for (unsigned round = 0; round < 3; ++round)
    for (unsigned k = 0; k < 20; ++k) b.sm.read(0, 0xf, 200 * (round + 1));
  b.run(1000);
  ASSERT_EQ(b.sm.records.size(), 61u);
  for (unsigned round = 0; round < 3; ++round) {
    const cycle_t first = 200u * (round + 1);
    EXPECT_EQ(b.sm.records[1 + 20 * round].answered, first + hit_latency);
    for (unsigned k = 0; k < 20; ++k)
      EXPECT_EQ(b.sm.records[1 + 20 * round + k].answered, first + hit_latency + 4 * k) << round << ' ' << k;
    // One request per cycle until the queue is full, then one for each that leaves it.
    EXPECT_EQ(b.sm.records[1 + 20 * round + 5].asked, first + 5);
    EXPECT_EQ(b.sm.records[1 + 20 * round + 19].asked, b.sm.records[20 + 20 * round - 1].asked + 4);
  }
  b.check_done();
}

TEST_F(l2_slice_test, flush_writes_back_everything_and_keeps_the_lines) {
  bench b;
  for (unsigned i = 0; i < 20; ++i)
    b.sm.write(i * 128, 0, std::vector<std::uint8_t>(128, static_cast<std::uint8_t>(i + 1)), 1);
  b.run(200);
  EXPECT_TRUE(b.memory.writes.empty());
  bench::flush_end first(b.memory), second(b.memory);
  b.slice.flush(first);
  b.slice.flush(second);
  b.run(1000);
  EXPECT_EQ(first.calls + second.calls, 2u);
  EXPECT_EQ(first.writes, 20u);
  for (unsigned i = 0; i < 20; ++i) EXPECT_EQ(b.memory.bytes[i * 128 + 5], i + 1);
  EXPECT_EQ(b.memory.writes.size(), 20u);
  b.sm.read(0, 0xf, 1001);
  b.run(1100);
  EXPECT_TRUE(b.memory.reads.empty());
  b.check_done();
}

TEST_F(l2_slice_test, debug_transport_sees_dirty_lines_and_works_without_the_memory) {
  bench b;
  for (unsigned i = 0; i < 256; ++i) b.memory.bytes[i] = 0x10;
  b.sm.write(0, 120, {1, 2, 3, 4, 5, 6, 7, 8}, 1);
  b.run(100);
  std::vector<std::uint8_t> got = b.debug_read(100, 60);
  for (unsigned i = 0; i < 60; ++i) EXPECT_EQ(got[i], i >= 20 && i < 28 ? i - 19 : 0x10) << i;
  EXPECT_EQ(b.debug_write(118, {9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9}), 12u);
  EXPECT_EQ(b.debug_read(121, 1)[0], 9);
  EXPECT_EQ(b.memory.bytes[129], 9);
  b.memory.debug_offered = false;
  unsigned done = 0;
  b.debug_read(118, 10, &done);
  EXPECT_EQ(done, 10u);  // all bytes are valid in the line
  b.debug_read(110, 10, &done);
  EXPECT_EQ(done, 0u);  // its first bytes are only in memory
  EXPECT_EQ(b.debug_write(64, {5, 5}), 2u);
  EXPECT_EQ(b.debug_read(64, 2, &done)[1], 5);
  EXPECT_EQ(done, 2u);
  EXPECT_EQ(b.debug_write(0x800, {5, 5}), 0u);
}

// Evicted lines are in flight to a memory that performs writes when it responds; in each cycle some unit has their
// bytes.
TEST_F(l2_slice_test, debug_transport_sees_writes_that_the_memory_has_not_performed) {
  bench b;
  b.memory.performs_late = true;
  b.memory.latency = 150;
  const unsigned lines = 64;  // capacity of the slice
  for (unsigned i = 0; i < lines; ++i) b.sm.write(i * 128, 8, {static_cast<std::uint8_t>(i + 1), 7}, 1);
  for (unsigned i = lines; i < 2 * lines; ++i) b.sm.read(i * 128, 0xf, 300);
  bool seen_at_memory = false;
  for (cycle_t cycle = 100; cycle < 1500; ++cycle) {
    b.run(cycle);
    seen_at_memory = seen_at_memory || b.memory.bytes[8] == 1;
    for (unsigned i = 0; i < lines; ++i)
      ASSERT_EQ(b.debug_read(i * 128 + 7, 4), (std::vector<std::uint8_t>{0, static_cast<std::uint8_t>(i + 1), 7, 0}))
          << i << " in cycle " << cycle;
  }
  EXPECT_TRUE(seen_at_memory);
  EXPECT_EQ(b.memory.writes.size(), lines);
  b.run(20000);
  b.check_done();
}

TEST_F(l2_slice_test, an_error_of_the_memory_reaches_every_request_that_waits) {
  bench b;
  b.memory.status = tlm::TLM_ADDRESS_ERROR_RESPONSE;
  unsigned errors = 0;
  b.sm.on_response = [&](line_payload& p) { errors += p.get_response_status() == tlm::TLM_ADDRESS_ERROR_RESPONSE; };
  b.sm.read(0, 0xf, 1);
  b.sm.read(0, 0x1, 2);
  b.run(200);
  EXPECT_EQ(errors, 2u);
  b.check_done();
}

TEST_F(l2_slice_test, malformed_requests_get_an_error_response) {
  bench b;
  std::vector<tlm::tlm_response_status> seen;
  b.sm.on_response = [&](line_payload& p) { seen.push_back(p.get_response_status()); };
  line_payload& p = b.sm.fresh(0);
  p.make_read(0, 0xf);
  p.set_address(64);  // 128 bytes from here cross the line
  b.sm.send(p, 1);
  line_payload& q = b.sm.fresh(0);
  q.make_atomic(0);
  q.request.atomic->count = 1;
  q.request.atomic->type = static_cast<std::uint8_t>(isa::dtype::u32);
  q.request.atomic->offset[0] = 126;
  b.sm.send(q, 2);
  b.run(100);
  const std::vector<tlm::tlm_response_status> expected = {tlm::TLM_BURST_ERROR_RESPONSE,
                                                          tlm::TLM_COMMAND_ERROR_RESPONSE};
  EXPECT_EQ(seen, expected);
  b.check_done();
}

TEST_F(l2_slice_test, holds_lines_of_128_bytes_in_sectors_of_32_alone) {
  struct {
    unsigned line, sector;
  } const others[] = {{64, 32}, {128, 64}, {256, 64}};
  clock_domain clock("clock", 1000);
  for (const auto& other : others) {
    gpu_config c = small_config();
    c.l2.line_bytes = other.line;
    c.l2.sector_bytes = other.sector;
    EXPECT_THROW(l2_slice("slice", clock, c, 0, hit_latency), input_error) << other.line << " and " << other.sector;
  }
}

// Errors usually end the run; who only has them shown goes on.
TEST_F(l2_slice_test, a_response_without_a_request_is_reported_and_does_not_block_the_port) {
  bench b;
  b.sm.read(0, 1, 1);
  b.run(100);
  line_payload& other = b.sm.fresh(0);
  tlm::tlm_phase phase = tlm::BEGIN_RESP;
  sc_core::sc_time delay;
  const unsigned before = sc_core::sc_report_handler::get_count(protocol_report, sc_core::SC_ERROR);
  const sc_core::sc_actions usual =
      sc_core::sc_report_handler::set_actions(protocol_report, sc_core::SC_ERROR, sc_core::SC_DO_NOTHING);
  EXPECT_EQ(b.memory.socket->nb_transport_bw(other, phase, delay), tlm::TLM_UPDATED);
  EXPECT_EQ(phase, tlm::END_RESP);
  EXPECT_EQ(sc_core::sc_report_handler::get_count(protocol_report, sc_core::SC_ERROR), before + 1);
  sc_core::sc_report_handler::set_actions(protocol_report, sc_core::SC_ERROR, usual);
  other.release();
  b.sm.read(0x1000, 1, 110);
  b.run(300);
  EXPECT_EQ(b.sm.records.size(), 2u);
  b.check_done();
}

TEST_F(l2_slice_test, blocking_transport_moves_the_enabled_bytes) {
  bench b;
  b.run(10);
  std::uint8_t given[12], enables[12], seen[16];
  for (unsigned k = 0; k < 16; ++k) b.memory.bytes[0x1010 + k] = static_cast<std::uint8_t>(k);
  for (unsigned k = 0; k < 12; ++k) {
    given[k] = static_cast<std::uint8_t>(100 + k);
    enables[k] = k == 0 || k == 5 || k == 6 || k == 11 ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED;
  }
  tlm::tlm_generic_payload write, read;
  write.set_write();
  write.set_data_ptr(given);
  write.set_byte_enable_ptr(enables);
  write.set_byte_enable_length(sizeof enables);
  read.set_read();
  read.set_data_ptr(seen);
  write.set_data_length(sizeof given);
  read.set_data_length(sizeof seen);
  for (tlm::tlm_generic_payload* p : {&write, &read}) {
    p->set_address(0x1010);
    p->set_streaming_width(p->get_data_length());
    sc_core::sc_time delay;
    b.sm.socket->b_transport(*p, delay);
    EXPECT_EQ(p->get_response_status(), tlm::TLM_OK_RESPONSE);
    EXPECT_GT(delay, sc_core::SC_ZERO_TIME);
  }
  for (unsigned k = 0; k < 16; ++k) EXPECT_EQ(seen[k], k < 12 && enables[k] != 0 ? 100 + k : k) << k;
}

TEST_F(l2_slice_test, a_memory_that_sets_no_status_is_warned_about_once) {
  bench b;
  b.memory.sets_status = false;
  b.memory.bytes[0] = 77;
  b.sm.read(0, 1, 1);
  b.sm.read(0x100, 1, 2);
  unsigned value = 0;
  b.sm.on_response = [&](line_payload& p) {
    EXPECT_EQ(p.get_response_status(), tlm::TLM_OK_RESPONSE);
    if (p.get_address() == 0) value = p.line_data()[0];
  };
  const unsigned before = sc_core::sc_report_handler::get_count("/heddle/memory", sc_core::SC_WARNING);
  sc_core::sc_report_handler::set_actions("/heddle/memory", sc_core::SC_WARNING, sc_core::SC_DO_NOTHING);
  b.run(100);
  EXPECT_EQ(sc_core::sc_report_handler::get_count("/heddle/memory", sc_core::SC_WARNING), before + 1);
  EXPECT_EQ(value, 77u);
  b.check_done();
}

}  // namespace l2_slice_cases
}  // namespace heddle::test
