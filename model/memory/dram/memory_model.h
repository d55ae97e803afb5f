// SPDX-License-Identifier: MIT
// Models: the common part of all memory channels: bytes, AT handshakes, queue slots, statistics.
// Sockets: request_sockets, one for each slice of the channel (targets, from L2 slices or any AT initiators); AT, LT
// and debug transport. One cycle: the derived model works; one due response leaves; a blocked request is admitted.
// Parameters: memory.channels, l2.slices_per_channel, l2.interleave_bytes, l2.hash (which bytes it owns). Source:
// docs/model/memory.md.
#pragma once

#include <cstdint>
#include <memory>
#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/address_map.h"
#include "heddle/memory/common/byte_store.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/memory/common/slot_counter.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/port/at_target_port.h"

namespace heddle {

/// Counters of one launch in one channel.
struct memory_counters {
  std::uint64_t reads = 0;  // requests
  std::uint64_t writes = 0;
  std::uint64_t read_bytes = 0;
  std::uint64_t write_bytes = 0;  // enabled bytes only
  std::uint64_t row_hits = 0;     // requests whose row was open
  std::uint64_t row_misses = 0;   // requests for which the row was activated
  std::uint64_t activates = 0;
  std::uint64_t busy_cycles = 0;  // cycles in which the data bus transferred bytes
  // Reasons for idle cycles of a dram_channel's data bus between transfers of the launch; the first that applies
  // counts.
  std::uint64_t idle_cycles = 0;  // no request, or back-pressure on responses
  std::uint64_t refresh_cycles = 0;
  std::uint64_t turnaround_cycles = 0;  // between reads and writes; column commands further apart than their data
  std::uint64_t row_cycles = 0;         // a row was closed or opened
  void exchange(state_image& image) { image.numbers(*this); }
};

/// A memory channel that owns its bytes. A request takes effect when it arrives; the derived model decides when it is
/// answered. A request for another channel's address gets an address error. The slices of a channel share its queue;
/// each is answered by its own socket.
class memory_model : public sc_core::sc_module, public clocked, private at_target_unit {
 public:
  sc_core::sc_vector<tlm::tlm_target_socket<32>> request_sockets;  // by slice of the channel

  void on_cycle(cycle_t cycle) override;
  void trace(sc_core::sc_trace_file* file) const override;

  [[nodiscard]] bool idle() const;
  /// Throws internal_error if a request was lost.
  virtual void check_invariants() const;
  /// The payloads have been named. A memory that does not describe its state throws state_error.
  virtual void exchange(state_image& image);
  [[nodiscard]] const per_launch<memory_counters>& counters() const { return counters_; }
  /// For the one who builds the chip.
  void count_in(launch_index<memory_counters>& all) { counters_.join(all); }
  /// Host memory allocated for the bytes.
  [[nodiscard]] std::uint64_t allocated_bytes() const;
  [[nodiscard]] unsigned index() const { return index_; }
  /// Requests that are not answered, of all its slices.
  [[nodiscard]] queue_level requests_now() const { return slots_.now(); }
  /// The socket of one of the channel's slices, by the slice's number in the GPU.
  tlm::tlm_target_socket<32>& socket_of_slice(unsigned slice) { return request_sockets[map_.slice_in_channel(slice)]; }
  /// By the slice's own addresses, past requests and responses.
  byte_store& bytes_of_slice(unsigned slice) { return bytes_[map_.slice_in_channel(slice)]; }

 protected:
  memory_model(sc_core::sc_module_name name, clock_domain& clock, const gpu_config& config, unsigned index,
               unsigned entries);

  /// Called when a request has a queue slot; it may be processed from cycle `arrival` on.
  virtual void enter(tlm::tlm_generic_payload& p, cycle_t arrival) = 0;
  /// Works in one cycle. Returns the next cycle in which there may be work (never: not before another request).
  virtual cycle_t work(cycle_t now) = 0;
  /// Latency of an access without load, for LT initiators.
  [[nodiscard]] virtual cycle_t unloaded_cycles(const tlm::tlm_generic_payload& p) const = 0;

  /// Sends the response in cycle `due`; calls must be in the order of `due`.
  void answer(tlm::tlm_generic_payload& p, cycle_t due) { ports_[slice_in_channel(p)]->answer(p, due); }
  /// Frees the request's queue slot.
  void leave(cycle_t now) { slots_.give(now); }
  /// The state of this class: the first part of that of a derived one.
  void exchange_common(state_image& image);
  /// The longest queue of answers.
  [[nodiscard]] std::size_t answers_waiting() const;
  /// Within the channel: it decides bank and row.
  [[nodiscard]] std::uint64_t local_address(const tlm::tlm_generic_payload& p) const {
    return map_.channel_address(p.get_address());
  }
  memory_counters& counters_of(std::uint32_t launch) { return counters_[launch]; }
  /// The request's launch, 0 if it has none.
  static std::uint32_t launch_of(const tlm::tlm_generic_payload& p);

 private:
  friend class at_target_port<memory_model>;
  bool accept(tlm::tlm_generic_payload& p, cycle_t arrival, bool again);
  void b_transport(tlm::tlm_generic_payload& p, sc_core::sc_time& delay);
  unsigned transport_dbg(tlm::tlm_generic_payload& p);
  void perform(tlm::tlm_generic_payload& p);
  [[nodiscard]] unsigned slice_in_channel(const tlm::tlm_generic_payload& p) const {
    return ports_.size() == 1 ? 0 : map_.slice_in_channel(map_.slice_of(p.get_address()));
  }

  address_map map_;
  unsigned index_;
  clock_port clock_;
  std::vector<std::unique_ptr<at_target_port<memory_model>>> ports_;  // by slice of the channel
  std::vector<byte_store> bytes_;
  slot_counter slots_;
  per_launch<memory_counters> counters_;
};

}  // namespace heddle
