// SPDX-License-Identifier: MIT
// Models: a bus of AXI between an initiator and a target of TLM-2.0, as the usual pair of bridges makes one. It uses
// nothing of Heddle.
// Sockets: target, initiator (LT, as wide as the bus).
// One cycle: none; a beat takes beat_time, which is annotated.
// Parameters: the width of the bus; beat_bytes, beat_time. Source: AMBA AXI4 (lanes, strobes, bursts).
#pragma once

#include <tlm_utils/simple_initiator_socket.h>
#include <tlm_utils/simple_target_socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <systemc>
#include <tlm>
#include <vector>

namespace standards {

/// The first bridge converts a transaction into a burst: beats of `beat_bytes`, each on the lanes of its address, byte
/// enables as strobes of a write (a read has none, and its bridge drops the bytes that were not asked for). A
/// transaction with a streaming width becomes a burst to one address (FIXED). The second bridge converts the burst into
/// one transaction: the strobes as byte enables unless all are set; for FIXED the whole lanes of the bus, beat after
/// beat, with the bus as streaming width. AXI's response is OKAY whatever the target's status is.
template <unsigned bits>
class axi_path : public sc_core::sc_module {
 public:
  static constexpr unsigned bus = bits / 8;
  explicit axi_path(sc_core::sc_module_name name) : sc_module(name) {
    target.register_b_transport(this, &axi_path::b_transport);
  }
  tlm_utils::simple_target_socket<axi_path, bits> target{"target"};
  tlm_utils::simple_initiator_socket<axi_path, bits> initiator{"initiator"};
  unsigned beat_bytes = bus;   // of the next transactions: a power of two, at most the bus
  sc_core::sc_time beat_time;  // of one beat; annotated to the transaction
  std::uint64_t beats = 0;
  std::uint64_t refused = 0;

 private:
  struct beat {
    std::uint64_t address = 0;  // of the first byte of the data in this beat
    unsigned first = 0;         // byte of the data
    unsigned count = 0;
    std::array<std::uint8_t, bus> lanes{};
    std::array<bool, bus> strobes{};
  };

  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay) {
    const bool fixed = p.get_streaming_width() < p.get_data_length();
    std::vector<beat> burst = burst_of(p, fixed);
    beats += burst.size();
    delay += static_cast<double>(burst.size()) * beat_time;
    transfer(p.get_command(), burst, fixed, delay);
    if (p.is_read())
      for (const beat& b : burst)
        for (unsigned i = 0; i < b.count; ++i)
          if (enabled(p, b.first + i)) p.get_data_ptr()[b.first + i] = b.lanes[(b.address + i) % bus];
    p.set_response_status(tlm::TLM_OK_RESPONSE);
  }

  static bool enabled(const tlm::tlm_generic_payload& p, unsigned i) {
    const std::uint8_t* const enables = p.get_byte_enable_ptr();
    return enables == nullptr || enables[i % p.get_byte_enable_length()] == TLM_BYTE_ENABLED;
  }

  std::vector<beat> burst_of(const tlm::tlm_generic_payload& p, bool fixed) const {
    std::vector<beat> burst;
    for (unsigned i = 0; i < p.get_data_length();) {
      beat b;
      b.address = p.get_address() + i % p.get_streaming_width();
      b.first = i;
      b.count = std::min(beat_bytes - static_cast<unsigned>(b.address % beat_bytes), p.get_data_length() - i);
      if (fixed) b.count = std::min(b.count, p.get_streaming_width() - i % p.get_streaming_width());
      for (unsigned k = 0; k < b.count; ++k) {
        b.lanes[(b.address + k) % bus] = p.is_write() ? p.get_data_ptr()[i + k] : 0;
        b.strobes[(b.address + k) % bus] = enabled(p, i + k);
      }
      i += b.count;
      burst.push_back(b);
    }
    return burst;
  }

  // The lanes of a beat that the second bridge transfers: those from its address to its end, or all for FIXED.
  void transfer(tlm::tlm_command command, std::vector<beat>& burst, bool fixed, sc_core::sc_time& delay) {
    std::vector<std::uint8_t> data, enables;
    for (const beat& b : burst)
      for (unsigned lane = fixed ? 0 : b.address % bus; lane < (fixed ? bus : b.address % bus + b.count); ++lane) {
        data.push_back(b.lanes[lane]);
        enables.push_back(b.strobes[lane] ? TLM_BYTE_ENABLED : TLM_BYTE_DISABLED);
      }
    const bool all = std::all_of(enables.begin(), enables.end(), [](std::uint8_t e) { return e == TLM_BYTE_ENABLED; });
    const auto length = static_cast<unsigned>(data.size());
    tlm::tlm_generic_payload p;
    p.set_command(command);
    p.set_address(fixed ? burst.front().address / bus * bus : burst.front().address);
    p.set_data_ptr(data.data());
    p.set_data_length(length);
    p.set_streaming_width(fixed ? bus : length);
    if (command == tlm::TLM_WRITE_COMMAND && !all) {
      p.set_byte_enable_ptr(enables.data());
      p.set_byte_enable_length(length);
    }
    initiator->b_transport(p, delay);
    refused += !p.is_response_ok();
    unsigned at = 0;
    for (beat& b : burst)
      for (unsigned lane = fixed ? 0 : b.address % bus; lane < (fixed ? bus : b.address % bus + b.count); ++lane)
        b.lanes[lane] = data[at++];
  }
};

}  // namespace standards
