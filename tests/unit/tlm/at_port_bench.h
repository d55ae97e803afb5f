// SPDX-License-Identifier: MIT
// Common parts of the tests of ports: units and the other sides of their sockets, which are driven phase by phase.
#pragma once

#include <string>
#include <vector>

#include "heddle/tlm/port/at_target_port.h"
#include "tests/unit/memory/memory_bench.h"

namespace heddle::test {
namespace at_port_bench {

using payload = tlm::tlm_generic_payload;
using sc_core::sc_time;

DECLARE_EXTENDED_PHASE(ignorable);

inline const sc_time& ns() {
  static const sc_time one(1, sc_core::SC_NS);
  return one;
}

/// A target with room for `entries` requests, each of which is answered `latency` cycles after its arrival.
struct recording_target : sc_core::sc_module, clocked, at_target_unit {
  tlm::tlm_target_socket<32> socket{"socket"};
  clock_port clock;
  at_target_port<recording_target> port;
  std::size_t entries = 2;
  cycle_t latency = 5;
  unsigned accepted = 0, asked_again = 0, ended = 0;

  recording_target(sc_core::sc_module_name name, clock_domain& domain)
      : sc_module(name), clock(domain, *this), port(socket, clock, *this) {}
  bool accept(payload& p, cycle_t arrival, bool again) {
    asked_again += again;
    if (port.responses_queued() >= entries) return false;
    ++accepted;
    p.set_response_status(tlm::TLM_OK_RESPONSE);
    port.answer(p, arrival + latency);
    clock.wake_at(arrival + latency);
    return true;
  }
  void response_ended(payload&) { ++ended; }
  void on_cycle(cycle_t cycle) override {
    port.send_response(cycle);
    port.admit(cycle);
    if (port.response_waits()) clock.wake_at(std::max(port.response_time(), cycle + 1));
  }
};

/// The initiator of recording_target: records the calls, and answers BEGIN_RESP as configured.
struct test_initiator : sc_core::sc_module, tlm::tlm_bw_transport_if<> {
  struct call {
    payload* p;
    tlm::tlm_phase phase;
    sc_time at;
  };
  tlm::tlm_initiator_socket<32> socket{"socket"};
  std::vector<call> calls;
  tlm::tlm_sync_enum answer = tlm::TLM_UPDATED;
  tlm::tlm_phase answer_phase = tlm::END_RESP;
  sc_time answer_delay;

  explicit test_initiator(sc_core::sc_module_name name) : sc_module(name) { socket.bind(*this); }
  tlm::tlm_sync_enum nb_transport_bw(payload& p, tlm::tlm_phase& phase, sc_time& delay) override {
    calls.push_back({&p, phase, sc_core::sc_time_stamp() + delay});
    if (phase != tlm::BEGIN_RESP) return tlm::TLM_ACCEPTED;
    if (answer == tlm::TLM_UPDATED) phase = answer_phase;
    delay += answer_delay;
    return answer;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
  tlm::tlm_sync_enum send(payload& p, tlm::tlm_phase phase, tlm::tlm_phase* got = nullptr, sc_time delay = {}) {
    const tlm::tlm_sync_enum s = socket->nb_transport_fw(p, phase, delay);
    if (got != nullptr) *got = phase;
    return s;
  }
  std::vector<call> of(tlm::tlm_phase_enum phase) const {
    std::vector<call> some;
    for (const call& c : calls)
      if (c.phase == phase) some.push_back(c);
    return some;
  }
};

/// The target of an initiator: answers as configured, and records the phases.
struct answerer : sc_core::sc_module, tlm::tlm_fw_transport_if<> {
  tlm::tlm_target_socket<32> socket{"socket"};
  tlm::tlm_sync_enum answer = tlm::TLM_ACCEPTED;
  tlm::tlm_phase answer_phase = tlm::UNINITIALIZED_PHASE;  // UNINITIALIZED_PHASE: not changed
  sc_time answer_delay;
  std::vector<unsigned> phases;

  explicit answerer(sc_core::sc_module_name name) : sc_module(name) { socket.bind(*this); }
  tlm::tlm_sync_enum nb_transport_fw(payload&, tlm::tlm_phase& phase, sc_time& delay) override {
    phases.push_back(phase);
    if (phase == tlm::END_RESP) return tlm::TLM_COMPLETED;
    if (answer_phase != tlm::UNINITIALIZED_PHASE) phase = answer_phase;
    delay += answer_delay;
    return answer;
  }
  void b_transport(payload&, sc_time&) override {}
  bool get_direct_mem_ptr(payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(payload&) override { return 0; }
  tlm::tlm_sync_enum send(payload& p, tlm::tlm_phase phase, tlm::tlm_phase* got = nullptr, sc_time delay = {}) {
    const tlm::tlm_sync_enum s = socket->nb_transport_bw(p, phase, delay);
    if (got != nullptr) *got = phase;
    return s;
  }
};

class at_port_test : public simulation {
 protected:
  line_payload& read(unsigned line = 0) {
    line_payload& p = pool.acquire();
    p.make_read(line * line_bytes, 0xf);
    return p;
  }
  /// The text of the report that f causes.
  template <class F>
  static std::string report_of(F&& f) {
    try {
      f();
    } catch (const sc_core::sc_report& r) {
      EXPECT_STREQ(r.get_msg_type(), protocol_report);
      return r.get_msg();
    }
    return "no report";
  }
  static void run_to(clock_domain& clock, cycle_t cycle) {
    sc_core::sc_start(clock.time_of(cycle) + sc_time(1, sc_core::SC_PS) - sc_core::sc_time_stamp());
  }
  payload_pool pool;
};

}  // namespace at_port_bench
}  // namespace heddle::test
