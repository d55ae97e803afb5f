// SPDX-License-Identifier: MIT
// Models: software-controlled dependence: the stall count of each instruction, and six counters per warp. Instructions
//   of variable latency raise counters; their results, or the reads of their sources, lower them.
// Sockets: none; the issue stage probes it, write-back updates it.
// One cycle: nothing; it holds times and counts, so that no warps are scanned.
// Parameters: sub_partition.dependence. Source: control codes as described by maxas and Jia et al. 2018
//   (arXiv:1804.06826), section 2.1; they are generated when a kernel is decoded (control_codes.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

#include "heddle/isa/set_bits.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/dependence/scoreboard.h"
#include "heddle/tlm/kernel/prefetch.h"
#include "heddle/tlm/kernel/trace_observer.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/module_part.h"

namespace heddle {

class dependence_counters final : public module_part {
 public:
  dependence_counters(const part_name& name, unsigned slots) : module_part(name), rows_(slots), traced_(slots) {}

  /// When the slot's warp may issue `d`: the stall counts of its predecessors have passed and the counters it waits for
  /// are zero.
  [[nodiscard]] scoreboard::answer probe(unsigned slot, const decoded_instruction& d) const {
    const row& r = rows_[slot];
    cycle_t cycle = r.stall_until;
    producer kind = producer::fixed;
    if (const unsigned raised = d.waits & r.raised) {
      for (const unsigned counter : set_bits(raised)) kind = std::max(kind, r.kind[counter]);
      return {never, kind};
    }
    for (const unsigned k : set_bits(d.waits)) {
      if (r.ready[k] <= cycle) continue;
      cycle = r.ready[k];
      kind = r.kind[k];
    }
    return {cycle, kind};
  }

  /// `d` was issued; its operands are read in `cycle`.
  void issued(unsigned slot, const decoded_instruction& d, cycle_t cycle) { rows_[slot].stall_until = cycle + d.stall; }
  /// The results of `d` are available from `cycle` on.
  void set_ready(unsigned slot, const decoded_instruction& d, cycle_t cycle) {
    row& r = rows_[slot];
    // A counter does not distinguish guards: instructions that compute with the predicate wait as long.
    const cycle_t as_guard = cycle + d.guard_cycles;
    r.latest = std::max(r.latest, as_guard);
    if (d.counter == no_counter) r.uncounted = std::max(r.uncounted, as_guard);
    else raise_until(r, d.counter, as_guard, d.result);
  }
  /// The memory instruction `d` will have read its source registers in `cycle`.
  void set_read(unsigned slot, const decoded_instruction& d, cycle_t cycle, producer kind) {
    if (d.read_counter != no_counter) raise_until(rows_[slot], d.read_counter, cycle, kind);
  }
  /// The results of `d` arrive at an unknown time.
  void set_pending(unsigned slot, const decoded_instruction& d, producer kind) {
    if (d.counter == no_counter) return;
    row& r = rows_[slot];
    r.kind[d.counter] = is_raised(r, d.counter) ? std::max(r.kind[d.counter], kind) : kind;
    ++r.pending[d.counter];
    r.raised |= static_cast<std::uint8_t>(1u << d.counter);
  }
  /// The results have arrived and may be used from `cycle` on.
  void release(unsigned slot, const decoded_instruction& d, cycle_t cycle) {
    row& r = rows_[slot];
    r.latest = std::max(r.latest, cycle);
    if (d.counter == no_counter) return;
    r.ready[d.counter] = std::max(r.ready[d.counter], cycle);
    if (--r.pending[d.counter] == 0) r.raised &= static_cast<std::uint8_t>(~(1u << d.counter));
  }
  /// The warp leaves the straight-line code for which the stall counts hold, so it waits for all results that no
  /// counter guards.
  void jump(unsigned slot) { rows_[slot].stall_until = std::max(rows_[slot].stall_until, rows_[slot].uncounted); }
  /// First cycle in which all results of the slot's instructions are available. No counter may be raised.
  [[nodiscard]] cycle_t settled(unsigned slot) const { return rows_[slot].latest; }
  /// A new warp.
  void clear(unsigned slot) { rows_[slot] = {}; }
  /// Of a slot with a warp.
  void exchange(unsigned slot, state_image& image) { image(rows_[slot]); }
  /// Prefetches the slot's row.
  void prefetch(unsigned slot) const { host_prefetch(&rows_[slot], sizeof(row)); }

  /// Samples which of the slot's counters are not zero in `cycle`.
  void sample(unsigned slot, cycle_t cycle) const {
    const row& r = rows_[slot];
    unsigned raised = r.raised;
    for (unsigned k = 0; k < counter_count; ++k) raised |= static_cast<unsigned>(r.ready[k] > cycle) << k;
    traced_[slot] = static_cast<std::uint8_t>(raised);
  }
  void observe(const trace_observer* observer) { traced_by_ = observer; }
  void trace(sc_core::sc_trace_file* file) const override {
    for (std::size_t s = 0; s < traced_.size(); ++s)
      sc_core::sc_trace(file, traced_[s], name() + ".warp" + std::to_string(s) + "_raised", counter_count);
    if (traced_by_ != nullptr) traced_by_->traced(file);
  }

 private:
  struct row {
    cycle_t stall_until = 0;
    cycle_t latest = 0;     // cycle in which the last result of known time is available,
    cycle_t uncounted = 0;  // and the last one that only stall counts guard
    std::array<cycle_t, counter_count> ready{};
    std::array<std::uint16_t, counter_count> pending{};
    std::array<producer, counter_count> kind{};
    std::uint8_t raised = 0;  // counters that are not zero
    void exchange(state_image& image) { image(stall_until, latest, uncounted, ready, pending, kind, raised); }
  };
  static bool is_raised(const row& r, unsigned counter) { return (r.raised >> counter & 1) != 0; }
  static void raise_until(row& r, unsigned counter, cycle_t cycle, producer kind) {
    if (is_raised(r, counter)) r.kind[counter] = std::max(r.kind[counter], kind);
    else if (cycle >= r.ready[counter]) r.kind[counter] = kind;
    r.ready[counter] = std::max(r.ready[counter], cycle);
  }
  std::vector<row> rows_;
  mutable std::vector<std::uint8_t> traced_;  // by slot, bit per counter; updated only while traced
  const trace_observer* traced_by_ = nullptr;
};

}  // namespace heddle
