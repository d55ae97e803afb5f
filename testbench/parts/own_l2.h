// SPDX-License-Identifier: MIT
// Models: a custom L2 that always hits: data returns after a fixed time. Atomics, which are an extension of Heddle's
// L2, are refused. Sockets: socket (target) from an SM's L1, approximately timed; END_REQ is immediate, so requests
// overlap. One cycle: none. Parameters: the latency. Source: none.
#pragma once

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>
#include <systemc>
#include <tlm>

#include "testbench/cosim/sparse_bytes.h"

namespace parts {

class own_l2 : public sc_core::sc_module {
 public:
  own_l2(sc_core::sc_module_name name, const sc_core::sc_time& latency)
      : sc_module(name), latency_(latency), responses_(this, &own_l2::respond) {
    socket.register_nb_transport_fw(this, &own_l2::nb_transport_fw);
  }

  tlm_utils::simple_target_socket<own_l2> socket{"socket"};
  cosim::sparse_bytes bytes;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay) {
    if (phase == tlm::END_RESP) {
      p.release();
      return tlm::TLM_COMPLETED;
    }
    p.acquire();
    perform(p);
    responses_.notify(p, tlm::BEGIN_RESP, delay + latency_);
    phase = tlm::END_REQ;
    return tlm::TLM_UPDATED;
  }

  void respond(tlm::tlm_generic_payload& p, const tlm::tlm_phase&) {
    tlm::tlm_phase phase = tlm::BEGIN_RESP;
    sc_core::sc_time delay;
    // An L1 completes the response in the same call; another initiator may complete it later.
    if (socket->nb_transport_bw(p, phase, delay) != tlm::TLM_ACCEPTED) p.release();
  }

  void perform(tlm::tlm_generic_payload& p) {
    p.set_response_status(p.is_read() || p.is_write() ? tlm::TLM_OK_RESPONSE : tlm::TLM_COMMAND_ERROR_RESPONSE);
    ++(p.is_read() ? reads : writes);
    for (unsigned i = 0; i < p.get_data_length(); ++i) {
      if (p.get_byte_enable_ptr() != nullptr && p.get_byte_enable_ptr()[i % p.get_byte_enable_length()] == 0) continue;
      if (p.is_read()) bytes.read(p.get_address() + i, p.get_data_ptr() + i, 1);
      else if (p.is_write()) bytes.write(p.get_address() + i, p.get_data_ptr() + i, 1);
    }
  }

  sc_core::sc_time latency_;
  tlm_utils::peq_with_cb_and_phase<own_l2> responses_;
};

}  // namespace parts
