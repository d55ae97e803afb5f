// SPDX-License-Identifier: MIT
#include <deque>
#include <random>

#include "heddle/config/error.h"
#include "heddle/memory/noc/crossbar.h"
#include "memory_bench.h"

namespace heddle::test {
namespace crossbar_test {

TEST(crossbar_test, a_freed_queue_entry_is_available_from_the_next_cycle) {
  // Otherwise the result would depend on whether a sender runs before or after the grant in the same instant.
  crossbar net({1, 1, {32}, {32}, 4, 2, 2});
  tlm::tlm_generic_payload a, b, c;
  ASSERT_TRUE(net.reserve(0, 4));
  net.push(0, 0, 8, a, 5);
  ASSERT_TRUE(net.reserve(0, 4));
  net.push(0, 0, 8, b, 5);
  EXPECT_FALSE(net.reserve(0, 5));
  net.arbitrate(5);
  EXPECT_TRUE(net.has_room(0));
  EXPECT_FALSE(net.reserve(0, 5));
  EXPECT_TRUE(net.reserve(0, 6));
  net.push(0, 0, 8, c, 7);
  EXPECT_EQ(net.due(0), 5u + 4 - 1);
  EXPECT_EQ(net.pop(0, 8), &a);
  net.check_invariants();
}

/// Reference model of the crossbar, written from its comment; it evaluates everything in every cycle.
struct plain_crossbar {
  struct packet {
    tlm::tlm_generic_payload* payload;
    cycle_t arrival;
    unsigned transfer;
    unsigned bytes;
  };
  explicit plain_crossbar(const crossbar::shape& s)
      : shape(s),
        lanes(s.inputs, std::vector<std::deque<packet>>(s.outputs)),
        input_free(s.inputs),
        output_free(s.outputs),
        turn(s.outputs),
        in_flight(s.outputs) {
    for (const auto& p : s.shared) shared_free.emplace_back(p.of_output.size());
  }
  // Bytes of packets that ports shared with others have still to move, as the time at which they will have: in 2048ths
  // of a cycle.
  bool shared_port_is_busy(unsigned output, cycle_t now) const {
    for (std::size_t n = 0; n < shape.shared.size(); ++n)
      if (shared_free[n][shape.shared[n].of_output[output]] / 2048 > now) return true;
    return false;
  }
  cycle_t move_through_shared_ports(unsigned output, unsigned bytes, cycle_t now) {
    cycle_t last = 0;
    for (std::size_t n = 0; n < shape.shared.size(); ++n) {
      cycle_t& free = shared_free[n][shape.shared[n].of_output[output]];
      free = std::max(free, now * 2048) + bytes * 2048 / shape.shared[n].rate.bytes;
      last = std::max(last, (free + 2047) / 2048);
    }
    return last;
  }
  std::vector<crossbar::grant_record> arbitrate(cycle_t now) {
    std::vector<crossbar::grant_record> granted;
    for (unsigned k = 0; k < shape.outputs; ++k) {
      const unsigned o = static_cast<unsigned>((now + k) % shape.outputs);
      if (output_free[o] > now || in_flight[o] >= shape.output_entries + shape.latency_cycles) continue;
      if (shared_port_is_busy(o, now)) continue;
      for (unsigned j = 0; j < shape.inputs; ++j) {
        const unsigned i = (turn[o] + j) % shape.inputs;
        if (lanes[i][o].empty() || lanes[i][o].front().arrival > now || input_free[i] > now) continue;
        const packet p = lanes[i][o].front();
        lanes[i][o].pop_front();
        input_free[i] = output_free[o] = now + p.transfer;
        turn[o] = (i + 1) % shape.inputs;
        ++in_flight[o];
        const cycle_t moved = std::max(now + p.transfer, move_through_shared_ports(o, p.bytes, now));
        granted.push_back({o, p.payload, moved - 1 + shape.latency_cycles - 1, 0});
        break;
      }
    }
    return granted;
  }
  crossbar::shape shape;
  std::vector<std::vector<std::deque<packet>>> lanes;
  std::vector<cycle_t> input_free, output_free;
  std::vector<unsigned> turn, in_flight;
  std::vector<std::vector<cycle_t>> shared_free;  // by kind of port and port
};

TEST(crossbar_test, grants_equal_those_of_an_exhaustive_reference) {
  std::mt19937_64 random(1);
  const auto below = [&](std::uint64_t n) { return random() % n; };
  std::uint64_t granted = 0, full = 0;
  for (const crossbar::shape& s :
       {crossbar::shape{5, 3, {32}, {32}, 3, 4, 1},
        {70, 9, {32}, {32}, 4, 2, 1},
        {3, 130, {32}, {32}, 2, 6, 2},
        {6, 8, {32}, {32}, 3, 4, 2, {{{0, 0, 0, 1, 1, 1, 2, 2}, {64}}}},
        {40, 8, {32}, {32}, 3, 4, 2, {{{0, 0, 1, 1, 2, 2, 3, 3}, {8}}, {{0, 1, 0, 1, 0, 1, 0, 1}, {128}}}},
        {1, 1, {8}, {8}, 1, 3, 1}}) {
    crossbar net(s);
    net.keep_grants();
    plain_crossbar plain(s);
    std::deque<tlm::tlm_generic_payload> payloads;
    std::vector<cycle_t> last_arrival(s.inputs, 0);
    cycle_t asked_for = 0;  // next cycle in which the crossbar must be called
    for (cycle_t now = 1; now < 6000; ++now) {
      // Outputs are popped irregularly, and senders announce packets that arrive later.
      bool popped = false;
      for (unsigned o = 0; o < s.outputs; ++o)
        while (net.due(o) <= now && below(3) == 0) {
          net.pop(o, now);
          --plain.in_flight[o];
          popped = true;
        }
      const bool busy = now / 500 % 2 == 0;
      for (unsigned i = 0; i < s.inputs && busy; ++i)
        if (below(3) == 0 && net.reserve(i, now)) {
          const cycle_t arrival = std::max(last_arrival[i], now + below(3) * below(10));
          last_arrival[i] = arrival;
          const unsigned o = static_cast<unsigned>(below(4) == 0 ? 0 : below(s.outputs));
          const unsigned bytes = static_cast<unsigned>(1 + below(5 * s.input.bytes));
          net.push(i, o, bytes, payloads.emplace_back(), arrival);
          plain.lanes[i][o].push_back({&payloads.back(), arrival, (bytes + s.input.bytes - 1) / s.input.bytes, bytes});
          asked_for = std::min(asked_for, arrival);
        }
      for (const unsigned n : plain.in_flight) full += n >= s.output_entries + s.latency_cycles;
      const auto expected = plain.arbitrate(now);
      if (popped) asked_for = now;
      if (asked_for > now) {
        EXPECT_TRUE(expected.empty()) << "cycle " << now << ": a grant was possible in a cycle without a wake-up";
        continue;
      }
      asked_for = net.arbitrate(now);
      ASSERT_EQ(expected.size(), net.granted().size()) << "cycle " << now;
      for (std::size_t k = 0; k < expected.size(); ++k) {
        EXPECT_EQ(expected[k].output, net.granted()[k].output);
        EXPECT_EQ(expected[k].payload, net.granted()[k].payload);
        EXPECT_EQ(expected[k].due, net.granted()[k].due);
      }
      granted += expected.size();
    }
    net.check_invariants();
  }
  EXPECT_GT(granted, 5000u);
  EXPECT_GT(full, 2000u) << "outputs without room";
}

/// The cycles in which packets of `bytes` that all arrive in cycle 5 at input 0 are granted, each to the output of its
/// number modulo the outputs, and those in which they are due.
struct transfers {
  std::vector<cycle_t> granted, due;
};
transfers moved(const crossbar::shape& s, unsigned packets, unsigned bytes) {
  crossbar net(s);
  net.keep_grants();
  std::deque<tlm::tlm_generic_payload> payloads(packets);
  for (unsigned k = 0; k < packets; ++k) {
    EXPECT_TRUE(net.reserve(0, 4));
    net.push(0, k % s.outputs, bytes, payloads[k], 5);
  }
  transfers p;
  for (cycle_t now = 5; now < 100; ++now) {
    for (unsigned o = 0; o < s.outputs; ++o)
      while (net.due(o) <= now) net.pop(o, now);
    net.arbitrate(now);
    for (const crossbar::grant_record& g : net.granted()) {
      p.granted.push_back(now);
      p.due.push_back(g.due);
    }
  }
  net.check_invariants();
  return p;
}

TEST(crossbar_test, ports_of_both_sides_have_their_own_widths_and_clocks) {
  using cycles = std::vector<cycle_t>;
  // 128 bytes: two cycles at the input, one at the output.
  const transfers wide = moved({1, 1, {64}, {128}, 1, 8, 8}, 3, 128);
  EXPECT_EQ(wide.granted, (cycles{5, 7, 9}));
  EXPECT_EQ(wide.due, (cycles{6, 8, 10}));
  // 128 bytes: two cycles at the input, four of 0.75 at the output.
  const transfers narrow = moved({1, 1, {64}, {32, 0.75}, 1, 8, 8}, 3, 128);
  EXPECT_EQ(narrow.granted, (cycles{5, 8, 11}));
  EXPECT_EQ(narrow.due, (cycles{7, 10, 13}));
  // 160 bytes: five of 0.75, so the port is free after 8.75, 12.5, 16.25 and 20 cycles.
  const transfers parts = moved({1, 1, {160}, {32, 0.75}, 1, 8, 8}, 5, 160);
  EXPECT_EQ(parts.granted, (cycles{5, 8, 12, 16, 20}));
  EXPECT_EQ(parts.due, (cycles{8, 12, 16, 19, 23}));
  // An input that needs 0.8 cycles a packet sends five in four cycles; an output takes one a cycle.
  EXPECT_EQ(moved({1, 2, {32, 0.8}, {32}, 1, 8, 8}, 6, 32).granted, (cycles{5, 5, 6, 7, 8, 9}));
}

// Times of ports have 32 bits: 65,535 cycles and the part of one.
TEST(crossbar_test, refuses_a_port_that_takes_longer_than_it_can_count) {
  EXPECT_EQ(moved({1, 1, {1, 1000.0}, {128}, 1, 8, 8}, 1, 65).granted, (std::vector<cycle_t>{5}));
  EXPECT_THROW(moved({1, 1, {1, 1000.0}, {128}, 1, 8, 8}, 1, 66), input_error);
  EXPECT_THROW(moved({1, 1, {128}, {32, 70000.0}, 1, 8, 8}, 1, 32), input_error);
}

}  // namespace crossbar_test
}  // namespace heddle::test
