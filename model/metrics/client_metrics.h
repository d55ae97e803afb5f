// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

/// What a process that shares the GPU with others got of it: sums over its launches.
struct client_metrics {
  std::string name;
  std::string slice;                 // of the divided GPU; empty: none
  std::uint32_t sms = 0;             // on which its blocks may be at once
  std::uint32_t most_sms = 0;        // on which they were at once, at most
  std::uint64_t launches = 0;        // that have begun
  std::uint64_t doorbell_cycle = 0;  // of its first launch
  std::uint64_t start_cycle = 0;     // of its first launch
  std::uint64_t end_cycle = 0;       // of its last one
  std::uint64_t cycles = 0;          // from its first doorbell to its end
  std::uint64_t active_cycles = 0;   // with a launch of it that has begun and not ended
  std::uint64_t sm_cycles = 0;       // sum over launches and SMs of cycles with warps of the launch
  std::uint64_t blocks = 0;
  std::uint64_t inst_executed = 0;
  double ipc = 0;                 // of all its SMs, in its active cycles
  std::uint64_t l2_accesses = 0;  // sectors
  std::uint64_t l2_hits = 0;
  std::uint64_t dram_read_bytes = 0;
  std::uint64_t dram_write_bytes = 0;
  std::uint64_t launch_cycles = 0;  // waits of its launches: from the doorbell, or the end of the launch before, on
  std::uint64_t alone_cycles = 0;   // `cycles` when it runs alone on the same machine; 0: not measured

  /// `cycles` as a multiple of those when it runs alone; 0: not measured.
  [[nodiscard]] double slowdown() const {
    return alone_cycles == 0 ? 0 : static_cast<double>(cycles) / static_cast<double>(alone_cycles);
  }

  template <class V>
  void visit(V&& v) const {
    v("sms", sms);
    v("most_sms", most_sms);
    v("launches", launches);
    v("doorbell_cycle", doorbell_cycle);
    v("start_cycle", start_cycle);
    v("end_cycle", end_cycle);
    v("cycles", cycles);
    v("active_cycles", active_cycles);
    v("sm_cycles", sm_cycles);
    v("blocks", blocks);
    v("inst_executed", inst_executed);
    v("ipc", ipc);
    v("l2_accesses", l2_accesses);
    v("l2_hits", l2_hits);
    v("dram_read_bytes", dram_read_bytes);
    v("dram_write_bytes", dram_write_bytes);
    v("launch_cycles", launch_cycles);
  }
};

}  // namespace heddle
