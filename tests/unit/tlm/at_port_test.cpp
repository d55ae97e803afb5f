// SPDX-License-Identifier: MIT
// Both ports of the base protocol against each other, in cycles and at any time; the bases of the other protocols; the
// example of docs/library/integration.md.
#include <fstream>
#include <iterator>

#include "at_port_bench.h"
#include "heddle/memory/protocol/protocol_monitor.h"
#include "heddle/tlm/kernel/event_clock.h"
#include "heddle/tlm/kernel/has_process.h"
#include "heddle/tlm/port/at_initiator_port.h"
#include "heddle/tlm/port/blocking_initiator.h"
#include "heddle/tlm/port/blocking_target.h"
#include "heddle/tlm/port/phase_target.h"
#include "heddle/tlm/protocol/on_chip_protocol.h"

namespace heddle::test {
namespace at_port_test_cases {

using namespace at_port_bench;

/// Sends requests as fast as its port allows, and takes responses late at random.
struct sender : sc_core::sc_module, clocked, at_initiator_unit {
  tlm::tlm_initiator_socket<32> socket{"socket"};
  clock_port clock;
  at_initiator_port<sender> port;
  payload_pool pool;
  std::mt19937 random{5};
  unsigned left = 2000, answered = 0, put_off = 0;
  cycle_t end_at = never;

  sender(sc_core::sc_module_name name, clock_domain& domain)
      : sc_module(name), clock(domain, *this), port(socket, clock, *this) {
    clock.wake_at(1);
  }
  bool take_response(payload& p, cycle_t arrival) {
    ++answered;
    clock.wake_at(arrival);
    if (random() % 3 != 0) {
      p.release();
      return true;
    }
    ++put_off;
    end_at = arrival + random() % 7;
    clock.wake_at(end_at);
    return false;
  }
  void request_ended(cycle_t free_at) { clock.wake_at(free_at); }
  void on_cycle(cycle_t cycle) override {
    if (port.responding() != nullptr && end_at <= cycle) {
      payload& p = *port.responding();
      port.end_response();
      p.release();
    }
    if (left != 0 && port.may_send(cycle)) {
      --left;
      line_payload& p = pool.acquire();
      p.make_read(left * std::uint64_t{line_bytes}, 0xf);
      port.send(p);
    }
    if (left != 0 && !port.waits()) clock.wake_at(std::max(port.free_at(), cycle + 1));
  }
};

class at_port_pair : public at_port_test, public ::testing::WithParamInterface<bool> {};

TEST_P(at_port_pair, obeys_the_protocol_between_two_clocks) {
  clock_domain fast("fast", 1300), slow("slow", 700);
  const bool slow_target = GetParam();
  sender source("source", slow_target ? fast : slow);
  protocol_monitor monitor("monitor");
  recording_target unit("unit", slow_target ? slow : fast);
  source.socket.bind(monitor.target_socket);
  monitor.initiator_socket.bind(unit.socket);
  sc_core::sc_start();
  EXPECT_EQ(source.answered, 2000u);
  EXPECT_GT(source.put_off, 500u);
  EXPECT_GT(unit.asked_again, 100u);
  EXPECT_EQ(source.pool.in_use(), 0u);
  EXPECT_TRUE(unit.port.idle());
  EXPECT_EQ(unit.accepted, 2000u);
  EXPECT_EQ(monitor.transactions(), 2000u);
  EXPECT_FALSE(monitor.violated());
}
INSTANTIATE_TEST_SUITE_P(at_port, at_port_pair, ::testing::Bool());

/// A unit that works at any time, between a client and an answerer: it holds each request for its own time.
struct relay : sc_core::sc_module, at_target_unit, at_initiator_unit {
  tlm::tlm_target_socket<32> target_socket{"target_socket"};
  tlm::tlm_initiator_socket<32> initiator_socket{"initiator_socket"};
  sc_core::sc_event wake;
  event_clock clock{wake};
  at_target_port<relay, event_clock> target{target_socket, clock, *this};
  at_initiator_port<relay, event_clock> initiator{initiator_socket, clock, *this};

