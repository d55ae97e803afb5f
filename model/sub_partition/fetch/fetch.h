// SPDX-License-Identifier: MIT
// Models: the fetch stage of a sub-partition: one instruction buffer per warp, filled from the SM's instruction cache.
// Sockets: none; the issue stage calls it to learn when a warp's next instruction is in its buffer.
// One cycle: an entry of the buffer is free when its instruction issues, and is refilled fetch_latency_cycles later; so
//   the buffer prefetches as many sequential instructions as it has entries. A new cache line, a change of direction
//   (branch, exit of some lanes) or an entry that is not yet refilled makes the warp wait.
// Parameters: sub_partition.instruction_buffer_entries and .fetch_latency_cycles, [instruction_cache]. Source:
//   pipelines as in Huerta et al., MICRO 2025.
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/sub_partition/fetch/instruction_cache.h"
#include "heddle/tlm/kernel/prefetch.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/trace_observer.h"
#include "heddle/tlm/port/module_part.h"

namespace heddle {

class fetch final : public module_part {
 public:
  fetch(const part_name& name, const gpu_config& config, instruction_cache& cache, unsigned slots);

  /// First cycle from `cycle` on in which instruction `pc` of the code at `code_address` is in the slot's buffer, if
  /// the warp continues in sequence. never: its line is in flight from memory, and arrived() names the slot.
  cycle_t next(unsigned slot, std::uint64_t code_address, std::uint32_t pc, cycle_t cycle) {
    const std::uint64_t line = line_of(code_address, pc);
    const buffer& b = hot_.buffers[slot];
    const cycle_t at = line == b.line ? std::max(cycle, b.available) : enter(slot, line, cycle);
    return __builtin_expect(hot_.is_short, 0) ? std::max(at, refilled(slot)) : at;
  }
  /// The slot's next instruction left its buffer in `cycle`.
  void issued(unsigned slot, cycle_t cycle) {
    if (__builtin_expect(hot_.is_short, 0)) free_entry(slot, cycle);
  }
  /// First cycle in which the instruction is in the buffer after a change of direction resolved in `cycle`: the buffer
  /// is flushed and refilled. never: as for next().
  cycle_t redirect(unsigned slot, std::uint64_t code_address, std::uint32_t pc, cycle_t cycle);
  /// A new warp, of `launch`: empty buffer.
  void clear(unsigned slot, std::uint32_t launch) {
    hot_.buffers[slot].line = ~std::uint64_t{0};
    waiting_ &= ~(std::uint64_t{1} << slot);
    launches_[slot] = launch;
  }
  /// The `bytes` bytes of code at `address` came from memory in `cycle`. Returns the slots whose buffer waited for them
  /// (bit set); next() tells when each is filled.
  std::uint64_t arrived(std::uint64_t address, unsigned bytes, cycle_t cycle);
  /// Number of entries that hides the fetch latency at the full issue rate: with as many, a warp never waits for
  /// sequential instructions.
  static unsigned ample_entries(const sub_partition_parameters& p) { return p.fetch_latency_cycles * p.issue_width; }
  void prefetch() const { host_prefetch(&hot_, sizeof hot_); }
  void exchange(state_image& image);
  void trace(sc_core::sc_trace_file* file) const override;

  std::uint64_t redirects = 0;
  mutable std::uint64_t buffered = 0;  // slots whose next instruction is in its buffer; updated only while traced
  void observe(const trace_observer* observer) { traced_by_ = observer; }

 private:
  struct buffer {
    std::uint64_t line = ~std::uint64_t{0};  // cache line from which it is filled
    cycle_t available = 0;                   // cycle from which the line can be read; never: not known yet

    void exchange(state_image& image) { image(line, available); }
  };
  [[nodiscard]] std::uint64_t line_of(std::uint64_t code_address, std::uint32_t pc) const {
    return (code_address + std::uint64_t{pc} * hot_.instruction_bytes) >> hot_.line_shift;
  }
  cycle_t enter(unsigned slot, std::uint64_t line, cycle_t cycle);
  cycle_t refill(unsigned slot, cycle_t there);
  [[nodiscard]] cycle_t refilled(unsigned slot) const {
    return freed_[slot * entries_ + next_entry_[slot]] + latency_cycles_;
  }
  void free_entry(unsigned slot, cycle_t cycle);

  /// What every instruction touches.
  struct alignas(64) hot_state {
    hot_state(const gpu_config& config, unsigned slots);

    std::vector<buffer> buffers;
    unsigned instruction_bytes;
    unsigned line_shift;  // lines are powers of two
    bool is_short;        // too few entries to hide the latency: freed_ and next_entry_ are used
  };
  static_assert(sizeof(hot_state) == 64, "one cache line");
  hot_state hot_;
  instruction_cache& cache_;
  unsigned line_bytes_;
  unsigned latency_cycles_;
  unsigned entries_;
  std::vector<cycle_t> freed_;            // by slot and entry: cycle in which its last instruction issued
  std::vector<std::uint8_t> next_entry_;  // by slot: the entry of the next instruction
  std::vector<std::uint32_t> launches_;   // by slot: of its warp
  std::uint64_t waiting_ = 0;             // set of slots whose line is in flight
  std::vector<bool> redirected_;          // by slot: its line is in flight, and was needed for a change of direction
  const trace_observer* traced_by_ = nullptr;
};

}  // namespace heddle
