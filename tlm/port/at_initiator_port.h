// SPDX-License-Identifier: MIT
#pragma once

#include <systemc>
#include <tlm>

#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/bound_interface.h"
#include "heddle/tlm/port/protocol_error.h"

namespace heddle {

/// Base of a unit with an at_initiator_port: what the unit does where it says nothing else. A unit replaces a function
/// by one of its own with the same name; none is virtual.
class at_initiator_unit {
 public:
  /// END_REQ has come by a call: the next request may be sent from `free_at` on.
  template <class Time>
  void request_ended(const Time& free_at) {
    (void)free_at;
  }
  /// The target revokes direct memory pointers, of which the unit has none.
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) {}
};

/// The initiator's side of a socket: TLM-2.0 base protocol, approximately timed (IEEE 1666-2011, clauses 15.2.4 to
/// 15.2.7). The unit sends requests and takes responses; the port does the rest.
///
///     bool take_response(tlm::tlm_generic_payload& p, heddle::cycle_t arrival) {  // of the unit
///       clock_.wake_at(arrival);  // the data may be used then
///       arrived_.push_back({&p, arrival});
///       return true;
///     }
///     void on_cycle(heddle::cycle_t cycle) override {
///       if (!queue_.empty() && port_.may_send(cycle)) port_.send(take(queue_));
///       if (!queue_.empty() && !port_.waits()) clock_.wake_at(std::max(port_.free_at(), cycle + 1));
///       ...
///     }
///     void request_ended(heddle::cycle_t free_at) { clock_.wake_at(free_at); }
///
/// Requests. send() sends BEGIN_REQ. Until END_REQ nothing else may be sent (request exclusion rule): waits() is true,
/// or free_at() lies in the future if END_REQ was annotated with a delay. The target may return END_REQ, call it, call
/// it late, or imply it by BEGIN_RESP or TLM_COMPLETED. If it comes by a call, `void Unit::request_ended(free_at)`
/// tells the unit; otherwise the unit asks after send() or in take_response().
///
/// Responses come in any order: by a call, as return value, or as immediate TLM_COMPLETED. Each calls
/// `bool Unit::take_response(payload, arrival)` once; `arrival` is the first edge after the call and its annotated
/// delay. True: the unit has taken it, and the port sends END_RESP by return, never TLM_COMPLETED, since some targets
/// wait for END_RESP. False: the unit has no room. The target then sends no other response (response exclusion rule)
/// until the unit calls end_response(). A TLM_COMPLETED cannot be put off: then responding() is not this payload, and
/// the unit has to take it.
///
/// The unit owns its payloads, which have a memory manager and hold a reference until the response.
///
/// Phases that the protocol does not allow here, an END_REQ out of place, and a BEGIN_RESP before the last END_RESP are
/// reported by report_protocol_error. Ignorable phases are ignored. Whether a response belongs to a request that is
/// outstanding is for the unit to check.
///
/// `Clock` is clock_port, or event_clock for a unit that works at any time: then times are sc_time.
template <class Unit, class Clock = clock_port, unsigned bits = 32>
class at_initiator_port final : private tlm::tlm_bw_transport_if<> {
 public:
  using payload = tlm::tlm_generic_payload;
  using time = typename Clock::time;

  /// Binds itself to the socket. `clock` and `unit` must outlive the port.
  at_initiator_port(tlm::tlm_initiator_socket<bits>& socket, Clock& clock, Unit& unit)
      : socket_(&socket), clock_(&clock), unit_(&unit) {
    socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }
  at_initiator_port(const at_initiator_port&) = delete;
  at_initiator_port& operator=(const at_initiator_port&) = delete;

  /// A request has been sent and its END_REQ has not come.
  [[nodiscard]] bool waits() const { return requesting_ != nullptr; }
  /// That request, or null.
  [[nodiscard]] payload* requesting() const { return requesting_; }
  /// If there is none: the earliest time of the next request.
  [[nodiscard]] const time& free_at() const { return free_at_; }
  [[nodiscard]] bool may_send(const time& now) const { return requesting_ == nullptr && free_at_ <= now; }