  explicit relay(sc_core::sc_module_name name) : sc_module(name) {
    HEDDLE_HAS_PROCESS(relay);
    SC_METHOD(work);
    sensitive << wake;
    dont_initialize();
  }
  bool accept(payload&, const sc_time&, bool again) { return again; }
  bool take_response(payload& p, const sc_time& at) {
    target.answer(p, at);
    clock.wake_at(at);
    return true;
  }
  void work() {
    const sc_time now = sc_core::sc_time_stamp();
    if (payload* const p = target.held(); p != nullptr && initiator.may_send(now) && target.admit(now))
      initiator.send(*p);
    target.send_response(now);
  }
};

TEST_F(at_port_test, a_unit_may_work_at_any_time) {
  test_initiator front("front");
  relay between("between");
  answerer back("back");
  front.socket.bind(between.target_socket);
  between.initiator_socket.bind(back.socket);
  sc_core::sc_start(sc_time(1, sc_core::SC_PS));
  back.answer = tlm::TLM_COMPLETED;
  back.answer_delay = 2.5 * ns();
  line_payload& p = read();
  EXPECT_EQ(front.send(p, tlm::BEGIN_REQ, nullptr, 1.5 * ns()), tlm::TLM_ACCEPTED);
  sc_core::sc_start(20 * ns());
  ASSERT_EQ(front.calls.size(), 2u);
  EXPECT_EQ(front.calls[0].phase, tlm::END_REQ);
  EXPECT_EQ(front.calls[0].at, 1.501 * ns());
  EXPECT_EQ(front.calls[1].phase, tlm::BEGIN_RESP);
  EXPECT_EQ(front.calls[1].at, 4.001 * ns());
  EXPECT_TRUE(between.target.idle());
  p.release();
}

struct blocking_unit : sc_core::sc_module, blocking_target<on_chip_protocol_types> {
  tlm::tlm_target_socket<32, on_chip_protocol_types> socket{"socket"};
  explicit blocking_unit(sc_core::sc_module_name name) : sc_module(name) { socket.bind(*this); }
  void b_transport(on_chip_access& a, sc_time&) override { ++a.passes; }
};

struct blocking_client : sc_core::sc_module {
  tlm::tlm_initiator_socket<32, on_chip_protocol_types> socket{"socket"};
  blocking_initiator<on_chip_protocol_types> backward;
  explicit blocking_client(sc_core::sc_module_name name) : sc_module(name) { socket.bind(backward); }
};

TEST_F(at_port_test, a_blocking_target_completes_a_request_in_its_call) {
  blocking_client client("client");
  blocking_unit unit("unit");
  client.socket.bind(unit.socket);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  on_chip_access a;
  sc_time delay;
  tlm::tlm_phase f = tlm::BEGIN_REQ;
  EXPECT_EQ(client.socket->nb_transport_fw(a, f, delay), tlm::TLM_COMPLETED);
  f = tlm::END_RESP;
  EXPECT_EQ(client.socket->nb_transport_fw(a, f, delay), tlm::TLM_ACCEPTED);
  EXPECT_EQ(a.passes, 1u);
  EXPECT_EQ(client.socket->transport_dbg(a), 0u);
  f = tlm::BEGIN_RESP;
  EXPECT_EQ(report_of([&] { client.backward.nb_transport_bw(a, f, delay); }),
            "a non-blocking answer to an initiator of blocking transport");
}

struct phase_unit : sc_core::sc_module, phase_target<on_chip_protocol_types> {
  explicit phase_unit(sc_core::sc_module_name name) : sc_module(name) {}
  tlm::tlm_sync_enum nb_transport_fw(on_chip_access&, tlm::tlm_phase&, sc_time&) override { return tlm::TLM_ACCEPTED; }
};

TEST_F(at_port_test, a_target_of_phases_refuses_blocking_transport) {
  phase_unit unit("unit");
  on_chip_access a;
  sc_time delay;
  EXPECT_EQ(report_of([&] { unit.b_transport(a, delay); }),
            "blocking transport to a target whose protocol has phases only");
}

std::string text_of(const char* file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// testbench/parts/own_l2.h is compiled and used by l1_alone and sm_alone.
TEST(at_port_documentation, shows_the_l2_of_the_parts) {
  const std::string text = text_of(HEDDLE_SOURCE "/testbench/parts/own_l2.h");
  const std::size_t begin = text.find("class own_l2"), end = text.find("  void perform(");
  ASSERT_NE(begin, std::string::npos);
  ASSERT_NE(end, std::string::npos);
  EXPECT_NE(text_of(HEDDLE_SOURCE "/docs/library/integration.md").find("```cpp\n" + text.substr(begin, end - begin)),
            std::string::npos);
}

}  // namespace at_port_test_cases
}  // namespace heddle::test
