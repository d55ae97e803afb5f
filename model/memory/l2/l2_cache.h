// SPDX-License-Identifier: MIT
// Models: the interface that a GPU expects of an L2 slice; a replacement of the L2 derives from it (gpu_blocks.h).
// Sockets: request_socket (target, from the interconnect: base protocol, atomics as TLM_IGNORE_COMMAND with the
//   extension gpu_request), memory_socket (initiator, to the slice's memory channel); the derived class binds them.
// One cycle: defined by the derived class.
// Parameters: [l2].
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <systemc>
#include <tlm>

#include "heddle/memory/common/per_launch.h"
#include "heddle/memory/common/slot_counter.h"
#include "heddle/memory/common/touched_lines.h"
#include "heddle/memory/l2/flush_observer.h"
#include "heddle/memory/l2/lost_write_observer.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// Counters of one launch in one slice. Sectors are 32 bytes; read_sectors = read_hits + read_misses +
/// read_pending_hits (atomics count as reads of their cells' sectors), write_sectors = write_hits + write_misses.
struct l2_counters {
  std::uint64_t reads = 0;  // requests
  std::uint64_t writes = 0;
  std::uint64_t atomics = 0;
  std::uint64_t atomic_lanes = 0;
  std::uint64_t atomic_changes = 0;  // cells whose value an atomic changed
  std::uint64_t atomic_cycles = 0;   // of the L2, in which the atomic unit was busy
  std::uint64_t read_sectors = 0;
  std::uint64_t read_hits = 0;          // all requested bytes of the sector were present
  std::uint64_t read_misses = 0;        // the sector was fetched for this request
  std::uint64_t read_pending_hits = 0;  // the sector was being fetched already
  std::uint64_t write_sectors = 0;
  std::uint64_t write_hits = 0;  // the line was present
  std::uint64_t write_misses = 0;
  std::uint64_t evictions = 0;    // lines replaced by another
  std::uint64_t write_backs = 0;  // writes to memory
  std::uint64_t write_back_bytes = 0;
  std::uint64_t fetches = 0;  // reads from memory
  std::uint64_t fetch_bytes = 0;
  void exchange(state_image& image) { image.numbers(*this); }
};

/// Debug transport to the memory also passes through it: images are loaded and read back consistently with dirty lines.
class l2_cache : public sc_core::sc_module {
 public:
  tlm::tlm_target_socket<32> request_socket;
  tlm::tlm_initiator_socket<32> memory_socket;

  /// Reports writes that the memory answers with an error to `observer` from now on. Without an observer they are an
  /// SC_ERROR.
  void observe_lost_writes(lost_write_observer& observer) { lost_writes_ = &observer; }

  /// Writes back all bytes that are dirty now, then tells `observer`, which must live until then. The default is for a
  /// cache that never holds dirty bytes.
  virtual void flush(flush_observer& observer) { observer.flushed(); }
  /// Drops clean bytes, as another agent may have written the memory. The default is for a cache that keeps no bytes.
  virtual void drop_clean() {}
  /// For a reset, after flush() and drop_clean(), when idle: as constructed, but for counters.
  virtual void restart() {}
  /// True if nothing is in flight.
  [[nodiscard]] virtual bool idle() const = 0;
  /// True if the cache waits for a memory response or another event that no clock domain of the GPU schedules.
  [[nodiscard]] virtual bool awaits_memory() const { return !idle(); }
  /// A request that the memory has not answered.
  struct open_request {
    bool write = false;
    std::uint64_t address = 0;
    unsigned bytes = 0;
    sc_core::sc_time age;   // since BEGIN_REQ
    bool accepted = false;  // END_REQ has come
  };
  /// The oldest one, for messages; none: the cache has none, or does not tell.
  [[nodiscard]] virtual std::optional<open_request> oldest_request() const { return std::nullopt; }
  struct queues {
    std::size_t requests = 0;  // from SMs: before their look-up
    queue_level misses;        // lines that are being fetched
    queue_level to_memory;     // requests that have not left for the memory
  };
  /// The default is for a cache that does not tell.
  [[nodiscard]] virtual queues queues_now() const { return {}; }
  /// From now on it counts the lines that are accessed. The default is for a cache that does not.
  virtual void count_touched() {}
  /// How much of it holds lines that were accessed since then, from 0 to 1.
  [[nodiscard]] virtual double share_touched() const { return 1; }
  /// Sectors that accesses have missed, of all launches.
  [[nodiscard]] virtual std::uint64_t sectors_missed() const { return 0; }
  /// An access without timing, which counts for no launch: the line is here afterwards, and others have left for it.
  /// Returns how many of its sectors were missing. The default is for a cache that no such access changes.
  virtual unsigned warm(const line_touch& touch) { return static_cast<void>(touch), 0; }
  /// Call after the last warm(), when the memory holds what was written: lines get their bytes.
  virtual void end_warming() {}
  /// Lower bound of the cycles, of its clock, from any request's BEGIN_REQ to its BEGIN_RESP.
  [[nodiscard]] virtual unsigned least_response_cycles() const { return 0; }
  /// Throws internal_error if counters do not add up or a request was lost.
  virtual void check_invariants() const {}
  /// Its state can be described now. The default: when it is idle.
  [[nodiscard]] virtual bool has_image() const { return idle(); }
  /// Names the objects that others point to.
  virtual void name_objects(state_image& image) { static_cast<void>(image); }
  /// A cache that does not describe its state throws state_error.
  virtual void exchange(state_image& image) {
    static_cast<void>(image);
    throw state_error(std::string("the L2 slice '") + name() + "' has no state image");
  }
  [[nodiscard]] const per_launch<l2_counters>& counters() const { return counters_; }
  /// For the one who builds the chip.
  void count_in(launch_index<l2_counters>& all) { counters_.join(all); }

 protected:
  explicit l2_cache(sc_core::sc_module_name name)
      : sc_module(name), request_socket("request_socket"), memory_socket("memory_socket") {}

  void report_lost_write(const std::string& text) const {
    if (lost_writes_ != nullptr) lost_writes_->write_lost(text);
    else SC_REPORT_ERROR("/heddle/memory", text.c_str());
  }

  per_launch<l2_counters> counters_;

 private:
  lost_write_observer* lost_writes_ = nullptr;
};

}  // namespace heddle
