// SPDX-License-Identifier: MIT
#pragma once

#include <tlm>

#include "heddle/tlm/port/protocol_error.h"

namespace heddle {

/// Base of the target's side of an on-chip protocol whose phases are calls of their own (cta_protocol, lsu_protocol,
/// l1_protocol): the unit implements nb_transport_fw and binds itself to its socket. Blocking transport is rejected,
/// debug transport transfers nothing, DMI is not granted.
///
///     class load_store_unit : public sc_core::sc_module, private heddle::phase_target<heddle::lsu_protocol_types> ...
///       tlm::tlm_sync_enum nb_transport_fw(lsu_transaction& t, lsu_phase& phase, sc_core::sc_time& delay) override;
///
/// at_target_port does not fit these protocols: they have no END_REQ and no END_RESP, since each keeps its queues from
/// overflowing by rules of its own (credits, nack and retry, or the CWD's account).
template <class Types>
class phase_target : public tlm::tlm_fw_transport_if<Types> {
  using payload = typename Types::tlm_payload_type;

 public:
  void b_transport(payload&, sc_core::sc_time&) override {
    SC_REPORT_ERROR(protocol_report, "blocking transport to a target whose protocol has phases only");
  }
  bool get_direct_mem_ptr(payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(payload&) override { return 0; }
};

}  // namespace heddle
