// SPDX-License-Identifier: MIT
#include "heddle/memory/protocol/protocol_monitor.h"

#include <string>

#include "heddle/memory/l2/l2_slice.h"
#include "heddle/tlm/protocol/poison.h"
#include "memory_bench.h"

namespace heddle::test {
namespace protocol_monitor_test {

using tlm::tlm_generic_payload;
using tlm::tlm_phase;
using tlm::tlm_sync_enum;

/// Both ends of the monitor, driven directly: their return values are set before a call.
struct ends : sc_core::sc_module, tlm::tlm_fw_transport_if<>, tlm::tlm_bw_transport_if<> {
  tlm::tlm_initiator_socket<32> initiator{"initiator"};
  tlm::tlm_target_socket<32> target{"target"};
  protocol_monitor monitor{"monitor"};
  tlm_sync_enum answer = tlm::TLM_ACCEPTED;
  tlm_phase answer_phase = tlm::UNINITIALIZED_PHASE;  // UNINITIALIZED_PHASE: not changed
  sc_core::sc_time answer_delay;
  bool change_delay = false;
  bool sets_status = true;

  explicit ends(sc_core::sc_module_name name) : sc_module(name) {
    initiator.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
    target.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    initiator.bind(monitor.target_socket);
    monitor.initiator_socket.bind(target);
  }

