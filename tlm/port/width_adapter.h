// SPDX-License-Identifier: MIT
// Models: no hardware; connects sockets whose types have different widths, which cannot be bound to each other.
// Sockets: target_socket (bind the initiator here), initiator_socket (to the target).
// One cycle: none; it forwards every call without added time.
// Parameters: the two widths in bits. Source: IEEE 1666-2011, clauses 13.2 (sockets) and 14.18 (endianness).
#pragma once

#include <systemc>
#include <tlm>

namespace heddle {

/// The width in a socket's type only affects the byte order of words on big-endian hosts. On the little-endian hosts
/// that Heddle supports, the payload is the same on both sides.
///
///     heddle::width_adapter<32, 64> adapter("adapter");
///     gpu.memory_socket[0].bind(adapter.target_socket);
///     adapter.initiator_socket.bind(memory_of_64_bits.socket);
template <unsigned from_bits, unsigned to_bits>
class width_adapter : public sc_core::sc_module,
                      private tlm::tlm_fw_transport_if<>,
                      private tlm::tlm_bw_transport_if<> {
 public:
  explicit width_adapter(sc_core::sc_module_name name)
      : sc_module(name), target_socket("target_socket"), initiator_socket("initiator_socket") {
    target_socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
    initiator_socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
  }

  tlm::tlm_target_socket<from_bits> target_socket;
  tlm::tlm_initiator_socket<to_bits> initiator_socket;

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return initiator_socket->nb_transport_fw(p, phase, delay);
  }
  tlm::tlm_sync_enum nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                     sc_core::sc_time& delay) override {
    return target_socket->nb_transport_bw(p, phase, delay);
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) override {
    initiator_socket->b_transport(p, delay);
  }
  bool get_direct_mem_ptr(tlm::tlm_generic_payload& p, tlm::tlm_dmi& dmi) override {
    return initiator_socket->get_direct_mem_ptr(p, dmi);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) override { return initiator_socket->transport_dbg(p); }
  void invalidate_direct_mem_ptr(sc_dt::uint64 first, sc_dt::uint64 last) override {
    target_socket->invalidate_direct_mem_ptr(first, last);
  }
};

}  // namespace heddle
