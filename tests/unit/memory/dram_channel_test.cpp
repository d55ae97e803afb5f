// SPDX-License-Identifier: MIT
#include "heddle/memory/dram/dram_channel.h"

#include "dram_timing.h"
#include "heddle/memory/dram/fixed_memory.h"
#include "memory_bench.h"

namespace heddle::test {
namespace dram_channel_test {

template <class M>
struct bench {
  clock_domain clock{"clock", 1000};
  driver slice{"slice", clock};
  M memory;
  explicit bench(const gpu_config& c = timing()) : memory("memory", clock, c, 0) {
    slice.socket.bind(memory.request_sockets[0]);
  }
  void run(cycle_t cycles) { sc_core::sc_start(clock.time_of(cycles) - sc_core::sc_time_stamp()); }
  cycle_t latency(std::size_t i) const { return slice.records.at(i).answered - slice.records.at(i).asked; }
  cycle_t answered(std::uint64_t token) const { return answered_in(slice, token); }
  void check_done() {
    EXPECT_TRUE(slice.done());
    EXPECT_TRUE(memory.idle());
    EXPECT_EQ(slice.pool.in_use(), 0u);
    memory.check_invariants();
  }
};

class dram_test : public simulation {};

TEST_F(dram_test, banks_and_rows) {
  bench<dram_channel> b;
  for (unsigned row = 0; row < 9; ++row)
    for (unsigned bank = 0; bank < 4; ++bank) {
      EXPECT_EQ(b.memory.bank_of(at(bank, row) + 1023), bank);
      EXPECT_EQ(b.memory.row_of(at(bank, row)), row);
    }
}

TEST_F(dram_test, closed_bank_open_row_and_row_conflict) {
  bench<dram_channel> b;
  b.slice.read(at(0, 0), 1, 10);
  b.slice.read(at(0, 0) + 128, 1, 100);
  b.slice.read(at(0, 1), 1, 200);
  b.run(400);
  ASSERT_EQ(b.slice.records.size(), 3u);
  EXPECT_EQ(b.latency(0), 1u + 10 + 11 + 17 + 1);       // activate, read
  EXPECT_EQ(b.latency(1), 1u + 10 + 17 + 1);            // read
  EXPECT_EQ(b.latency(2), 1u + 10 + 13 + 11 + 17 + 1);  // precharge, activate, read
  const memory_counters* c = b.memory.counters().find(0);
  EXPECT_EQ(c->row_hits, 1u);
  EXPECT_EQ(c->row_misses, 2u);
  EXPECT_EQ(c->activates, 2u);
  EXPECT_EQ(c->read_bytes, 96u);
  EXPECT_EQ(c->busy_cycles, 3u);
  b.check_done();
}

// Two slices before the channel: a round is a block of 256 bytes of each. Both blocks lie in one row of the channel,
// and each slice gets its own answers.
TEST_F(dram_test, slices_of_a_channel_share_its_banks_and_each_gets_its_answers) {
  gpu_config c = timing();
  c.l2.slices_per_channel = 2;
  clock_domain clock("clock", 1000);
  driver first("first", clock), second("second", clock);
  dram_channel memory("memory", clock, c, 0);
  first.socket.bind(memory.socket_of_slice(0));
  second.socket.bind(memory.socket_of_slice(1));
  const address_map map(c);
  const std::uint64_t of_first = map.global_address(0, 0), of_second = map.global_address(1, 0);
  EXPECT_EQ(memory.row_of(map.channel_address(of_first)), memory.row_of(map.channel_address(of_second)));
  EXPECT_EQ(memory.bank_of(map.channel_address(of_first)), memory.bank_of(map.channel_address(of_second)));
  first.read(of_first, 1, 10);
  second.read(of_second, 1, 100);
  sc_core::sc_start(clock.time_of(300) - sc_core::sc_time_stamp());
  ASSERT_EQ(first.records.size(), 1u);
  ASSERT_EQ(second.records.size(), 1u);
  EXPECT_EQ(first.records[0].answered - first.records[0].asked, 1u + 10 + 11 + 17 + 1);  // activate, read
  EXPECT_EQ(second.records[0].answered - second.records[0].asked, 1u + 10 + 17 + 1);     // read
  EXPECT_TRUE(memory.idle());
  memory.check_invariants();
}

TEST_F(dram_test, a_line_is_four_bursts_at_the_column_interval) {
  bench<dram_channel> b;
  b.slice.read(at(0, 0), 0xf, 10);
  b.run(200);
  EXPECT_EQ(b.latency(0), 1u + 10 + 11 + 3 * 2 + 17 + 1);
  b.check_done();
}

TEST_F(dram_test, a_row_stays_open_for_t_ras_before_a_conflict_closes_it) {
  bench<dram_channel> b;
  b.slice.read(at(0, 0), 1, 10, 0);
  b.slice.read(at(0, 1), 1, 11, 1);
  b.run(300);
  // First: BEGIN_REQ 10, arrives 11, activate 16. Precharge at 16 + 40 (read to precharge is over), then the other row.
  EXPECT_EQ(b.answered(1), 16u + 40 + 13 + 11 + 17 + 1 + 5);
  b.check_done();
}

TEST_F(dram_test, activates_of_two_banks_are_t_rrd_apart_and_overlap) {
  bench<dram_channel> b;
  b.slice.read(at(0, 0), 1, 10, 0);
  b.slice.read(at(1, 0), 1, 11, 1);
  b.run(300);
  EXPECT_EQ(b.answered(0), 16u + 11 + 17 + 1 + 5);
  EXPECT_EQ(b.answered(1), 16u + 6 + 11 + 17 + 1 + 5);
  b.check_done();
}

TEST_F(dram_test, turnaround_of_the_data_bus) {
  bench<dram_channel> b;
  b.slice.read(at(0, 0), 1, 10, 0);  // opens the row
  b.slice.write(at(0, 0), 0, std::vector<std::uint8_t>(32, 1), 100, 1);
  b.slice.read(at(0, 0) + 128, 1, 101, 2);
  b.slice.write(at(0, 0) + 256, 0, std::vector<std::uint8_t>(32, 1), 102, 3);
  b.run(400);
  // Write command at 106, data 111..111, done 112; the next read would have to wait until 112 + 7 = 119, so the second
  // write (ready 108) goes first: data 113, done 114; the read at 114 + 7 = 121.
  EXPECT_EQ(b.answered(1), 106u + 5 + 1 + 5);
  EXPECT_EQ(b.answered(3), 108u + 5 + 1 + 5);
  EXPECT_EQ(b.answered(2), 121u + 17 + 1 + 5);
  b.check_done();
}

// Each cycle of the bus without data has a reason; the examples of this file once more.
TEST_F(dram_test, the_bus_has_a_reason_for_every_cycle) {
  bench<dram_channel> b;
  b.slice.read(at(0, 0), 1, 10, 0);   // opens the row; data in 43, the bus is free from 44
  b.slice.read(at(0, 0), 1, 100, 1);  // command 106: data in 123
  b.slice.write(at(0, 0) + 128, 0, std::vector<std::uint8_t>(32, 1), 101, 2);  // data in 125: one turnaround cycle
  b.slice.read(at(0, 1), 1, 102, 3);                                           // another row: precharge, activate, read
  b.run(600);
  const memory_counters* c = b.memory.counters().find(0);
  EXPECT_EQ(c->busy_cycles, 4u);
  EXPECT_EQ(c->idle_cycles, 106u + 17 - 45) << "until the second read is ready; the first has nothing before it";
  EXPECT_EQ(c->refresh_cycles, 0u);
  // After the write the bus turns around (7 cycles and the read's 17) while the row waits for t_wr, precharge and
  // activate.
  EXPECT_EQ(c->turnaround_cycles, 1u + 7 + 17);
  EXPECT_EQ(c->row_cycles, 126u + 9 + 13 + 11 + 17 - (126 + 7 + 17));
  b.check_done();
}

TEST_F(dram_test, write_data_leave_a_bubble_behind_read_data) {
  bench<dram_channel> b;
  b.slice.read(at(0, 0), 1, 10, 0);
  b.slice.read(at(0, 0), 1, 100, 1);
  b.slice.write(at(0, 0) + 128, 0, std::vector<std::uint8_t>(32, 1), 101, 2);
  b.run(400);
  // Read command 106, data in cycle 123, bus free 124; one idle cycle, write data from 125: command at 120.
  EXPECT_EQ(b.answered(2), 120u + 5 + 1 + 5);
  b.check_done();
}

TEST_F(dram_test, row_hits_overtake_and_no_one_starves) {
  bench<dram_channel> b;
  b.slice.read(at(0, 0), 1, 10, 0);
  b.slice.read(at(0, 1), 1, 100, 1);  // needs another row of the bank
  for (unsigned i = 0; i < 6; ++i) b.slice.read(at(0, 0) + 128 * i, 1, 101 + i, 2 + i);
  b.run(150);
  EXPECT_EQ(b.answered(1), 0u);
  b.run(600);
  // The conflict's precharge (possible at 106, when only the conflict is ready) was issued before the hits arrived.
  EXPECT_GT(b.answered(2), b.answered(1));
  b.check_done();
}

TEST_F(dram_test, first_ready_first_come_first_served) {
  bench<dram_channel> b;
  b.slice.read(at(0, 0), 1, 10, 0);
  // While the row must stay open (t_ras), a conflict and then hits arrive: the hits go first.
  b.slice.read(at(0, 1), 1, 11, 1);
  for (unsigned i = 0; i < 3; ++i) b.slice.read(at(0, 0) + 128 * (i + 1), 1, 12 + i, 2 + i);
  b.run(600);
  std::vector<std::uint64_t> order;
  for (const auto& r : b.slice.records) order.push_back(r.token);
  EXPECT_EQ(order, (std::vector<std::uint64_t>{0, 2, 3, 4, 1}));
  b.check_done();
}

TEST_F(dram_test, the_oldest_goes_first_when_it_has_waited_too_long) {
  for (const unsigned cycles : {512u, 100u, 0u}) {
    SetUp();  // another simulation
    gpu_config c = timing();
    c.dram.starvation_cycles = cycles;
    bench<dram_channel> b(c);
    b.slice.read(at(0, 0), 1, 10, 0);
    b.slice.read(at(0, 1), 1, 11, 1);
    for (unsigned i = 0; i < 2000; ++i) b.slice.read(at(0, 0) + 128 * (i % 8), 1, 12, 10 + i);
    b.run(20000);
    ASSERT_EQ(b.slice.records.size(), 2002u);
    if (cycles != 0) {
      EXPECT_LT(b.answered(1), 11u + cycles + 100);
      EXPECT_GT(b.answered(1), 11u + cycles);
    } else {
      EXPECT_GT(b.answered(1), 4000u) << "after all the hits";
    }
    b.check_done();
    TearDown();
  }
  SetUp();
}

TEST_F(dram_test, a_backlog_that_starves_is_still_served_at_full_rate) {
  gpu_config c = timing();
  c.dram.t_refi_cycles = 4000;
  c.dram.t_rfc_cycles = 1000;  // twice as long as a request may wait
  bench<dram_channel> b(c);
  // Rows of four banks, one after another, so that serving them one by one would cost a row cycle each.
  for (unsigned i = 0; i < 4000; ++i) b.slice.read(at(i % 4, 0) + 128 * (i / 4 % 8), 1, 3900, i);
  b.run(20000);
  ASSERT_EQ(b.slice.records.size(), 4000u);
  // One burst per two cycles: 8000, and three refreshes with the row openings that they cause.
  EXPECT_LT(b.slice.records.back().answered, 3900 + 8000 + 3 * 1200u);
  b.check_done();
}

TEST_F(dram_test, bandwidth_is_limited_by_the_column_interval) {
  bench<dram_channel> b;
  for (unsigned i = 0; i < 1000; ++i) b.slice.read(at(0, 0) + 128 * (i % 8), 0xf, 1, i);
  b.run(20000);
  ASSERT_EQ(b.slice.records.size(), 1000u);
  // Four bursts each, one per two cycles.
  EXPECT_EQ(b.slice.records.back().answered - b.slice.records.front().answered, 999 * 8u);
  EXPECT_EQ(b.memory.counters().find(0)->row_misses, 1u);
  b.check_done();
}

TEST_F(dram_test, refresh_closes_rows_and_takes_its_time) {
  gpu_config c = timing();
  c.dram.t_refi_cycles = 1000;
  c.dram.t_rfc_cycles = 50;
  bench<dram_channel> b(c);
  b.slice.read(at(0, 0), 1, 900, 0);
  b.slice.read(at(0, 0), 1, 990, 1);   // is past the controller in 996: row hit
  b.slice.read(at(0, 0), 1, 997, 2);   // ready in 1003: refresh since 1000 (precharge 13, refresh 50), then activate
  b.slice.read(at(0, 0), 1, 4500, 3);  // the channel was idle through 2000, 3000, 4000
  b.run(5000);
  EXPECT_EQ(b.answered(1), 990u + 1 + 10 + 17 + 1);
  EXPECT_EQ(b.answered(2), 1000u + 13 + 50 + 11 + 17 + 1 + 5);
  EXPECT_EQ(b.answered(3), 4500u + 1 + 10 + 11 + 17 + 1);
  EXPECT_EQ(b.memory.refreshes(), 4u);
  const memory_counters* k = b.memory.counters().find(0);
  EXPECT_EQ(k->refresh_cycles, 1013u + 50 - 1003)
      << "from the third read's readiness; while it slept no request was queued";
  EXPECT_EQ(k->row_cycles, 11u + 11) << "and then both open a row";
  b.check_done();
}

TEST_F(dram_test, random_traffic_loses_nothing_and_keeps_the_bytes) {
  gpu_config c = timing();
  c.dram.t_refi_cycles = 700;
  c.dram.t_rfc_cycles = 60;
  c.dram.queue_entries = 6;
  bench<dram_channel> b(c);
  b.slice.hold_percent = 30;
  std::mt19937_64 random(7);
  std::vector<std::uint8_t> flat(64 * 1024, 0);
  std::map<std::uint64_t, std::vector<std::uint8_t>> expected;
  cycle_t when = 1;
  const unsigned count = 20000;
  for (unsigned i = 0; i < count; ++i) {
    when += random() % 3 == 0 ? random() % 40 : 0;
    const std::uint64_t line = random() % 512 * 128;
    if (random() % 2 == 0) {
      b.slice.read(line, 0xf, when, i);
      expected[i].assign(flat.begin() + line, flat.begin() + line + 128);
    } else {
      std::vector<std::uint8_t> bytes(1 + random() % 40);
      for (auto& v : bytes) v = static_cast<std::uint8_t>(random());
      const unsigned offset = static_cast<unsigned>(random() % (128 - bytes.size()));
      b.slice.write(line, offset, bytes, when, i);
      std::copy(bytes.begin(), bytes.end(), flat.begin() + line + offset);
    }
  }
  unsigned wrong = 0;
  b.slice.on_response = [&](line_payload& p) {
    wrong += p.get_response_status() != tlm::TLM_OK_RESPONSE;
    if (p.is_read()) wrong += std::memcmp(p.line_data(), expected[p.request.token].data(), 128) != 0;
  };
  b.run(when + 1000000);
  EXPECT_EQ(b.slice.records.size(), count);
  EXPECT_EQ(wrong, 0u);
  const memory_counters* k = b.memory.counters().find(0);
  EXPECT_EQ(k->row_hits + k->row_misses, count);
  b.check_done();
}

TEST_F(dram_test, an_address_of_another_channel_is_an_error) {
  gpu_config c = timing();
  c.memory.channels = 2;
  c.l2.hash = choice::hash::none;
  bench<dram_channel> b(c);
  tlm::tlm_response_status status = tlm::TLM_INCOMPLETE_RESPONSE;
  b.slice.on_response = [&](line_payload& p) { status = p.get_response_status(); };
  b.slice.read(256, 1, 1);
  b.run(200);
  EXPECT_EQ(status, tlm::TLM_ADDRESS_ERROR_RESPONSE);
  b.check_done();
}

TEST_F(dram_test, fixed_memory_has_its_latency_and_bandwidth) {
  gpu_config c = timing();
  c.gpu.core_clock_mhz = 1000;
  c.memory.latency_cycles = 123;
  c.memory.bytes_per_cycle = 12.8;
  bench<fixed_memory> b(c);
  b.slice.read(0, 0xf, 10);
  for (unsigned i = 0; i < 1001; ++i) b.slice.read(128 * i, 0xf, 1000);
  b.run(20000);
  ASSERT_EQ(b.slice.records.size(), 1002u);
  EXPECT_EQ(b.latency(0), 123u);
  EXPECT_EQ(b.latency(1), 123u);
  EXPECT_EQ(b.slice.records[1001].answered - b.slice.records[1].answered, 10000u);
  b.check_done();
}

TEST_F(dram_test, debug_and_blocking_transport_reach_the_bytes) {
  bench<dram_channel> b;
  std::uint8_t bytes[4] = {1, 2, 3, 4};
  tlm::tlm_generic_payload p;
  p.set_command(tlm::TLM_WRITE_COMMAND);
  p.set_address(0x1fe);
  p.set_data_ptr(bytes);
  p.set_data_length(4);
  p.set_streaming_width(4);
  EXPECT_EQ(b.slice.socket->transport_dbg(p), 4u);
  std::uint8_t back[4] = {};
  p.set_command(tlm::TLM_READ_COMMAND);
  p.set_data_ptr(back);
  p.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
  sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
  b.slice.socket->b_transport(p, delay);
  EXPECT_EQ(std::memcmp(bytes, back, 4), 0);
  EXPECT_EQ(delay, b.clock.time_of(1 + 10 + 11 + 2 + 17 + 1));  // two bursts
  EXPECT_TRUE(p.is_response_ok());
}

TEST(byte_store, allocates_a_page_of_4096_bytes_at_the_first_byte_that_is_not_zero) {
  byte_store bytes;
  const std::vector<std::uint8_t> zeros(8192, 0);
  bytes.write(0x5000, zeros.data(), zeros.size());
  EXPECT_EQ(0u, bytes.allocated_bytes());
  const std::uint8_t two[] = {1, 2};
  bytes.write(0x5fff, two, 2);  // the last byte of a page and the first of the next one
  EXPECT_EQ(8192u, bytes.allocated_bytes());
  bytes.write(0x6abc, two, 2);
  EXPECT_EQ(8192u, bytes.allocated_bytes());
  bytes.write(std::uint64_t{1} << 40, two, 1);
  EXPECT_EQ(12288u, bytes.allocated_bytes());
}

TEST(byte_store, has_zeros_in_all_that_was_not_written_of_its_pages) {
  std::vector<std::uint8_t> all(byte_store::page_bytes), expected(byte_store::page_bytes);
  for (int again = 0; again < 2; ++again) {  // the second time in memory of the host that was written before
    byte_store bytes;
    for (unsigned page = 0; page < 2048; ++page) {  // 8 MiB
      const std::uint64_t at = page * byte_store::page_bytes;
      const std::vector<std::uint8_t> ones(byte_store::page_bytes, 1);
      const unsigned offset = page % byte_store::page_bytes;
      bytes.write(at + offset, ones.data(), 1);
      bytes.read(at, all.data(), all.size());
      expected.assign(expected.size(), 0);
      expected[offset] = 1;
      ASSERT_EQ(all, expected) << "page " << page;
      bytes.write(at, ones.data(), ones.size());
    }
  }
}

}  // namespace dram_channel_test
}  // namespace heddle::test
