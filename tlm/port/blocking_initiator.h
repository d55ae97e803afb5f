// SPDX-License-Identifier: MIT
#pragma once

#include <tlm>

#include "heddle/tlm/port/protocol_error.h"

namespace heddle {

/// The backward interface of an initiator that uses blocking or debug transport only. A socket must have one though no
/// calls come; a unit binds one object to all such sockets. A non-blocking call is an error.
template <class Types = tlm::tlm_base_protocol_types>
class blocking_initiator final : public tlm::tlm_bw_transport_if<Types> {
 public:
  tlm::tlm_sync_enum nb_transport_bw(typename Types::tlm_payload_type&, typename Types::tlm_phase_type&,
                                     sc_core::sc_time&) override {
    SC_REPORT_ERROR(protocol_report, "a non-blocking answer to an initiator of blocking transport");
    return tlm::TLM_COMPLETED;
  }
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}
};

}  // namespace heddle
