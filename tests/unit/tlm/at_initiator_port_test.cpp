// SPDX-License-Identifier: MIT
// The initiator's port of the base protocol: a unit with it, answered phase by phase.
#include "heddle/tlm/port/at_initiator_port.h"

#include "at_port_bench.h"

namespace heddle::test {
namespace at_initiator_port_test_cases {

using namespace at_port_bench;

/// An initiator that records what its port tells it.
struct client : sc_core::sc_module, clocked, at_initiator_unit {
  struct taken {
    payload* p;
    cycle_t arrival;
  };
  tlm::tlm_initiator_socket<32> socket{"socket"};
  clock_port clock;
  at_initiator_port<client> port;
  std::vector<taken> responses;
  std::vector<cycle_t> ends;
  bool has_room = true;

  client(sc_core::sc_module_name name, clock_domain& domain)
      : sc_module(name), clock(domain, *this), port(socket, clock, *this) {}
  void request_ended(cycle_t free_at) { ends.push_back(free_at); }
  bool take_response(payload& p, cycle_t arrival) {
    responses.push_back({&p, arrival});
    return has_room;
  }
  void on_cycle(cycle_t) override {}
};

struct initiator_bench {
  clock_domain clock{"clock", 1000};
  client unit{"unit", clock};
  answerer target{"target"};
  initiator_bench() {
    unit.socket.bind(target.socket);
    sc_core::sc_start(sc_time(1, sc_core::SC_PS));
  }
  void answers(tlm::tlm_sync_enum answer, tlm::tlm_phase phase, unsigned delay = 0) {
    target.answer = answer;
    target.answer_phase = phase;
    target.answer_delay = delay * ns();
  }
};

class at_initiator_port_test : public at_port_test {};

TEST_F(at_initiator_port_test, end_req_by_return_frees_the_socket_after_its_delay) {
  initiator_bench b;
  line_payload& p = read();
  b.answers(tlm::TLM_UPDATED, tlm::END_REQ, 3);
  ASSERT_TRUE(b.unit.port.may_send(1));
  b.unit.port.send(p);
  EXPECT_FALSE(b.unit.port.waits());
  EXPECT_EQ(b.unit.port.free_at(), 4u);
  EXPECT_FALSE(b.unit.port.may_send(3));
  EXPECT_TRUE(b.unit.port.may_send(4));
  EXPECT_TRUE(b.unit.ends.empty());  // told only if it comes by a call
  EXPECT_TRUE(b.unit.responses.empty());
  p.release();
}

TEST_F(at_initiator_port_test, end_req_and_the_response_come_by_calls) {
  initiator_bench b;
  line_payload& p = read();
  b.unit.port.send(p);
  EXPECT_TRUE(b.unit.port.waits());
  EXPECT_EQ(b.unit.port.requesting(), &p);
  EXPECT_EQ(b.target.send(p, tlm::END_REQ, nullptr, 2 * ns()), tlm::TLM_ACCEPTED);
  EXPECT_EQ(b.unit.ends, std::vector<cycle_t>{3});
  EXPECT_TRUE(b.unit.port.may_send(3));
  tlm::tlm_phase phase;
  EXPECT_EQ(b.target.send(p, tlm::BEGIN_RESP, &phase, 6 * ns()), tlm::TLM_UPDATED);
  EXPECT_EQ(phase, tlm::END_RESP);
  ASSERT_EQ(b.unit.responses.size(), 1u);
  EXPECT_EQ(b.unit.responses[0].p, &p);
  EXPECT_EQ(b.unit.responses[0].arrival, 7u);
  EXPECT_EQ(b.unit.port.responding(), nullptr);
  p.release();
}

TEST_F(at_initiator_port_test, a_response_implies_end_req) {
  initiator_bench b;
  for (const bool by_call : {true, false}) {
    line_payload& p = read();
    b.target.phases.clear();
    if (!by_call) b.answers(tlm::TLM_UPDATED, tlm::BEGIN_RESP, 5);
    b.unit.port.send(p);
    if (by_call) b.target.send(p, tlm::BEGIN_RESP, nullptr, 5 * ns());
    EXPECT_FALSE(b.unit.port.waits());
    EXPECT_EQ(b.unit.port.free_at(), 6u);
    ASSERT_EQ(b.unit.responses.size(), by_call ? 1u : 2u);
    EXPECT_EQ(b.unit.responses.back().arrival, 6u);
    // To a response by return, END_RESP is a call.
    EXPECT_EQ(b.target.phases.size(), by_call ? 1u : 2u);
    EXPECT_EQ(b.target.phases.back(), unsigned{by_call ? tlm::BEGIN_REQ : tlm::END_RESP});
    p.release();
  }
}

TEST_F(at_initiator_port_test, completion_by_return_is_a_response_without_end_resp) {
  initiator_bench b;
  line_payload& p = read();
  b.answers(tlm::TLM_COMPLETED, tlm::UNINITIALIZED_PHASE, 4);
  b.unit.port.send(p);
  ASSERT_EQ(b.unit.responses.size(), 1u);
  EXPECT_EQ(b.unit.responses[0].arrival, 5u);
  EXPECT_EQ(b.unit.port.free_at(), 5u);
  EXPECT_EQ(b.target.phases.size(), 1u);
  p.release();
}

TEST_F(at_initiator_port_test, a_response_without_room_gets_its_end_resp_later) {
  initiator_bench b;
  b.unit.has_room = false;
  line_payload& p = read(2);
  line_payload& q = read(3);
  b.answers(tlm::TLM_UPDATED, tlm::END_REQ);
  b.unit.port.send(p);
  b.unit.port.send(q);
  EXPECT_EQ(b.target.send(p, tlm::BEGIN_RESP), tlm::TLM_ACCEPTED);
  EXPECT_EQ(b.unit.port.responding(), &p);
  EXPECT_EQ(report_of([&] { b.target.send(q, tlm::BEGIN_RESP); }),
            "unit.socket: BEGIN_RESP before END_RESP of the response before (address 0x180)");
  EXPECT_EQ(b.target.phases.size(), 2u);
  b.unit.port.end_response();
  EXPECT_EQ(b.target.phases.back(), unsigned{tlm::END_RESP});
  EXPECT_EQ(b.unit.port.responding(), nullptr);
  p.release();
  q.release();
}

TEST_F(at_initiator_port_test, ignorable_phases_change_nothing) {
  initiator_bench b;
  line_payload& p = read();
  b.answers(tlm::TLM_UPDATED, ignorable, 3);
  b.unit.port.send(p);
  EXPECT_TRUE(b.unit.port.waits());
  EXPECT_EQ(b.target.send(p, ignorable), tlm::TLM_ACCEPTED);
  EXPECT_TRUE(b.unit.port.waits());
  EXPECT_TRUE(b.unit.responses.empty());
  b.target.send(p, tlm::BEGIN_RESP);
  p.release();
}

TEST_F(at_initiator_port_test, violations_are_reported_with_socket_and_address) {
  initiator_bench b;
  line_payload& p = read(2);
  EXPECT_EQ(report_of([&] { b.target.send(p, tlm::END_REQ); }),
            "unit.socket: END_REQ for a request that does not wait for it (address 0x100)");
  for (const auto phase : {tlm::BEGIN_REQ, tlm::END_RESP, tlm::UNINITIALIZED_PHASE})
    EXPECT_EQ(report_of([&] { b.target.send(p, phase); }),
              "unit.socket: a phase that the base protocol does not allow here (address 0x100)");
  b.answers(tlm::TLM_UPDATED, tlm::BEGIN_REQ);
  EXPECT_EQ(report_of([&] { b.unit.port.send(p); }),
            "unit.socket: a phase that the base protocol does not allow here (address 0x100)");
  p.release();
}

}  // namespace at_initiator_port_test_cases
}  // namespace heddle::test
