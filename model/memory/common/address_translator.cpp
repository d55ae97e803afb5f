// SPDX-License-Identifier: MIT
#include "heddle/memory/common/address_translator.h"

namespace heddle {

address_translator::address_translator(sc_core::sc_module_name name, const gpu_config& config)
    : sc_module(name), target_socket("target_socket"), initiator_socket("initiator_socket"), map_(config) {
  target_socket.bind(static_cast<tlm::tlm_fw_transport_if<>&>(*this));
  initiator_socket.bind(static_cast<tlm::tlm_bw_transport_if<>&>(*this));
}

tlm::tlm_sync_enum address_translator::nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                       sc_core::sc_time& delay) {
  if (phase == tlm::BEGIN_REQ) p.set_address(map_.outside_address(p.get_address()));
  return initiator_socket->nb_transport_fw(p, phase, delay);
}

tlm::tlm_sync_enum address_translator::nb_transport_bw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase,
                                                       sc_core::sc_time& delay) {
  return target_socket->nb_transport_bw(p, phase, delay);
}

void address_translator::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  const std::uint64_t address = p.get_address();
  p.set_address(map_.outside_address(address));
  initiator_socket->b_transport(p, delay);
  p.set_address(address);
}

unsigned address_translator::transport_dbg(tlm::tlm_generic_payload& p) {
  const std::uint64_t address = p.get_address();
  p.set_address(map_.outside_address(address));
  const unsigned done = initiator_socket->transport_dbg(p);
  p.set_address(address);
  return done;
}

}  // namespace heddle
