// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <systemc>
#include <tlm>

#include "heddle/tlm/kernel/ring.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/bound_interface.h"
#include "heddle/tlm/port/protocol_error.h"

namespace heddle {

/// Base of a unit with an at_target_port: what the unit does where it says nothing else. A unit replaces a function by
/// one of its own with the same name; none is virtual.
class at_target_unit {
 public:
  /// The request was not accepted and is held from now on; `sent` is SystemC's time and the annotated delay.
  void request_held(const sc_core::sc_time& sent) { (void)sent; }
  /// When the unit acts on what arrives after `delay`. A unit that is called in time windows of logical processes
  /// converts the time with a cache of its own for each of them.
  template <class Clock>
  typename Clock::time arrival_after(const Clock& clock, const sc_core::sc_time& delay) {
    return clock.arrival(delay);
  }
  /// Wakes the unit when the held request arrives. A unit that is called in time windows defers this (outbox.h).
  template <class Clock>
  void wake_for_held(Clock& clock, const typename Clock::time& arrival) {
    clock.wake_at(arrival);
  }
  /// The response is over; the port releases the payload next.
  void response_ended(tlm::tlm_generic_payload&) {}
  /// Blocking transport: rejected.
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time&) {
    p.set_response_status(tlm::TLM_COMMAND_ERROR_RESPONSE);
  }
  /// Debug transport: transfers no bytes.
  unsigned transport_dbg(tlm::tlm_generic_payload&) { return 0; }
  /// Direct memory pointers: not granted.
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) { return false; }
};

/// The target's side of a socket: TLM-2.0 base protocol, approximately timed (IEEE 1666-2011, clauses 15.2.4 to
/// 15.2.7). The unit accepts requests and answers them; the port does the rest.
///
///     class rom : public sc_core::sc_module, public heddle::clocked, private heddle::at_target_unit {
///      public:
///       rom(sc_core::sc_module_name name, heddle::clock_domain& clock)
///           : sc_module(name), socket("socket"), clock_(clock, *this), port_(socket, clock_, *this) {}
///       tlm::tlm_target_socket<32> socket;
///       void on_cycle(heddle::cycle_t cycle) override {
///         port_.send_response(cycle);
///         if (port_.response_waits()) clock_.wake_at(std::max(port_.response_time(), cycle + 1));
///       }
///      private:
///       friend class heddle::at_target_port<rom>;
///       bool accept(tlm::tlm_generic_payload& p, heddle::cycle_t arrival, bool) {
///         ...                                         // read the bytes, set the response status
///         port_.answer(p, arrival + 9);
///         clock_.wake_at(arrival + 9);
///         return true;
///       }
///       heddle::clock_port clock_;
///       heddle::at_target_port<rom> port_;
///     };
///
/// Requests. BEGIN_REQ calls `bool Unit::accept(payload, arrival, again)`; `arrival` is the first edge after the call
/// and its annotated delay. True: the unit has taken the request, and the port answers END_REQ by return. False: the
/// unit has no room. The port holds the request, so that the initiator sends no other (request exclusion rule), and
/// wakes the unit at `arrival`. The unit then calls admit() in each cycle in which there may be room, which asks
/// accept() again, with `again` set, and sends END_REQ by a call.
///
/// Responses. answer(payload, cycle) queues a response; send_response(cycle) sends at most one that is due. Between
/// BEGIN_RESP and END_RESP no other is sent (response exclusion rule); END_RESP may come by return or by a call, with
/// a delay, after which the socket is free again. A unit with a queue of its own uses may_respond() and respond().
/// Each payload is answered once.
///
/// Payloads belong to their initiator. The port holds a reference from BEGIN_REQ to the end of the response, so the
/// payload must have a memory manager.
///
/// Phases that the protocol does not allow here, and a BEGIN_REQ before the last END_REQ, are reported by
/// report_protocol_error. Ignorable phases are ignored. The port never answers TLM_COMPLETED to BEGIN_REQ. A unit whose
/// answers take no time is a blocking_target.
///
/// `Clock` is clock_port, or event_clock for a unit that works at any time: then `arrival` is an sc_time.
template <class Unit, class Clock = clock_port, unsigned bits = 32>
class at_target_port final : private tlm::tlm_fw_transport_if<> {
 public:
  using payload = tlm::tlm_generic_payload;
  using time = typename Clock::time;

  /// Binds itself to the socket. `clock` and `unit` must outlive the port.
  at_target_port(tlm::tlm_target_socket<bits>& socket, Clock& clock, Unit& unit)
      : socket_(&socket), clock_(&clock), unit_(&unit) {
    socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  }
  at_target_port(const at_target_port&) = delete;
  at_target_port& operator=(const at_target_port&) = delete;

  /// The request that waits for END_REQ, or null.
  [[nodiscard]] payload* held() const { return held_; }
  /// When it arrived.
  [[nodiscard]] const time& held_from() const { return held_from_; }
  /// Offers the held request to the unit again, if it has arrived by `now`. True if the unit took it.
  bool admit(const time& now) {
    if (held_ == nullptr || held_from_ > now || !unit_->accept(*held_, now, true)) return false;
    end_request();
    return true;
  }
  /// Sends END_REQ for the held request, which the unit has taken without being asked.
  void end_request(sc_core::sc_time delay = sc_core::SC_ZERO_TIME) {
    payload& p = *held_;
    held_ = nullptr;
    tlm::tlm_phase phase = tlm::END_REQ;
    initiator().nb_transport_bw(p, phase, delay);
  }

