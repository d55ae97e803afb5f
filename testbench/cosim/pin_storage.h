// SPDX-License-Identifier: MIT
// Models: a synchronous SRAM of 8-byte words at the pins of a memory controller.
// Sockets: none; pins.
// One cycle: on a rising edge with enable, writes the bytes selected by strobe or drives a word on read_data.
// Parameters: none. Source: none.
#pragma once

#include <heddle/tlm/kernel/has_process.h>
#include <cstdint>
#include <systemc>

#include "testbench/cosim/sparse_bytes.h"

namespace cosim {

class pin_storage : public sc_core::sc_module {
 public:
  explicit pin_storage(sc_core::sc_module_name name) : sc_module(name) {
    HEDDLE_HAS_PROCESS(pin_storage);
    SC_METHOD(on_clock);
    sensitive << clk.pos();
    dont_initialize();
  }

  sc_core::sc_in<bool> clk{"clk"};
  sc_core::sc_in<bool> enable{"enable"};
  sc_core::sc_in<bool> write{"write"};
  sc_core::sc_in<std::uint32_t> word{"word"};
  sc_core::sc_in<std::uint64_t> data{"data"};
  sc_core::sc_in<std::uint32_t> strobe{"strobe"};
  sc_core::sc_out<std::uint64_t> read_data{"read_data"};
  sparse_bytes bytes;

 private:
  void on_clock() {
    if (!enable.read()) return;
    const std::uint64_t address = std::uint64_t{word.read()} * 8;
    if (!write.read()) {
      std::uint8_t out[8];
      bytes.read(address, out, 8);
      std::uint64_t value = 0;
      for (unsigned i = 0; i < 8; ++i) value |= std::uint64_t{out[i]} << (8 * i);
      read_data.write(value);
      return;
    }
    for (unsigned i = 0; i < 8; ++i) {
      const std::uint8_t byte = static_cast<std::uint8_t>(data.read() >> (8 * i));
      if (strobe.read() >> i & 1) bytes.write(address + i, &byte, 1);
    }
  }
};

}  // namespace cosim
