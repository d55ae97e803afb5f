// SPDX-License-Identifier: MIT
// Models: no hardware; connects sockets whose types have different widths, which cannot be bound to each other.
// Sockets: target_socket (bind the initiator here), initiator_socket (to the target).
// One cycle: none; it forwards every call without added time.
// Parameters: the two widths in bits. Source: IEEE 1666-2011, clauses 13.2 (sockets) and 14.18 (endianness).
#pragma once

#include <systemc>
#include <tlm>

#include "heddle/tlm/port/pass_through.h"

namespace heddle {

/// The width in a socket's type only affects the byte order of words on big-endian hosts. On the little-endian hosts
/// that Heddle supports, the payload is the same on both sides.
///
///     heddle::width_adapter<32, 64> adapter("adapter");
///     gpu.memory_socket[0].bind(adapter.target_socket);
///     adapter.initiator_socket.bind(memory_of_64_bits.socket);
template <unsigned from_bits, unsigned to_bits>
class width_adapter : public sc_core::sc_module, private pass_through<from_bits, to_bits> {
 public:
  explicit width_adapter(sc_core::sc_module_name name)
      : sc_module(name),
        pass_through<from_bits, to_bits>(target_socket, initiator_socket),
        target_socket("target_socket"),
        initiator_socket("initiator_socket") {
    this->bind_sockets();
  }

  tlm::tlm_target_socket<from_bits> target_socket;
  tlm::tlm_initiator_socket<to_bits> initiator_socket;
};

}  // namespace heddle
