// SPDX-License-Identifier: MIT
#pragma once

#include <tlm>

namespace heddle {

/// Base of a module between an initiator and a target of the base protocol that lets transactions pass: every call is
/// forwarded in both directions without added time. A derived class overrides the calls that it observes or changes,
/// and forwards them by these functions. It need not enforce the rules of the protocol, which both bound modules obey.
template <unsigned target_bits = 32, unsigned initiator_bits = target_bits>
class pass_through : public tlm::tlm_fw_transport_if<>, public tlm::tlm_bw_transport_if<> {
 public:
  /// The sockets may be members of the derived class, which calls bind_sockets() when they exist.
  pass_through(tlm::tlm_target_socket<target_bits>& target, tlm::tlm_initiator_socket<initiator_bits>& initiator)
      : target_(target), initiator_(initiator) {}
  void bind_sockets() {
    target_.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    initiator_.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }

  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return initiator_->nb_transport_fw(p, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return target_->nb_transport_bw(p, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override { initiator_->b_transport(p, delay); }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override { return initiator_->transport_dbg(p); }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) override {
    return initiator_->get_direct_mem_ptr(p, dmi);
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    target_->invalidate_direct_mem_ptr(first, last);
  }

 private:
  tlm::tlm_target_socket<target_bits>& target_;
  tlm::tlm_initiator_socket<initiator_bits>& initiator_;
};

}  // namespace heddle
