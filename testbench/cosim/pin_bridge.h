// SPDX-License-Identifier: MIT
// Models: a transactor from TLM to pins: each transaction becomes accesses of 8 bytes at a request/response interface.
// Sockets: socket (target, 32 bits; blocking and non-blocking; debug transport goes to the storage behind the pins).
// One cycle: at most one beat is in flight; the next begins after its response. Parameters: none. Source: none.
#pragma once

#include <tlm_utils/simple_target_socket.h>
#include <cstdint>
#include <deque>
#include <systemc>
#include <tlm>

#include "testbench/cosim/sparse_bytes.h"

namespace cosim {

class pin_bridge : public sc_core::sc_module {
 public:
  pin_bridge(sc_core::sc_module_name name, sparse_bytes& storage);

  // The convenience socket converts non-blocking transactions into calls of b_transport, each in its own process.
  tlm_utils::simple_target_socket<pin_bridge> socket{"socket"};
  sc_core::sc_in<bool> clk{"clk"};
  sc_core::sc_out<bool> request_valid{"request_valid"};
  sc_core::sc_in<bool> request_ready{"request_ready"};
  sc_core::sc_out<bool> request_write{"request_write"};
  sc_core::sc_out<std::uint32_t> request_word{"request_word"};
  sc_core::sc_out<std::uint64_t> request_data{"request_data"};
  sc_core::sc_out<std::uint32_t> request_strobe{"request_strobe"};
  sc_core::sc_in<bool> response_valid{"response_valid"};
  sc_core::sc_in<std::uint64_t> response_data{"response_data"};

  [[nodiscard]] std::uint64_t beats() const { return beats_; }

 private:
  struct job {
    tlm::tlm_generic_payload* payload;
    sc_core::sc_event done;
  };
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& p);
  void drive();
  void perform(tlm::tlm_generic_payload& p);
  std::uint64_t beat(bool write, std::uint32_t word, std::uint64_t data, std::uint32_t strobe);

  sparse_bytes& storage_;
  std::deque<job*> jobs_;  // in the order of arrival, in which they take effect
  sc_core::sc_event arrived_;
  std::uint64_t beats_ = 0;
};

}  // namespace cosim
