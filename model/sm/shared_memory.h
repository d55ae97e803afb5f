// SPDX-License-Identifier: MIT
// Models: the timing of an SM's shared memory: banks, conflicts, broadcast (its bytes are read and written at issue).
// Sockets: access_socket (target, on_chip_protocol) from the load/store unit.
// One cycle: one pass, in which each bank delivers one word to all lanes that need it; idle between accesses.
// Parameters: [shared_memory] banks, bank_bytes, latency_cycles, pass_cycles, conflict_cycles, atomic_interval_cycles,
// atomic_pass_cycles.
// Source: Mei and Chu, TPDS 2017, section 6: latency grows linearly with the degree of a conflict.
#pragma once

#include <systemc>
#include <tlm>

#include "heddle/config/parameters.h"
#include "heddle/memory/common/mean_interval.h"
#include "heddle/memory/common/per_launch.h"
#include "heddle/memory/l1/coalescer.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/port/blocking_target.h"
#include "heddle/tlm/port/direct_sockets.h"
#include "heddle/tlm/protocol/on_chip_protocol.h"

namespace heddle {

struct shared_memory_counters {
  std::uint64_t accesses = 0;           // warp instructions: loads, stores and atomics
  std::uint64_t load_requests = 0;      // warp instructions
  std::uint64_t load_transactions = 0;  // passes
  std::uint64_t store_requests = 0;
  std::uint64_t store_transactions = 0;
  std::uint64_t atomic_requests = 0;
  std::uint64_t atomic_changes = 0;  // values that an atomic changed
  std::uint64_t atomic_transactions = 0;
  std::uint64_t operand_passes = 0;   // of matrices, by tensor units
  std::uint64_t bank_conflicts = 0;   // sum of (passes - 1)
  std::uint64_t requested_bytes = 0;  // requested by threads; per access at most the bytes moved
  std::uint64_t moved_bytes = 0;      // passes times the width of all banks
};

class shared_memory : public sc_core::sc_module, private blocking_target<on_chip_protocol_types> {
 public:
  shared_memory(sc_core::sc_module_name name, const gpu_config& config);

  direct_target_socket<on_chip_protocol_types> access_socket;
  per_launch<shared_memory_counters> counters;

  /// Operands of a tensor unit are read from `cycle` on, or behind others: returns the cycle in which all `bytes` bytes
  /// have been read. Warps' accesses alternate with them.
  std::uint64_t read_operands(std::uint32_t launch, unsigned bytes, std::uint64_t cycle);
  /// Always true: an access completes within its call.
  [[nodiscard]] bool idle() const { return true; }
  /// Throws internal_error if a launch's counters contradict each other.
  void check_invariants() const;
  void exchange(state_image& image);
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  void end_of_elaboration() override { access_socket.check_bound(); }
  void b_transport(on_chip_access& access, sc_core::sc_time& delay) override;

  bank_conflicts banks_;
  unsigned pass_bytes_;
  unsigned latency_;
  mean_interval pass_;
  mean_interval atomic_pass_;
  bool has_atomic_pass_;  // false: that of other accesses
  unsigned conflict_cycles_;
  unsigned atomic_cycles_;
  std::uint64_t busy_until_ = 0;
  std::uint64_t operands_until_ = 0;  // bytes, pass_bytes_ of them in a cycle: when the tensor units' reads end
  unsigned last_passes_ = 0;
};

}  // namespace heddle
