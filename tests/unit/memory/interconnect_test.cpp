// SPDX-License-Identifier: MIT
#include "heddle/memory/noc/interconnect.h"

#include <algorithm>
#include <memory>
#include <random>
#include <set>

#include "heddle/memory/protocol/random_delay.h"
#include "memory_bench.h"

namespace heddle::test {
namespace interconnect_test {

gpu_config shape(unsigned sms, unsigned slices) {
  gpu_config c;
  c.gpu.sm_count = sms;
  c.memory.channels = slices;
  c.interconnect.latency_cycles = 20;
  c.l2.hash = choice::hash::none;
  return c;
}

/// Drivers, the interconnect, and test memories in place of slices.
struct bench {
  std::unique_ptr<clock_domain> clock;
  std::unique_ptr<clock_domain> sm_clock;  // of the drivers, if they have another one
  std::unique_ptr<interconnect> net;
  std::vector<std::unique_ptr<driver>> sm;
  std::vector<std::unique_ptr<test_memory>> slice;

  /// `order` changes the order in which the units are created, and so that of calls within an instant.
  explicit bench(const gpu_config& c, unsigned order = 0, bool two_clocks = false) {
    if (order == 1 && two_clocks) sm_clock = std::make_unique<clock_domain>("sm_clock", 1000);
    clock = std::make_unique<clock_domain>("clock", 1000);
    if (order != 1 && two_clocks) sm_clock = std::make_unique<clock_domain>("sm_clock", 1000);
    clock_domain& drivers = two_clocks ? *sm_clock : *clock;
    if (order == 0) net = std::make_unique<interconnect>("net", *clock, c);
    for (unsigned i = 0; i < c.gpu.sm_count; ++i)
      sm.push_back(std::make_unique<driver>(("sm" + std::to_string(i)).c_str(), drivers));
    if (order == 1) net = std::make_unique<interconnect>("net", *clock, c);
    for (unsigned m = 0; m < c.memory.channels; ++m)
      slice.push_back(std::make_unique<test_memory>(("slice" + std::to_string(m)).c_str(), *clock));
    for (unsigned i = 0; i < sm.size(); ++i) sm[i]->socket.bind(net->sm_socket[i]);
    for (unsigned m = 0; m < slice.size(); ++m) net->slice_socket[m].bind(slice[m]->socket);
  }
  void run(cycle_t cycles) { sc_core::sc_start(clock->time_of(cycles) - sc_core::sc_time_stamp()); }
  void check_done() {
    for (auto& d : sm) {
      EXPECT_TRUE(d->done());
      EXPECT_EQ(d->pool.in_use(), 0u);
    }
    EXPECT_TRUE(net->idle());
    net->check_invariants();
  }
};

class interconnect_test : public simulation {};

TEST_F(interconnect_test, latency_without_load_is_exact) {
  bench b(shape(2, 2));
  b.sm[0]->read(0, 0x1, 10);      // request 8 bytes: 1 cycle; response 40 of 64: 1 cycle
  b.sm[1]->read(0x100, 0xf, 50);  // response 136: 3 cycles
  b.sm[0]->write(0x180, 0, std::vector<std::uint8_t>(128, 1), 100);  // request 136 of 32: 5 cycles
  b.run(300);
  EXPECT_EQ(b.slice[0]->asked.at(0), 10u + 20);
  EXPECT_EQ(b.sm[0]->records.at(0).answered, 10u + 20 + 10 + 20);
  EXPECT_EQ(b.slice[1]->asked.at(0), 50u + 20);
  EXPECT_EQ(b.sm[1]->records.at(0).answered, 50u + 20 + 10 + 20 + 2);
  EXPECT_EQ(b.slice[1]->asked.at(1), 100u + 20 + 4);
  EXPECT_EQ(b.sm[0]->records.at(1).answered, 100u + 24 + 10 + 20);
  b.check_done();
}

TEST_F(interconnect_test, ports_limit_the_bandwidth) {
  bench b(shape(4, 2));
  b.slice[0]->latency = b.slice[1]->latency = 5;
  for (unsigned k = 0; k < 500; ++k) b.sm[0]->read(0, 0xf, 1);
  // Two SMs write to one slice: five cycles each on the output port, shared fairly.
  for (unsigned k = 0; k < 300; ++k)
    for (unsigned i : {2, 3}) b.sm[i]->write(0x100, 0, std::vector<std::uint8_t>(128, 1), 1, i);
  std::vector<std::uint64_t> order;
  for (unsigned i : {2, 3}) b.sm[i]->on_response = [&](line_payload& p) { order.push_back(p.request.token); };
  b.run(20000);
  EXPECT_EQ(b.sm[0]->records.back().answered - b.sm[0]->records.front().answered, 499u * 3);
  EXPECT_EQ(b.slice[1]->asked.back() - b.slice[1]->asked.front(), 599u * 5);
  unsigned from_two = 0;
  for (unsigned k = 0; k < 400; ++k) from_two += order[k] == 2;
  EXPECT_EQ(from_two, 200u);
  b.check_done();
}

// With a mask that travels as data a store consists of its sectors alone, and the mask if one of them is not whole.
TEST_F(interconnect_test, stores_of_parts_of_sectors_carry_their_mask) {
  payload_pool pool;
  const auto bytes = [&pool](std::initializer_list<std::pair<unsigned, unsigned>> runs, unsigned mask_bytes) {
    line_payload& p = pool.acquire();
    std::fill_n(p.line_enables(), line_bytes, std::uint8_t{0});
    for (const auto& [first, count] : runs) std::fill_n(p.line_enables() + first, count, std::uint8_t{0xff});
    p.make_write(0x1000);
    const unsigned all = interconnect::request_bytes(p, 8, mask_bytes);
    p.release();
    return all;
  };
  EXPECT_EQ(bytes({{0, 4}}, 0), 8u + 32);
  EXPECT_EQ(bytes({{0, 4}}, 32), 8u + 32 + 32);
  EXPECT_EQ(bytes({{0, 4}, {32, 32}}, 32), 8u + 64 + 32);
  EXPECT_EQ(bytes({{0, 32}, {96, 32}}, 0), 8u + 128) << "the smallest run that covers them";
  EXPECT_EQ(bytes({{0, 32}, {96, 32}}, 32), 8u + 64);
  EXPECT_EQ(bytes({{0, 128}}, 32), 8u + 128);
}

TEST_F(interconnect_test, a_full_path_applies_back_pressure_and_loses_nothing) {
  gpu_config c = shape(5, 3);
  c.interconnect.input_queue_entries = 3;
  c.interconnect.output_queue_entries = 2;
  bench b(c);
  std::mt19937_64 random(11);
  for (auto& s : b.slice) {
    s->style = answer_style::end_req_called;
    s->end_req_delay = 4;
    s->jitter = 40;
  }
  constexpr unsigned each = 20000;
  // Requests from one SM to one slice must arrive in order.
  std::vector<std::vector<std::uint64_t>> last(3, std::vector<std::uint64_t>(5, 0));
  unsigned disorder = 0;
  for (unsigned m = 0; m < 3; ++m)
    b.slice[m]->on_request = [&, m](tlm::tlm_generic_payload& p) {
      const gpu_request& r = *p.get_extension<gpu_request>();
      disorder += r.token <= last[m][r.sm];
      last[m][r.sm] = r.token;
    };
  for (unsigned i = 0; i < 5; ++i) {
    b.sm[i]->hold_percent = 20;
    b.sm[i]->random.seed(i);
    cycle_t at = 1;
    for (unsigned k = 0; k < each; ++k) {
      at += random() % 8 == 0 ? random() % 200 : 0;
      const std::uint64_t line = random() % 64 * 128;
      line_payload& p = random() % 2 == 0 ? b.sm[i]->read(line, 0xf, at, k + 1)
                                          : b.sm[i]->write(line, 0, std::vector<std::uint8_t>(32, 1), at, k + 1);
      p.request.sm = i;
    }
  }
  std::vector<std::set<std::uint64_t>> answered(5);
  for (unsigned i = 0; i < 5; ++i)
    b.sm[i]->on_response = [&, i](line_payload& p) { EXPECT_TRUE(answered[i].insert(p.request.token).second); };
  b.run(3000000);
  for (unsigned i = 0; i < 5; ++i) EXPECT_EQ(answered[i].size(), each);
  EXPECT_EQ(disorder, 0u);
  EXPECT_GT(b.net->held_requests(), 1000u);
  EXPECT_EQ(b.net->requests().packets_in(), 5u * each);
  b.check_done();
}

std::vector<std::vector<driver::record>> signature(unsigned order) {
  gpu_config c = shape(4, 2);
  c.interconnect.input_queue_entries = 2;
  c.interconnect.output_queue_entries = 1;
  bench b(c, order, true);
  std::mt19937_64 random(5);
  for (unsigned i = 0; i < 4; ++i) {
    b.sm[i]->hold_percent = 25;
    b.sm[i]->random.seed(i + 100);
    cycle_t at = 1;
    for (unsigned k = 0; k < 2000; ++k) {
      at += random() % 5 == 0 ? random() % 60 : 0;
      if (random() % 2 == 0) b.sm[i]->read(random() % 32 * 128, 0xf, at, k);
      else b.sm[i]->write(random() % 32 * 128, 0, std::vector<std::uint8_t>(64, 1), at, k);
    }
  }
  b.run(300000);
  b.check_done();
  std::vector<std::vector<driver::record>> all;
  for (auto& d : b.sm) all.push_back(d->records);
  return all;
}

TEST_F(interconnect_test, results_do_not_depend_on_the_order_of_processes) {
  const auto first = signature(0);
  TearDown();
  SetUp();
  const auto second = signature(1);
  ASSERT_EQ(first.size(), 4u);
  for (unsigned i = 0; i < 4; ++i) {
    ASSERT_EQ(first[i].size(), 2000u);
    EXPECT_TRUE(first[i] == second[i]) << "SM " << i;
  }
}

TEST_F(interconnect_test, debug_transport_goes_to_the_owner_of_each_byte) {
  bench b(shape(1, 3));
  std::vector<std::uint8_t> out(2000);
  for (unsigned i = 0; i < out.size(); ++i) out[i] = static_cast<std::uint8_t>(i * 7);
  tlm::tlm_generic_payload p;
  p.set_command(tlm::TLM_WRITE_COMMAND);
  p.set_address(100);
  p.set_data_ptr(out.data());
  p.set_data_length(2000);
  EXPECT_EQ(b.sm[0]->socket->transport_dbg(p), 2000u);
  for (unsigned i = 0; i < 2000; ++i) EXPECT_EQ(b.slice[(100 + i) / 256 % 3]->bytes.at(100 + i), out[i]);
  std::vector<std::uint8_t> in(2000);
  p.set_command(tlm::TLM_READ_COMMAND);
  p.set_data_ptr(in.data());
  EXPECT_EQ(b.sm[0]->socket->transport_dbg(p), 2000u);
  EXPECT_EQ(in, out);
}

// A transaction passes through two networks in a row; each finds its own return route and does not affect the other's.
TEST_F(interconnect_test, two_in_a_row_carry_the_same_transactions) {
  clock_domain clock("clock", 1000);
  const gpu_config c = shape(2, 2);
  interconnect near("near", clock, c), far("far", clock, c);
  std::vector<std::unique_ptr<driver>> sm;
  std::vector<std::unique_ptr<test_memory>> slice;
  for (unsigned i = 0; i < 2; ++i) {
    sm.push_back(std::make_unique<driver>(("sm" + std::to_string(i)).c_str(), clock));
    slice.push_back(std::make_unique<test_memory>(("slice" + std::to_string(i)).c_str(), clock));
    sm[i]->socket.bind(near.sm_socket[i]);
    near.slice_socket[i].bind(far.sm_socket[i]);
    far.slice_socket[i].bind(slice[i]->socket);
  }
  for (unsigned k = 0; k < 100; ++k)
    for (unsigned i = 0; i < 2; ++i) {
      sm[i]->read(k % 7 * 0x80, 0xf, 1 + 3 * k);
      sm[i]->write(k % 5 * 0x80, 0, std::vector<std::uint8_t>(32, 1), 2 + 3 * k);
    }
  sc_core::sc_start(clock.time_of(10000));
  for (unsigned i = 0; i < 2; ++i) {
    EXPECT_TRUE(sm[i]->done());
    EXPECT_EQ(sm[i]->records.size(), 200u);
    EXPECT_EQ(sm[i]->pool.in_use(), 0u);
  }
  for (interconnect* net : {&near, &far}) {
    EXPECT_TRUE(net->idle());
    net->check_invariants();
  }
}

/// Sends payloads without Heddle's extensions, one after the other.
struct plain_initiator : sc_core::sc_module, tlm::tlm_bw_transport_if<>, tlm::tlm_mm_interface {
  tlm::tlm_initiator_socket<32> socket;
  std::uint8_t data[32] = {};
  unsigned answered = 0, freed = 0;

