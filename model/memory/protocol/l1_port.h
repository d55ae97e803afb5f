// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <systemc>
#include <tlm>

#include "heddle/config/error.h"
#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/port/bound_interface.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/port/phase_initiator.h"
#include "heddle/tlm/protocol/l1_protocol.h"

namespace heddle {

/// What the L1 answers at once: a hit, whose result may be used from `ready_cycle` on; accepted, a response follows; no
/// room, nothing was done.
enum class l1_answer : std::uint8_t { hit, accepted, nacked };

/// The initiator's side of a socket to the L1 (l1_protocol.h). The unit has two functions:
///   void l1_responds(l1_access& access)   the response to an accepted access
///   void l1_retries()                     after a nack there may be room again
/// Between a nack and the retry, nacked() is true and the unit sends nothing, but for accesses of which it knows that
/// they need no room.
template <class Unit>
class l1_port final : private phase_initiator<l1_protocol_types> {
 public:
  using socket = direct_initiator_socket<l1_protocol_types>;

  /// Binds itself to the socket. `unit` must outlive the port.
  l1_port(socket& to, Unit& unit) : socket_(&to), unit_(&unit) {
    to.bind(static_cast<tlm::tlm_bw_transport_if<l1_protocol_types>&>(*this));
  }
  l1_port(const l1_port&) = delete;
  l1_port& operator=(const l1_port&) = delete;

  [[nodiscard]] bool nacked() const { return nacked_; }
  /// Looks `access` up in `cycle`.
  l1_answer send(l1_access& access, cycle_t cycle) {
    access.cycle = cycle;
    l1_phase phase = l1_phase::request;
    sc_core::sc_time delay;
    switch (target_.of(*socket_).nb_transport_fw(access, phase, delay)) {
      case tlm::TLM_COMPLETED: return l1_answer::hit;
      case tlm::TLM_ACCEPTED: return l1_answer::accepted;
      case tlm::TLM_UPDATED: break;
    }
    nacked_ = true;
    return l1_answer::nacked;
  }
  void exchange(state_image& image) { image(nacked_); }

 private:
  tlm::tlm_sync_enum nb_transport_bw(l1_access& access, l1_phase& phase, sc_core::sc_time&) override {
    if (phase == l1_phase::retry) {
      nacked_ = false;
      unit_->l1_retries();
    } else {
      invariant(phase == l1_phase::response, "the L1 sent neither a response nor a retry");
      unit_->l1_responds(access);
    }
    return tlm::TLM_ACCEPTED;
  }

  bound_interface<tlm::tlm_fw_transport_if<l1_protocol_types>> target_;
  socket* socket_;
  Unit* unit_;
  bool nacked_ = false;
};

}  // namespace heddle
