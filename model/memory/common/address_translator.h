// SPDX-License-Identifier: MIT
// Models: the address decoder in front of an external memory: translates a program's addresses to the memory's own.
// Sockets: target_socket (bind the initiator here), initiator_socket (to the memory).
// One cycle: none; every call is forwarded without added time.
// Parameters: memory.addresses, memory.base_mib, memory.channels, l2.interleave_bytes, l2.hash.
// Source: docs/library/integration.md.
#pragma once

#include <systemc>
#include <tlm>

#include "heddle/memory/common/address_map.h"
#include "heddle/tlm/port/pass_through.h"

namespace heddle {

/// Replaces a request's address by address_map::outside_address of it. The original address is restored after
/// b_transport and debug transport, but not after nb_transport, as IEEE 1666 (14.7) allows for an interconnect. A
/// transfer must lie within one block of l2.interleave_bytes.
class address_translator : public sc_core::sc_module, private pass_through<> {
 public:
  address_translator(sc_core::sc_module_name name, const gpu_config& config);

  tlm::tlm_target_socket<32> target_socket;
  tlm::tlm_initiator_socket<32> initiator_socket;

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override;
  // The blocks of a memory are not contiguous in a program's addresses.
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}

  address_map map_;
};

}  // namespace heddle
