// SPDX-License-Identifier: MIT
// Models: the timing of an SM's first-level constant cache: tags with LRU replacement (the bytes are read at issue).
// Sockets: access_socket (target, on_chip_protocol) from the load/store unit.
// One cycle: one address is looked up and broadcast to all lanes that use it; different addresses are serialized.
// Parameters: [constant_cache]; a miss is served by the next level with a fixed latency.
// Source: Jia et al. 2018, table 3.1 (sizes, latencies); CUDA programming guide, constant memory (serialization by
// address).
#pragma once

#include <systemc>
#include <tlm>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/port/blocking_target.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/protocol/on_chip_protocol.h"

namespace heddle {

struct constant_cache_counters {
  std::uint64_t requests = 0;  // warp instructions
  std::uint64_t accesses = 0;  // look-ups = hits + misses + pending_hits
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t pending_hits = 0;  // the line was being fetched already
  void exchange(state_image& image) { image.numbers(*this); }
};

class constant_cache : public sc_core::sc_module, private blocking_target<on_chip_protocol_types> {
 public:
  constant_cache(sc_core::sc_module_name name, const gpu_config& config);

  direct_target_socket<on_chip_protocol_types> access_socket;
  per_launch<constant_cache_counters> counters;

  /// Looks up `offset` of constant bank `bank` of a launch in `cycle`. Returns the cycles from then to dependent issue.
  unsigned look_up(std::uint32_t launch, unsigned bank, std::uint64_t offset, std::uint64_t cycle);
  /// Invalidates all lines.
  void invalidate();

  /// Always true: an access completes within its call.
  [[nodiscard]] bool idle() const { return true; }
  /// Throws internal_error if a launch's counters contradict each other.
  void check_invariants() const;
  void trace(sc_core::sc_trace_file* file) const override;
  void exchange(state_image& image);

 private:
  void end_of_elaboration() override { access_socket.check_bound(); }
  struct line {
    std::uint64_t number = 0;
    std::uint64_t filled = 0;  // first cycle in which it hits
    std::uint64_t used = 0;    // LRU time stamp, 0: empty
    std::uint32_t launch = 0;
    unsigned bank = 0;
    void exchange(state_image& image) { image(number, filled, used, launch, bank); }
  };
  void b_transport(on_chip_access& access, sc_core::sc_time& delay) override;

  unsigned line_bytes_;
  unsigned sets_;
  unsigned ways_;
  unsigned hit_latency_;
  unsigned miss_latency_;
  std::vector<line> lines_;
  std::uint64_t clock_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace heddle