  /// Sends BEGIN_REQ, annotated with `later` if the unit is simulated ahead of SystemC's time. Only if may_send().
  /// request_ended() and take_response() may be called during this call.
  void send(payload& p, const sc_core::sc_time& later = sc_core::SC_ZERO_TIME) {
    requesting_ = &p;
    tlm::tlm_phase phase = tlm::BEGIN_REQ;
    sc_core::sc_time delay = later;
    const tlm::tlm_sync_enum answer = target().nb_transport_fw(p, phase, delay);
    if (answer == tlm::TLM_ACCEPTED) return;
    const bool completed = answer == tlm::TLM_COMPLETED;
    if (!completed && phase != tlm::END_REQ && phase != tlm::BEGIN_RESP) return check_ignorable(phase, p);
    const time at = clock_->arrival(delay);
    if (requesting_ == &p) request_over(at);
    if (!completed && phase == tlm::END_REQ) return;
    if (!completed) begin_response(p);
    const bool taken = unit_->take_response(p, at);
    if (completed || !taken) return;
    responding_ = nullptr;
    phase = tlm::END_RESP;
    target().nb_transport_fw(p, phase, delay);
  }

  Clock& clock() { return *clock_; }

  /// The response between BEGIN_RESP and END_RESP, or null.
  [[nodiscard]] payload* responding() const { return responding_; }
  /// Sends END_RESP for the response that the unit did not take when it came.
  void end_response() {
    payload& p = *responding_;
    responding_ = nullptr;
    tlm::tlm_phase phase = tlm::END_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    target().nb_transport_fw(p, phase, delay);
  }

  /// The payloads have been named.
  void exchange(state_image& image) { image(requesting_, free_at_, responding_); }

  /// Reports a violation by the target that only the unit can see.
  void report(const char* what, const payload& p) const { report_protocol_error(*socket_, what, p.get_address()); }

 private:
  tlm::tlm_sync_enum nb_transport_bw(payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (phase == tlm::BEGIN_RESP) {
      const time at = clock_->arrival(delay);
      if (requesting_ == &p) request_over(at);
      begin_response(p);
      if (!unit_->take_response(p, at)) return tlm::TLM_ACCEPTED;
      responding_ = nullptr;
      phase = tlm::END_RESP;
      return tlm::TLM_UPDATED;
    }
    if (phase == tlm::END_REQ) {
      if (requesting_ != &p) {
        report("END_REQ for a request that does not wait for it", p);
        return tlm::TLM_ACCEPTED;
      }
      request_over(clock_->arrival(delay));
      unit_->request_ended(free_at_);
      return tlm::TLM_ACCEPTED;
    }
    check_ignorable(phase, p);
    return tlm::TLM_ACCEPTED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    unit_->invalidate_direct_mem_ptr(first, last);
  }

  void request_over(const time& at) {
    requesting_ = nullptr;
    free_at_ = at;
  }
  void begin_response(payload& p) {
    if (responding_ != nullptr) report("BEGIN_RESP before END_RESP of the response before", p);
    responding_ = &p;
  }
  tlm::tlm_fw_transport_if<>& target() { return target_.of(*socket_); }
  void check_ignorable(const tlm::tlm_phase& phase, const payload& p) const {
    if (phase <= tlm::END_RESP) report("a phase that the base protocol does not allow here", p);
  }

  bound_interface<tlm::tlm_fw_transport_if<>> target_;
  tlm::tlm_initiator_socket<bits>* socket_;
  Clock* clock_;
  Unit* unit_;
  payload* requesting_ = nullptr;  // between BEGIN_REQ and END_REQ
  time free_at_{};
  payload* responding_ = nullptr;  // between BEGIN_RESP and END_RESP
};

}  // namespace heddle
