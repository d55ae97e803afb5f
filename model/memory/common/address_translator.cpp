// SPDX-License-Identifier: MIT
#include "heddle/memory/common/address_translator.h"

namespace heddle {

address_translator::address_translator(sc_core::sc_module_name name, const gpu_config& config)
    : sc_module(name),
      pass_through(target_socket, initiator_socket),
      target_socket("target_socket"),
      initiator_socket("initiator_socket"),
      map_(config) {
  bind_sockets();
}

tlm::tlm_sync_enum address_translator::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                       sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) p.set_address(map_.outside_address(p.get_address()));
  return pass_through::nb_transport_fw(p, phase, delay);
}

void address_translator::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  const std::uint64_t address = p.get_address();
  p.set_address(map_.outside_address(address));
  pass_through::b_transport(p, delay);
  p.set_address(address);
}

unsigned address_translator::transport_dbg(tlm::tlm_generic_payload& p) {
  const std::uint64_t address = p.get_address();
  p.set_address(map_.outside_address(address));
  const unsigned done = pass_through::transport_dbg(p);
  p.set_address(address);
  return done;
}

}  // namespace heddle
