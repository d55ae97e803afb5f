// SPDX-License-Identifier: MIT
#pragma once

#include <tlm>

namespace heddle {

/// Base of a target that answers within the call (on_chip_protocol, issue_protocol, registers): the unit implements
/// b_transport, which does not wait, and binds itself to its socket. A non-blocking BEGIN_REQ does the same and is
/// answered with TLM_COMPLETED. Debug transport transfers nothing unless the unit implements it, DMI is not granted.
template <class Types = tlm::tlm_base_protocol_types>
class blocking_target : public tlm::tlm_fw_transport_if<Types> {
  using payload = typename Types::tlm_payload_type;

 public:
  tlm::tlm_sync_enum nb_transport_fw(payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) override {
    if (phase != tlm::BEGIN_REQ) return tlm::TLM_ACCEPTED;
    this->b_transport(p, delay);
    return tlm::TLM_COMPLETED;
  }
  bool get_direct_mem_ptr(payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(payload&) override { return 0; }
};

}  // namespace heddle
