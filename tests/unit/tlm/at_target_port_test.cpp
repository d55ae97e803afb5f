// SPDX-License-Identifier: MIT
// The target's port of the base protocol: a unit with it, driven phase by phase.
#include "at_port_bench.h"

namespace heddle::test {
namespace at_target_port_test_cases {

using namespace at_port_bench;

class at_target_port_test : public at_port_test {};

struct target_bench {
  clock_domain clock{"clock", 1000};
  test_initiator initiator{"initiator"};
  recording_target unit{"unit", clock};
  target_bench() {
    initiator.socket.bind(unit.socket);
    sc_core::sc_start(sc_time(1, sc_core::SC_PS));
  }
};

TEST_F(at_target_port_test, a_request_is_accepted_by_return_and_answered_in_its_cycle) {
  target_bench b;
  line_payload& p = read();
  tlm::tlm_phase phase;
  EXPECT_EQ(b.initiator.send(p, tlm::BEGIN_REQ, &phase), tlm::TLM_UPDATED);
  EXPECT_EQ(phase, tlm::END_REQ);
  EXPECT_EQ(p.get_ref_count(), 2);  // the port's reference
  EXPECT_FALSE(b.unit.port.idle());
  run_to(b.clock, 20);
  ASSERT_EQ(b.initiator.calls.size(), 1u);
  EXPECT_EQ(b.initiator.calls[0].phase, tlm::BEGIN_RESP);
  EXPECT_EQ(b.initiator.calls[0].at, b.clock.time_of(6));  // it arrived in cycle 1
  EXPECT_EQ(p.get_ref_count(), 1);
  EXPECT_TRUE(b.unit.port.idle());
  EXPECT_EQ(b.unit.ended, 1u);
  p.release();
}

TEST_F(at_target_port_test, a_request_arrives_after_its_annotated_delay) {
  target_bench b;
  line_payload& p = read();
  b.initiator.send(p, tlm::BEGIN_REQ, nullptr, 3 * ns());
  run_to(b.clock, 20);
  ASSERT_EQ(b.initiator.calls.size(), 1u);
  EXPECT_EQ(b.initiator.calls[0].at, b.clock.time_of(9));
  p.release();
}

TEST_F(at_target_port_test, without_room_end_req_comes_later_by_a_call) {
  target_bench b;
  b.unit.entries = 1;
  line_payload& first = read();
  line_payload& second = read(1);
  b.initiator.send(first, tlm::BEGIN_REQ);
  EXPECT_EQ(b.initiator.send(second, tlm::BEGIN_REQ), tlm::TLM_ACCEPTED);
  EXPECT_EQ(b.unit.port.held(), &second);
  run_to(b.clock, 30);
  ASSERT_EQ(b.initiator.calls.size(), 3u);
  EXPECT_EQ(b.initiator.calls[0].phase, tlm::BEGIN_RESP);
  EXPECT_EQ(b.initiator.calls[0].p, &first);
  EXPECT_EQ(b.initiator.calls[1].phase, tlm::END_REQ);
  EXPECT_EQ(b.initiator.calls[1].p, &second);
  EXPECT_EQ(b.initiator.calls[1].at, b.clock.time_of(6));
  EXPECT_EQ(b.initiator.calls[2].p, &second);
  EXPECT_EQ(b.initiator.calls[2].at, b.clock.time_of(11));
  EXPECT_EQ(b.unit.accepted, 2u);
  EXPECT_GE(b.unit.asked_again, 1u);
  EXPECT_TRUE(b.unit.port.idle());
  first.release();
  second.release();
}

TEST_F(at_target_port_test, no_response_begins_before_the_last_has_ended) {
  target_bench b;
  b.initiator.answer = tlm::TLM_ACCEPTED;
  line_payload& first = read();
  line_payload& second = read(1);
  b.initiator.send(first, tlm::BEGIN_REQ);
  b.initiator.send(second, tlm::BEGIN_REQ);
  run_to(b.clock, 30);
  ASSERT_EQ(b.initiator.calls.size(), 1u);
  EXPECT_EQ(b.unit.port.answering(), &first);
  EXPECT_EQ(b.initiator.send(first, tlm::END_RESP, nullptr, 3 * ns()), tlm::TLM_COMPLETED);
  EXPECT_EQ(first.get_ref_count(), 1);
  run_to(b.clock, 60);
  ASSERT_EQ(b.initiator.calls.size(), 2u);
  EXPECT_EQ(b.initiator.calls[1].p, &second);
  EXPECT_EQ(b.initiator.calls[1].at, b.clock.time_of(34));  // END_RESP takes effect in cycle 33, seen at the next edge
  b.initiator.send(second, tlm::END_RESP);
  first.release();
  second.release();
}

TEST_F(at_target_port_test, end_resp_by_return_frees_the_socket_after_its_delay) {
  target_bench b;
  b.initiator.answer_delay = 4 * ns();
  line_payload& first = read();
  line_payload& second = read(1);
  b.initiator.send(first, tlm::BEGIN_REQ);
  b.initiator.send(second, tlm::BEGIN_REQ);
  run_to(b.clock, 30);
  ASSERT_EQ(b.initiator.calls.size(), 2u);
  EXPECT_EQ(b.initiator.calls[1].at - b.initiator.calls[0].at, 5 * ns());
  first.release();
  second.release();
}

TEST_F(at_target_port_test, ignorable_phases_change_nothing) {
  target_bench b;
  b.initiator.answer_phase = ignorable;  // to BEGIN_RESP: END_RESP comes later
  line_payload& p = read();
  b.initiator.send(p, tlm::BEGIN_REQ);
  EXPECT_EQ(b.initiator.send(p, ignorable), tlm::TLM_ACCEPTED);
  run_to(b.clock, 20);
  EXPECT_EQ(b.unit.port.answering(), &p);
  EXPECT_EQ(b.initiator.send(p, tlm::END_RESP), tlm::TLM_COMPLETED);
  EXPECT_TRUE(b.unit.port.idle());
  p.release();
}

TEST_F(at_target_port_test, violations_are_reported_with_socket_and_address) {
  target_bench b;
  b.unit.entries = 0;
  line_payload& p = read(2);
  line_payload& q = read(3);
  EXPECT_EQ(report_of([&] { b.initiator.send(p, tlm::END_RESP); }),
            "unit.socket: END_RESP for a transaction that has no BEGIN_RESP (address 0x100)");
  for (const auto phase : {tlm::END_REQ, tlm::BEGIN_RESP, tlm::UNINITIALIZED_PHASE})
    EXPECT_EQ(report_of([&] { b.initiator.send(p, phase); }),
              "unit.socket: a phase that the base protocol does not allow here (address 0x100)");
  b.initiator.send(p, tlm::BEGIN_REQ);
  EXPECT_EQ(report_of([&] { b.initiator.send(q, tlm::BEGIN_REQ); }),
            "unit.socket: BEGIN_REQ before END_REQ of the request before (address 0x180)");
}

TEST_F(at_target_port_test, an_answer_to_a_response_that_is_no_end_resp_is_reported) {
  target_bench b;
  b.initiator.answer_phase = tlm::BEGIN_REQ;
  line_payload& p = read(2);
  b.initiator.send(p, tlm::BEGIN_REQ);
  EXPECT_EQ(report_of([&] { b.unit.port.respond(p); }),
            "unit.socket: a phase that the base protocol does not allow here (address 0x100)");
}

TEST_F(at_target_port_test, what_a_unit_does_not_implement_is_refused) {
  target_bench b;
  line_payload& p = read();
  sc_time delay;
  b.initiator.socket->b_transport(p, delay);
  EXPECT_EQ(p.get_response_status(), tlm::TLM_COMMAND_ERROR_RESPONSE);
  EXPECT_EQ(b.initiator.socket->transport_dbg(p), 0u);
  tlm::tlm_dmi dmi;
  EXPECT_FALSE(b.initiator.socket->get_direct_mem_ptr(p, dmi));
  p.release();
}

}  // namespace at_target_port_test_cases
}  // namespace heddle::test
