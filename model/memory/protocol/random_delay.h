// SPDX-License-Identifier: MIT
// Models: no hardware; delays every phase of the transactions that pass through it by a random time, so that a unit
//   that relies on timing instead of the protocol fails.
// Sockets: target_socket (bind the initiator here), initiator_socket (to the target).
// One cycle: none; it acts on calls and at its own times. Blocking and debug transport are forwarded at once.
// Parameters: tlm.random_delay_cycles, tlm.random_delay_seed (one instance per memory socket).
// Source: IEEE 1666-2011, clause 15.
#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/hash/splitmix64.h"
#include "heddle/tlm/kernel/event_clock.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/port/at_initiator_port.h"
#include "heddle/tlm/port/at_target_port.h"

namespace heddle {

/// Keeps the order of requests and the order of responses. The initiator always sees all four phases.
class random_delay : public sc_core::sc_module, private at_target_unit, private at_initiator_unit {
 public:
  /// Delays are between zero and `longest`, drawn by splitmix64 from `seed`.
  random_delay(sc_core::sc_module_name name, const sc_core::sc_time& longest, std::uint64_t seed);

  tlm::tlm_target_socket<32> target_socket;
  tlm::tlm_initiator_socket<32> initiator_socket;

  [[nodiscard]] bool idle() const { return in_flight_ == 0; }
  /// Transactions begun.
  [[nodiscard]] std::uint64_t transactions() const { return transactions_; }
  void exchange(state_image& image);

 private:
  enum class step : std::uint8_t { begin_request, end_request, begin_response, end_response };
  struct due {
    sc_core::sc_time at;
    std::uint64_t order;
    step what;
    tlm::tlm_generic_payload* payload;
    bool operator<(const due& o) const { return at != o.at ? at > o.at : order > o.order; }
  };

  friend class at_target_port<random_delay, event_clock>;
  bool accept(tlm::tlm_generic_payload& p, const sc_core::sc_time& at, bool again);
  void response_ended(tlm::tlm_generic_payload& p);
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) { initiator_socket->b_transport(p, delay); }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) { return initiator_socket->transport_dbg(p); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) {
    return initiator_socket->get_direct_mem_ptr(p, dmi);
  }
  friend class at_initiator_port<random_delay, event_clock>;
  void request_ended(const sc_core::sc_time& at) { accepted(at); }
  bool take_response(tlm::tlm_generic_payload& p, const sc_core::sc_time& at);
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) {
    target_socket->invalidate_direct_mem_ptr(first, last);
  }

  void plan(step what, tlm::tlm_generic_payload& p, const sc_core::sc_time& after);
  void work();
  void accepted(const sc_core::sc_time& at);
  void begin_response();

  std::uint64_t longest_;
  splitmix64 random_;
  sc_core::sc_event wake_;
  event_clock clock_{wake_};
  at_target_port<random_delay, event_clock> target_;
  at_initiator_port<random_delay, event_clock> memory_;
  std::priority_queue<due> due_;
  std::uint64_t order_ = 0;
  bool accepted_ = false;                            // END_REQ of the held request is scheduled
  std::deque<tlm::tlm_generic_payload*> responses_;  // ready to be sent, in this order
  unsigned in_flight_ = 0;
  std::uint64_t transactions_ = 0;
};

}  // namespace heddle
