// SPDX-License-Identifier: MIT
#include "testbench/cosim/pin_bridge.h"

#include <heddle/tlm/kernel/has_process.h>

namespace cosim {

pin_bridge::pin_bridge(sc_core::sc_module_name name, sparse_bytes& storage) : sc_module(name), storage_(storage) {
  socket.register_b_transport(this, &pin_bridge::b_transport);
  socket.register_transport_dbg(this, &pin_bridge::transport_dbg);
  HEDDLE_HAS_PROCESS(pin_bridge);
  SC_THREAD(drive);
}

void pin_bridge::b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
  wait(delay);
  delay = sc_core::SC_ZERO_TIME;
  job j{&p, {}};
  jobs_.push_back(&j);
  arrived_.notify();
  wait(j.done);
}

unsigned pin_bridge::transport_dbg(tlm::tlm_generic_payload& p) {
  if (p.is_read()) storage_.read(p.get_address(), p.get_data_ptr(), p.get_data_length());
  else if (p.is_write()) storage_.write(p.get_address(), p.get_data_ptr(), p.get_data_length());
  else return 0;
  return p.get_data_length();
}

// One process drives the pins for all callers.
void pin_bridge::drive() {
  while (true) {
    while (jobs_.empty()) wait(arrived_);
    job& j = *jobs_.front();
    perform(*j.payload);
    jobs_.pop_front();
    j.done.notify();
  }
}

void pin_bridge::perform(tlm::tlm_generic_payload& p) {
  const std::uint8_t* enables = p.get_byte_enable_ptr();
  std::uint8_t* bytes = p.get_data_ptr();
  if (p.get_address() % 8 != 0 || p.get_data_length() % 8 != 0 || p.get_streaming_width() < p.get_data_length()) {
    p.set_response_status(tlm::TLM_BURST_ERROR_RESPONSE);
    return;
  }
  if (enables != nullptr && p.get_byte_enable_length() == 0) {
    p.set_response_status(tlm::TLM_BYTE_ENABLE_ERROR_RESPONSE);
    return;
  }
  for (unsigned at = 0; at < p.get_data_length(); at += 8) {
    std::uint64_t data = 0;
    std::uint32_t strobe = 0;
    for (unsigned i = 0; i < 8; ++i) {
      data |= std::uint64_t{bytes[at + i]} << (8 * i);
      if (enables == nullptr || enables[(at + i) % p.get_byte_enable_length()] == TLM_BYTE_ENABLED) strobe |= 1u << i;
    }
    if (strobe == 0) continue;
    const auto word = static_cast<std::uint32_t>((p.get_address() + at) / 8);
    const std::uint64_t answer = beat(p.is_write(), word, data, strobe);
    for (unsigned i = 0; i < 8 && p.is_read(); ++i)
      if (strobe >> i & 1) bytes[at + i] = static_cast<std::uint8_t>(answer >> (8 * i));
  }
  p.set_response_status(tlm::TLM_OK_RESPONSE);
}

std::uint64_t pin_bridge::beat(bool write, std::uint32_t word, std::uint64_t data, std::uint32_t strobe) {
  ++beats_;
  request_write.write(write);
  request_word.write(word);
  request_data.write(data);
  request_strobe.write(strobe);
  request_valid.write(true);
  // A signal that is high before the edge counts at the edge.
  do wait(clk.posedge_event());
  while (!request_ready.read());
  request_valid.write(false);
  do wait(clk.posedge_event());
  while (!response_valid.read());
  return response_data.read();
}

}  // namespace cosim
