// SPDX-License-Identifier: MIT
// Models: a custom L2 that always hits: data returns after a fixed time. Atomics, which are an extension of Heddle's
// L2, are refused.
// Sockets: socket (target) from an SM's L1, approximately timed.
// One cycle: one response leaves; a request that found no room is accepted.
// Parameters: the latency, the number of requests inside. Source: none.
#pragma once

#include <heddle/tlm/kernel/clock_domain.h>
#include <heddle/tlm/port/at_target_port.h>

#include <algorithm>
#include <systemc>
#include <tlm>

#include "testbench/cosim/sparse_bytes.h"

namespace parts {

class own_l2 : public sc_core::sc_module, public heddle::clocked, private heddle::at_target_unit {
 public:
  own_l2(sc_core::sc_module_name name, heddle::clock_domain& clock, unsigned latency_cycles, unsigned entries = 64)
      : sc_module(name),
        clock_(clock, *this),
        port_(socket, clock_, *this),
        latency_(latency_cycles),
        entries_(entries) {}

  tlm::tlm_target_socket<32> socket{"socket"};
  cosim::sparse_bytes bytes;
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;

  void on_cycle(heddle::cycle_t cycle) override {
    port_.send_response(cycle);
    port_.admit(cycle);
    if (port_.response_waits()) clock_.wake_at(std::max(port_.response_time(), cycle + 1));
  }

 private:
  friend class heddle::at_target_port<own_l2>;
  bool accept(tlm::tlm_generic_payload& p, heddle::cycle_t arrival, bool) {
    if (port_.responses_queued() == entries_) return false;
    perform(p);
    port_.answer(p, arrival + latency_);
    clock_.wake_at(arrival + latency_);
    return true;
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

  heddle::clock_port clock_;
  heddle::at_target_port<own_l2> port_;
  unsigned latency_;
  unsigned entries_;
};

}  // namespace parts
