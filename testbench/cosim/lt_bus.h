// SPDX-License-Identifier: MIT
// Models: the bus of a loosely-timed platform with one CPU, a GPU's registers and a memory.
// Sockets: cpu (target), gpu and memory (initiators), all of 32 bits.
// One cycle: none; an access takes 10 ns.
// Parameters: the base address of the memory; lower addresses belong to the GPU.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>
#include <cstdint>
#include <systemc>
#include <tlm>

namespace cosim {

class lt_bus : public sc_core::sc_module {
 public:
  lt_bus(sc_core::sc_module_name name, std::uint64_t memory_base) : sc_module(name), memory_base_(memory_base) {
    cpu.register_b_transport(this, &lt_bus::b_transport);
    cpu.register_transport_dbg(this, &lt_bus::transport_dbg);
  }

  tlm_utils::simple_target_socket<lt_bus> cpu{"cpu"};
  tlm_utils::simple_initiator_socket<lt_bus> gpu{"gpu"};
  tlm_utils::simple_initiator_socket<lt_bus> memory{"memory"};

 private:
  tlm_utils::simple_initiator_socket<lt_bus>& owner(std::uint64_t address) {
    return address < memory_base_ ? gpu : memory;
  }
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    delay += sc_core::sc_time(10, sc_core::SC_NS);
    owner(p.get_address())->b_transport(p, delay);
  }
  unsigned transport_dbg(tlm::tlm_generic_payload& p) { return owner(p.get_address())->transport_dbg(p); }

  std::uint64_t memory_base_;
};

}  // namespace cosim
