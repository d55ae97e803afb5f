// SPDX-License-Identifier: MIT
// Models: the address decoder before a memory outside: gives transactions the addresses that the memory goes by.
// Sockets: target_socket (bind the initiator here), initiator_socket (to the memory).
// One cycle: none; it passes every call on, and adds no time.
// Parameters: memory.addresses, memory.base_mib, memory.channels, l2.interleave_bytes, l2.hash. Source:
// docs/integration.md.
#pragma once

#include <systemc>
#include <tlm>

#include "heddle/memory/common/address_map.h"

namespace heddle {

/// Requests get address_map::outside_address of theirs. After b_transport and debug transport the address is again what
/// it was; after nb_transport it is not, as IEEE 1666 (14.7) allows an interconnect. Transfers lie within one block of
/// l2.interleave_bytes.
class address_translator : public sc_core::sc_module,
                           private tlm::tlm_fw_transport_if<>,
                           private tlm::tlm_bw_transport_if<> {
 public:
  address_translator(sc_core::sc_module_name name, const gpu_config& config);

  tlm::tlm_target_socket<32> target_socket;
  tlm::tlm_initiator_socket<32> initiator_socket;

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override;
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override;
  bool get_direct_mem_ptr(tlm::tlm_generic_payload&, tlm::tlm_dmi&) override { return false; }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override;
  void invalidate_direct_mem_ptr(sc_dt::uint64, sc_dt::uint64) override {}  // nobody has been given one

  address_map map_;
};

}  // namespace heddle