  tlm_sync_enum reply(tlm_phase& phase, sc_core::sc_time& delay) {
    if (answer_phase != tlm::UNINITIALIZED_PHASE) phase = answer_phase;
    if (change_delay) delay = answer_delay;
    return answer;
  }
  tlm_sync_enum nb_transport_fw(tlm_generic_payload&, tlm_phase& phase, sc_core::sc_time& delay) override {
    return reply(phase, delay);
  }
  tlm_sync_enum nb_transport_bw(tlm_generic_payload&, tlm_phase& phase, sc_core::sc_time& delay) override {
    return reply(phase, delay);
  }
  void b_transport(tlm_generic_payload& p, sc_core::sc_time&) override {
    if (sets_status) p.set_response_status(tlm::TLM_OK_RESPONSE);
  }
  bool get_direct_mem_ptr(tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm_generic_payload& p) override { return p.get_data_length(); }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  void forward(tlm_generic_payload& p, tlm_phase phase, unsigned ns = 0) {
    sc_core::sc_time delay(ns, sc_core::SC_NS);
    initiator->nb_transport_fw(p, phase, delay);
  }
  void backward(tlm_generic_payload& p, tlm_phase phase, unsigned ns = 0) {
    sc_core::sc_time delay(ns, sc_core::SC_NS);
    target->nb_transport_bw(p, phase, delay);
  }
  /// Sets the answer to the next calls.
  void answers(tlm_sync_enum a, tlm_phase phase = tlm::UNINITIALIZED_PHASE) {
    answer = a;
    answer_phase = phase;
  }
};

struct actors : ends {
  actors() : ends("ends") {
    // Nothing here is clocked, so that the kernel has no activity is intended.
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
  }
};

class monitor_test : public simulation {
 protected:
  /// A read that is ready to be sent.
  line_payload& read(unsigned line = 0) {
    line_payload& p = pool_.acquire();
    p.make_read(line * 128, 0xf);
    return p;
  }
  line_payload& write() {
    line_payload& p = pool_.acquire();
    std::memset(p.line_enables(), 0, line_bytes);
    std::memset(p.line_enables() + 3, 0xff, 4);
    p.make_write(0);
    return p;
  }
  /// Runs f and returns the text of the violation, which must occur.
  template <class F>
  std::string violation(F&& f) {
    try {
      f();
    } catch (const sc_core::sc_report& r) {
      EXPECT_STREQ(r.get_msg_type(), "/heddle/protocol");
      EXPECT_NE(std::string(r.get_msg()).find("monitor.target_socket"), std::string::npos);
      EXPECT_NE(std::string(r.get_msg()).find("IEEE 1666"), std::string::npos);
      return r.get_msg();
    }
    return "no violation";
  }
  template <class F>
  void expect(const char* text, F&& f) {
    const std::string found = violation(f);
    EXPECT_NE(found.find(text), std::string::npos) << found;
  }
  payload_pool pool_;
};

TEST_F(monitor_test, legal_sequences_pass) {
  actors a;
  for (unsigned i = 0; i < 3; ++i) {
    line_payload& p = read(i);  // four calls
    a.answers(tlm::TLM_ACCEPTED);
    a.forward(p, tlm::BEGIN_REQ, 5);
    a.backward(p, tlm::END_REQ, 5);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    a.backward(p, tlm::BEGIN_RESP, 7);
    a.forward(p, tlm::END_RESP, 7);
    p.release();
  }
  line_payload& p = read();  // returned phases
  a.answers(tlm::TLM_UPDATED, tlm::END_REQ);
  a.forward(p, tlm::BEGIN_REQ);
  line_payload& q = write();  // a second one in the meantime
  a.forward(q, tlm::BEGIN_REQ);
  q.set_response_status(tlm::TLM_OK_RESPONSE);
  a.answers(tlm::TLM_UPDATED, tlm::END_RESP);
  a.backward(q, tlm::BEGIN_RESP);
  p.set_response_status(tlm::TLM_ADDRESS_ERROR_RESPONSE);
  a.backward(p, tlm::BEGIN_RESP);
  p.make_read(0, 1);  // implied END_REQ, then completion at once, then BEGIN_RESP returned
  a.answers(tlm::TLM_ACCEPTED);
  a.forward(p, tlm::BEGIN_REQ);
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  a.backward(p, tlm::BEGIN_RESP);
  a.forward(p, tlm::END_RESP);
  EXPECT_EQ(a.monitor.transactions(), 6u);
  EXPECT_TRUE(a.monitor.idle());
  EXPECT_FALSE(a.monitor.violated());
}

TEST_F(monitor_test, phases_out_of_order) {
  actors a;
  expect("15.2.4", [&] { a.forward(read(), tlm::END_RESP); });
}
TEST_F(monitor_test, end_req_without_begin_req) {
  actors a;
  expect("END_REQ without", [&] { a.backward(read(), tlm::END_REQ); });
}
TEST_F(monitor_test, end_req_twice) {
  actors a;
  line_payload& p = read();
  a.forward(p, tlm::BEGIN_REQ);
  a.backward(p, tlm::END_REQ);
  expect("END_REQ without", [&] { a.backward(p, tlm::END_REQ); });
}
TEST_F(monitor_test, begin_resp_twice) {
  actors a;
  line_payload& p = read();
  a.forward(p, tlm::BEGIN_REQ);
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  a.backward(p, tlm::BEGIN_RESP);
  expect("BEGIN_RESP without", [&] { a.backward(p, tlm::BEGIN_RESP); });
}
TEST_F(monitor_test, phases_of_the_other_side) {
  actors a;
  expect("belongs to the target", [&] { a.forward(read(), tlm::BEGIN_RESP); });
}
TEST_F(monitor_test, phases_of_the_other_side_backward) {
  actors a;
  expect("belongs to the initiator", [&] { a.backward(read(), tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, request_exclusion) {
  actors a;
  a.forward(read(0), tlm::BEGIN_REQ);
  expect("15.2.6 e)", [&] { a.forward(read(1), tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, response_exclusion) {
  actors a;
  line_payload& p = read(0);
  line_payload& q = read(1);
  for (line_payload* r : {&p, &q}) {
    a.forward(*r, tlm::BEGIN_REQ);
    a.backward(*r, tlm::END_REQ);
    r->set_response_status(tlm::TLM_OK_RESPONSE);
  }
  a.backward(p, tlm::BEGIN_RESP);
  expect("15.2.6 f)", [&] { a.backward(q, tlm::BEGIN_RESP); });
}
TEST_F(monitor_test, payload_used_again_before_completion) {
  actors a;
  line_payload& p = read();
  a.forward(p, tlm::BEGIN_REQ);
  a.backward(p, tlm::END_REQ);
  expect("still outstanding", [&] { a.forward(p, tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, no_memory_manager) {
  actors a;
  tlm_generic_payload p;
  std::uint8_t byte = 0;
  p.set_data_ptr(&byte);
  p.set_data_length(1);
  p.set_streaming_width(1);
  p.set_command(tlm::TLM_READ_COMMAND);
  expect("memory manager", [&] { a.forward(p, tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, reference_count_zero) {
  if (poison::finds == poison::found::accesses) GTEST_SKIP() << "the pool's poison finds the payload before";
  actors a;
  line_payload& p = read();
  p.release();
  expect("reference count", [&] { a.forward(p, tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, data_pointer_null) {
  actors a;
  line_payload& p = read();
  p.set_data_ptr(nullptr);
  expect("14.11", [&] { a.forward(p, tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, data_length_zero) {
  actors a;
  line_payload& p = read();
  p.set_data_length(0);
  expect("14.12", [&] { a.forward(p, tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, streaming_width_zero) {
  actors a;
  line_payload& p = read();
  p.set_streaming_width(0);
  expect("14.15", [&] { a.forward(p, tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, byte_enable_length_zero) {
  actors a;
  line_payload& p = write();
  p.set_byte_enable_length(0);
  expect("14.14", [&] { a.forward(p, tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, status_set_at_begin_req) {
  actors a;
  line_payload& p = read();
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  expect("14.17", [&] { a.forward(p, tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, dmi_allowed_at_begin_req) {
  actors a;
  line_payload& p = read();
  p.set_dmi_allowed(true);
  expect("14.16", [&] { a.forward(p, tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, status_not_set_at_begin_resp) {
  actors a;
  line_payload& p = read();
  a.forward(p, tlm::BEGIN_REQ);
  expect("14.17", [&] { a.backward(p, tlm::BEGIN_RESP); });
}
TEST_F(monitor_test, status_not_set_at_completion) {
  actors a;
  a.answers(tlm::TLM_COMPLETED);
  expect("14.17", [&] { a.forward(read(), tlm::BEGIN_REQ); });
}

TEST_F(monitor_test, constant_attributes_changed) {
  const std::vector<std::pair<const char*, std::function<void(line_payload&)>>> changes = {
      {"the command was", [](line_payload& p) { p.set_command(tlm::TLM_READ_COMMAND); }},
      {"the data pointer was", [](line_payload& p) { p.set_data_ptr(p.get_data_ptr() + 1); }},
      {"the data length was", [](line_payload& p) { p.set_data_length(16); }},
      {"the streaming width was", [](line_payload& p) { p.set_streaming_width(8); }},
      {"the byte enables were", [](line_payload& p) { p.get_byte_enable_ptr()[0] ^= 0xff; }},
      {"the byte enables were", [](line_payload& p) { p.set_byte_enable_ptr(nullptr); }},
      {"the data of a write", [](line_payload& p) { p.get_data_ptr()[3] ^= 1; }},
  };
  for (const auto& [text, change] : changes) {
    TearDown();
    SetUp();
    actors a;
    line_payload& p = write();
    a.forward(p, tlm::BEGIN_REQ);
    change(p);
    expect(text, [&] { a.backward(p, tlm::END_REQ); });
    EXPECT_TRUE(a.monitor.violated());
  }
}

TEST_F(monitor_test, begin_resp_answered_by_completed) {
  for (bool allowed : {false, true}) {
    TearDown();
    SetUp();
    actors a;
    if (allowed) a.monitor.allow_completed_response();
    line_payload& p = read();
    a.forward(p, tlm::BEGIN_REQ);
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    a.answers(tlm::TLM_COMPLETED);
    expect(allowed ? "no violation" : "TLM_COMPLETED", [&] { a.backward(p, tlm::BEGIN_RESP); });
  }
}
TEST_F(monitor_test, begin_resp_answered_by_another_phase) {
  actors a;
  line_payload& p = read();
  a.forward(p, tlm::BEGIN_REQ);
  p.set_response_status(tlm::TLM_OK_RESPONSE);
  a.answers(tlm::TLM_UPDATED, tlm::END_REQ);
  expect("not END_RESP", [&] { a.backward(p, tlm::BEGIN_RESP); });
}
TEST_F(monitor_test, begin_req_answered_by_another_phase) {
  actors a;
  a.answers(tlm::TLM_UPDATED, tlm::END_RESP);
  expect("neither END_REQ nor BEGIN_RESP", [&] { a.forward(read(), tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, end_req_answered) {
  actors a;
  line_payload& p = read();
  a.forward(p, tlm::BEGIN_REQ);
  a.answers(tlm::TLM_UPDATED);
  expect("END_REQ was answered", [&] { a.backward(p, tlm::END_REQ); });
}
TEST_F(monitor_test, accepted_with_a_changed_phase) {
  actors a;
  a.answers(tlm::TLM_ACCEPTED, tlm::END_REQ);
  expect("phase was changed", [&] { a.forward(read(), tlm::BEGIN_REQ); });
}
TEST_F(monitor_test, time_decreases_between_phases) {
  actors a;
  line_payload& p = read();
  a.forward(p, tlm::BEGIN_REQ, 10);
  expect("15.2.7 c)", [&] { a.backward(p, tlm::END_REQ, 9); });
}
TEST_F(monitor_test, a_callee_shortens_the_delay) {
  actors a;
  a.answers(tlm::TLM_UPDATED, tlm::END_REQ);
  a.change_delay = true;
  a.answer_delay = sc_core::sc_time(3, sc_core::SC_NS);
  expect("15.2.7 c)", [&] { a.forward(read(), tlm::BEGIN_REQ, 4); });
}
TEST_F(monitor_test, blocking_transport_must_set_the_status) {
  actors a;
  a.sets_status = false;
  sc_core::sc_time delay;
  expect("b_transport returns", [&] { a.initiator->b_transport(read(), delay); });
}
TEST_F(monitor_test, only_the_first_violation_is_reported) {
  actors a;
  line_payload& p = read();
  expect("15.2.4", [&] { a.forward(p, tlm::END_RESP); });
  expect("no violation", [&] { a.forward(p, tlm::END_RESP); });
}

TEST_F(monitor_test, the_l2_slice_and_the_test_memory_conform_in_every_style) {
  for (unsigned s = 0; s <= static_cast<unsigned>(answer_style::mixed); ++s) {
    TearDown();
    SetUp();
    gpu_config c;
    c.memory.channels = 1;
    c.l2.size_bytes = 2048;
    c.l2.ways = 4;
    clock_domain clock("clock", 1000);
    driver sm("sm", clock);
    protocol_monitor above("above");
    l2_slice slice("slice", clock, c, 0, 20);
    protocol_monitor below("below");
    test_memory memory("memory", clock);
    sm.socket.bind(above.target_socket);
    above.initiator_socket.bind(slice.request_socket);
    slice.memory_socket.bind(below.target_socket);
    below.initiator_socket.bind(memory.socket);
    memory.style = static_cast<answer_style>(s);
    memory.jitter = 30;
    sm.hold_percent = 30;
    std::mt19937_64 random(s);
    for (unsigned i = 0; i < 3000; ++i) {
      if (random() % 2 == 0) sm.read(random() % 64 * 128, static_cast<std::uint8_t>(1 + random() % 15), 1);
      else sm.write(random() % 64 * 128, 4, std::vector<std::uint8_t>(1 + random() % 99, 1), 1);
    }
    EXPECT_NO_THROW(sc_core::sc_start(clock.time_of(500000)));
    EXPECT_EQ(above.transactions(), 3000u);
    EXPECT_TRUE(above.idle());
    EXPECT_TRUE(below.idle());
    EXPECT_GT(below.transactions(), 1000u);
  }
}

}  // namespace protocol_monitor_test
}  // namespace heddle::test
