// SPDX-License-Identifier: MIT
// Models: what a GPU asks of a slice of its L2; whoever replaces the L2 derives from it (gpu_blocks.h).
// Sockets: request_socket (target, from the interconnect: base protocol, atomics as TLM_IGNORE_COMMAND with the
// extension gpu_request),
//   memory_socket (initiator, to the slice's memory channel); to be bound by the one that derives.
// One cycle: that of the one that derives.
// Parameters: [l2].
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <systemc>
#include <tlm>

#include "heddle/memory/common/per_launch.h"

namespace heddle {

/// What one launch did in one slice. Sectors are 32 bytes; read_sectors = read_hits + read_misses + read_pending_hits
/// (atomics count as reads of the sectors of their cells), write_sectors = write_hits + write_misses.
struct l2_counters {
  std::uint64_t reads = 0;  // requests
  std::uint64_t writes = 0;
  std::uint64_t atomics = 0;
  std::uint64_t atomic_lanes = 0;
  std::uint64_t atomic_changes = 0;  // cells that an atomic left with another value
  std::uint64_t read_sectors = 0;
  std::uint64_t read_hits = 0;          // all bytes wanted of the sector were there
  std::uint64_t read_misses = 0;        // the sector was fetched for this request
  std::uint64_t read_pending_hits = 0;  // the sector was already on its way
  std::uint64_t write_sectors = 0;
  std::uint64_t write_hits = 0;  // the line was there
  std::uint64_t write_misses = 0;
  std::uint64_t evictions = 0;    // lines that gave way to another
  std::uint64_t write_backs = 0;  // writes to memory
  std::uint64_t write_back_bytes = 0;
  std::uint64_t fetches = 0;  // reads from memory
  std::uint64_t fetch_bytes = 0;
};

/// Debug transport reaches the memory through it, too: by it images come and go, past lines that are dirty here.
class l2_cache : public sc_core::sc_module {
 public:
  tlm::tlm_target_socket<32> request_socket;
  tlm::tlm_initiator_socket<32> memory_socket;

  /// Told of a write that the memory answered with an error: its bytes are lost. Without a listener that is an
  /// SC_ERROR.
  std::function<void(const std::string&)> on_lost_write;

  /// Writes back what is dirty now, then calls `done`. Without an implementation nothing ever is.
  virtual void flush(std::function<void()> done) { done(); }
  /// Forgets what is not dirty: somebody else may have written the memory. Without an implementation nothing is kept.
  virtual void drop_clean() {}
  /// Nothing is under way.
  virtual bool idle() const = 0;
  /// An answer of the memory is to come, or something else that no clock of the GPU knows of.
  virtual bool awaits_memory() const { return !idle(); }
  /// Cycles of its clock that lie at least between the BEGIN_REQ of any request and its BEGIN_RESP.
  virtual unsigned least_response_cycles() const { return 0; }
  /// Throws internal_error when counters do not add up or a request was lost.
  virtual void check_invariants() const {}
  const per_launch<l2_counters>& counters() const { return counters_; }

 protected:
  explicit l2_cache(sc_core::sc_module_name name)
      : sc_module(name), request_socket("request_socket"), memory_socket("memory_socket") {}

  per_launch<l2_counters> counters_;
};

}  // namespace heddle