  explicit plain_initiator(sc_core::sc_module_name name) : sc_module(name), socket("socket"), payload_(this) {
    socket.bind(*this);
  }
  void send(std::uint64_t address) {
    payload_.acquire();
    payload_.set_command(tlm::TLM_READ_COMMAND);
    payload_.set_address(address);
    payload_.set_data_ptr(data);
    payload_.set_data_length(sizeof data);
    payload_.set_streaming_width(sizeof data);
    payload_.set_response_status(tlm::TLM_INCOMPLETE_RESPONSE);
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay;
    socket->nb_transport_fw(payload_, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time&) override {
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    answered += p.is_response_ok();
    p.release();
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  void free(tlm::tlm_generic_payload*) override { ++freed; }

 private:
  tlm::tlm_generic_payload payload_;
};

TEST_F(interconnect_test, payloads_of_other_initiators_are_returned_to_them) {
  clock_domain clock("clock", 1000);
  interconnect net("net", clock, shape(1, 2));
  plain_initiator initiator("initiator");
  test_memory first("first", clock), second("second", clock);
  initiator.socket.bind(net.sm_socket[0]);
  net.slice_socket[0].bind(first.socket);
  net.slice_socket[1].bind(second.socket);
  second.bytes[0x100] = 77;
  for (unsigned k = 0; k < 5; ++k) {
    sc_core::sc_start(clock.time_of(200 * (k + 1)) - sc_core::sc_time_stamp());
    initiator.send(0x100);
  }
  sc_core::sc_start(clock.time_of(2000) - sc_core::sc_time_stamp());
  EXPECT_EQ(initiator.answered, 5u);
  EXPECT_EQ(initiator.freed, 5u);
  EXPECT_EQ(initiator.data[0], 77);
  EXPECT_TRUE(net.idle());
  net.check_invariants();
}

// The first five numbers of splitmix64 with seed 1234567; its state advances by a constant step.
TEST_F(interconnect_test, random_delays_are_those_of_the_generator) {
  clock_domain clock("clock", 1000);
  const std::uint64_t numbers[] = {6457827717110365317u, 3203168211198807973u, 9817491932198370423u,
                                   4593380528125082431u, 16408922859458223821u};
  std::vector<std::unique_ptr<sc_core::sc_module>> parts;
  std::vector<std::uint64_t> came(5);
  for (unsigned k = 0; k < 5; ++k) {
    const std::string n = std::to_string(k);
    auto initiator = std::make_unique<driver>(("initiator" + n).c_str(), clock);
    auto delay = std::make_unique<random_delay>(("delay" + n).c_str(), sc_core::sc_time(1, sc_core::SC_US),
                                                1234567 + k * 0x9e3779b97f4a7c15u);
    auto memory = std::make_unique<test_memory>(("memory" + n).c_str(), clock);
    initiator->socket.bind(delay->target_socket);
    delay->initiator_socket.bind(memory->socket);
    memory->on_request = [&came, k](tlm::tlm_generic_payload&) { came[k] = sc_core::sc_time_stamp().value(); };
    initiator->read(0, 0xf, 10);
    parts.push_back(std::move(initiator));
    parts.push_back(std::move(delay));
    parts.push_back(std::move(memory));
  }
  sc_core::sc_start(clock.time_of(10000));
  for (unsigned k = 0; k < 5; ++k) EXPECT_EQ(came[k], 10000 + numbers[k] % 1000001) << k;
}

TEST_F(interconnect_test, a_run_that_is_broken_off_leaves_nothing_behind) {
  bench b(shape(2, 2));
  for (unsigned k = 0; k < 20; ++k) b.sm[k % 2]->read(k * 128, 0xf, 1);
  b.run(25);  // requests are on the wires when everything is destroyed
  EXPECT_FALSE(b.net->idle());
}

}  // namespace interconnect_test
}  // namespace heddle::test