  /// Queues the response of `p`, to be sent at `due` or, if others are before it, later; without `due`, as soon as they
  /// have left. Responses leave in the order of the calls.
  void answer(payload& p, const time& due = time{}) { responses_.push({&p, due}); }
  /// Sends the first queued response if it is due and the socket is free.
  void send_response(const time& now) {
    if (responses_.empty() || answering_ != nullptr || responses_.front().due > now || response_free_ > now) return;
    payload& p = *responses_.front().response;
    responses_.pop();
    respond(p);
  }
  /// Responses queued and not sent.
  [[nodiscard]] std::size_t responses_queued() const { return responses_.size(); }
  [[nodiscard]] payload& first_response() const { return *responses_.front().response; }
  /// A response is queued and will leave by time alone.
  [[nodiscard]] bool response_waits() const { return !responses_.empty() && answering_ == nullptr; }
  /// Its earliest time.
  [[nodiscard]] const time& response_time() const { return std::max(responses_.front().due, response_free_); }

  /// No response is between BEGIN_RESP and END_RESP, and the last one is over.
  [[nodiscard]] bool may_respond(const time& now) const { return answering_ == nullptr && response_free_ <= now; }
  /// The response between BEGIN_RESP and END_RESP, or null.
  [[nodiscard]] payload* answering() const { return answering_; }
  /// If there is none: the earliest time of the next.
  [[nodiscard]] const time& response_free() const { return response_free_; }
  /// After responses sent ahead of their time, which the port does not keep apart: none may be sent before `at`.
  void set_response_free(const time& at) { response_free_ = at; }
  /// Sends BEGIN_RESP at once, past the queue. Only if may_respond().
  void respond(payload& p) {
    answering_ = &p;
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay = sc_core::SC_ZERO_TIME;
    const tlm::tlm_sync_enum answer = initiator().nb_transport_bw(p, phase, delay);
    if (answer == tlm::TLM_ACCEPTED || answering_ != &p) return;  // END_RESP comes by a call, or came during this one
    if (answer == tlm::TLM_UPDATED && phase != tlm::END_RESP) return check_ignorable(phase, p);
    response_free_ = clock_->arrival(delay);
    finish(p);
  }
  /// Sends BEGIN_RESP annotated with `delay`. Only to an initiator that answers it by return, and where the
  /// caller keeps the responses apart in time itself. False: the initiator did not answer by return.
  bool respond_after(payload& p, sc_core::sc_time delay) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    const tlm::tlm_sync_enum answer = initiator().nb_transport_bw(p, phase, delay);
    if (answer != tlm::TLM_COMPLETED && (answer != tlm::TLM_UPDATED || phase != tlm::END_RESP)) return false;
    --open_;
    unit_->response_ended(p);
    p.release();
    return true;
  }

  /// Requests that have begun and whose response has not ended.
  [[nodiscard]] std::uint64_t open() const { return open_; }
  [[nodiscard]] bool idle() const { return open_ == 0; }
  /// Those that the port has rather than the unit: held, queued responses, a response in flight.
  [[nodiscard]] std::uint64_t inside() const {
    return responses_.size() + (held_ != nullptr) + (answering_ != nullptr);
  }

  /// The payloads have been named.
  void exchange(state_image& image) { image(held_, held_from_, answering_, response_free_, responses_, open_); }

  /// Reports a violation by the initiator that only the unit can see.
  void report(const char* what, const payload& p) const { report_protocol_error(*socket_, what, p.get_address()); }

 private:
  struct due_response {
    payload* response = nullptr;
    time due{};
    void exchange(state_image& image) { image(response, due); }
  };

  tlm::tlm_sync_enum nb_transport_fw(payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    const time arrival = unit_->arrival_after(*clock_, delay);
    if (phase == tlm::BEGIN_REQ) {
      if (held_ != nullptr) report("BEGIN_REQ before END_REQ of the request before", p);
      p.acquire();
      ++open_;
      if (unit_->accept(p, arrival, false)) {
        phase = tlm::END_REQ;
        return tlm::TLM_UPDATED;
      }
      held_ = &p;
      held_from_ = arrival;
      unit_->request_held(sc_core::sc_time_stamp() + delay);
      unit_->wake_for_held(*clock_, arrival);
      return tlm::TLM_ACCEPTED;
    }
    if (phase == tlm::END_RESP) {
      if (answering_ != &p) {
        report("END_RESP for a transaction that has no BEGIN_RESP", p);
        return tlm::TLM_ACCEPTED;
      }
      response_free_ = arrival;
      finish(p);
      clock_->wake_at(arrival);
      return tlm::TLM_COMPLETED;
    }
    check_ignorable(phase, p);
    return tlm::TLM_ACCEPTED;
  }
  void b_transport(payload& p, sc_core::sc_time& delay) override { unit_->b_transport(p, delay); }
  unsigned transport_dbg(payload& p) override { return unit_->transport_dbg(p); }
  bool get_direct_mem_ptr(payload& p, tlm::tlm_dmi& dmi) override { return unit_->get_direct_mem_ptr(p, dmi); }

  void finish(payload& p) {
    answering_ = nullptr;
    --open_;
    unit_->response_ended(p);
    p.release();
  }
  void check_ignorable(const tlm::tlm_phase& phase, const payload& p) const {
    if (phase <= tlm::END_RESP) report("a phase that the base protocol does not allow here", p);
  }
  tlm::tlm_bw_transport_if<>& initiator() { return initiator_.of(*socket_); }

  bound_interface<tlm::tlm_bw_transport_if<>> initiator_;
  tlm::tlm_target_socket<bits>* socket_;
  Clock* clock_;
  Unit* unit_;
  payload* held_ = nullptr;  // BEGIN_REQ without END_REQ
  time held_from_{};
  payload* answering_ = nullptr;  // between BEGIN_RESP and END_RESP
  time response_free_{};
  ring<due_response> responses_;
  std::uint64_t open_ = 0;
};

}  // namespace heddle
