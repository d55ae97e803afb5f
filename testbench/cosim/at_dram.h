// SPDX-License-Identifier: MIT
// Models: a third-party DRAM with open rows that knows nothing of GPUs. Several ports share the banks and the data
// bus. Sockets: socket of each port (AT and LT target, 32 bits; debug transport, no DMI). One cycle: none; it is event
// driven and uses all four phases of the base protocol. Parameters: the timings below. Source: none, the values are
// plausible.
#pragma once

#include <tlm_utils/peq_with_cb_and_phase.h>
#include <tlm_utils/simple_target_socket.h>
#include <array>
#include <cstdint>
#include <deque>
#include <systemc>
#include <tlm>

#include "testbench/cosim/sparse_bytes.h"

namespace cosim {

class at_dram;

/// One port of the DRAM. It accepts a request every command_time and responds in the order in which the banks finish.
class at_port : public sc_core::sc_module {
 public:
  at_port(sc_core::sc_module_name name, at_dram& dram);
  tlm_utils::simple_target_socket<at_port> socket;

 private:
  tlm::tlm_sync_enum nb_transport_fw(tlm::tlm_generic_payload& p, tlm::tlm_phase& phase, sc_core::sc_time& delay);
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& p);
  void on_event(tlm::tlm_generic_payload& p, const tlm::tlm_phase& phase);
  void respond(tlm::tlm_generic_payload& p);

  at_dram& dram_;
  tlm_utils::peq_with_cb_and_phase<at_port> events_;
  bool responding_ = false;                         // BEGIN_RESP sent, END_RESP not yet seen
  std::deque<tlm::tlm_generic_payload*> finished_;  // each waits for the end of the previous response
};

class at_dram : public sc_core::sc_module {
 public:
  at_dram(sc_core::sc_module_name name, unsigned ports);

  sc_core::sc_vector<at_port> port;
  sparse_bytes bytes;

  /// Reads or writes the bytes of a transaction, with byte enables, and sets its response status.
  void perform(tlm::tlm_generic_payload& p);
  /// Reserves bank and bus for an access; returns the time from now until its data have passed the bus.
  sc_core::sc_time serve(std::uint64_t address, unsigned length);
  [[nodiscard]] std::uint64_t accesses() const { return accesses_; }
  [[nodiscard]] std::uint64_t row_hits() const { return row_hits_; }

  const sc_core::sc_time command_time{1, sc_core::SC_NS};

 private:
  struct bank {
    std::uint64_t row = ~std::uint64_t{0};
    sc_core::sc_time free;
  };
  std::array<bank, 16> banks_;
  sc_core::sc_time bus_free_;
  std::uint64_t accesses_ = 0;
  std::uint64_t row_hits_ = 0;
};

}  // namespace cosim
