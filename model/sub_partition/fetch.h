// SPDX-License-Identifier: MIT
// Models: the fetch stage of a sub-partition: one instruction buffer per warp, filled from the SM's instruction cache.
// Sockets: none; the issue stage asks when a warp's next instruction is in its buffer.
// One cycle: the buffer runs ahead of a warp along the straight line; only a new cache line or a changed direction
//   (branch, exit of some lanes) can make the warp wait.
// Parameters: sub_partition.fetch_latency_cycles, [instruction_cache]. Source: gpu pipelines as in Huerta et al., MICRO 2025.
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>
#include <vector>

#include "config/parameters.h"
#include "sub_partition/instruction_cache.h"
#include "sub_partition/trace_hook.h"
#include "tlm/prefetch.h"

namespace heddle {

class fetch : public sc_core::sc_module {
 public:
  fetch(sc_core::sc_module_name name, const gpu_config& config, instruction_cache& cache, unsigned slots);

  /// First cycle from `cycle` on in which instruction `pc` of the code at `code_address` is in the slot's buffer, when
  /// the warp went on in sequence.
  cycle_t next(unsigned slot, std::uint64_t code_address, std::uint32_t pc, cycle_t cycle) {
    const std::uint64_t line = line_of(code_address, pc);
    const buffer& b = buffers_[slot];
    return line == b.line ? std::max(cycle, b.available) : enter(slot, line, cycle);
  }
  /// The same after a change of direction decided in `cycle`: the buffer is flushed and refilled.
  cycle_t redirect(unsigned slot, std::uint64_t code_address, std::uint32_t pc, cycle_t cycle);
  /// A new warp: empty buffer.
  void clear(unsigned slot) { buffers_[slot].line = ~std::uint64_t{0}; }
  void prepare() const { bring_near(&instruction_bytes_, 48); }
  void trace(sc_core::sc_trace_file* file) const override;

  std::uint64_t redirects = 0;
  mutable std::uint64_t buffered = 0;   // slots whose next instruction is in its buffer; kept up to date while somebody traces it
  trace_hook on_trace;

 private:
  struct buffer {
    std::uint64_t line = ~std::uint64_t{0};   // cache line that it is fed from
    cycle_t available = 0;                    // from when on it is
  };
  std::uint64_t line_of(std::uint64_t code_address, std::uint32_t pc) const {
    return (code_address + std::uint64_t{pc} * instruction_bytes_) >> line_shift_;
  }
  cycle_t enter(unsigned slot, std::uint64_t line, cycle_t cycle);

  instruction_cache& cache_;
  unsigned instruction_bytes_;
  unsigned line_bytes_;
  unsigned line_shift_;       // lines are powers of two
  unsigned latency_cycles_;
  std::vector<buffer> buffers_;
};

}  // namespace heddle
