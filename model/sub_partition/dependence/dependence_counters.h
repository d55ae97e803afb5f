// SPDX-License-Identifier: MIT
// Models: software-controlled dependence: the stall count of each instruction, and six counters a warp that
// instructions of
//   variable latency raise and their results lower, or the reading of their sources.
// Sockets: none; the issue stage asks it, write-back tells it.
// One cycle: nothing; it holds times and counts, so that nobody scans warps.
// Parameters: sub_partition.dependence. Source: control codes as maxas and Jia et al. 2018 (arXiv:1804.06826),
// section 2.1, tell
//   them; which instruction gets which is worked out when a kernel is decoded (control_codes.h).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <systemc>
#include <vector>

#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/sub_partition/dependence/scoreboard.h"
#include "heddle/tlm/kernel/clock_domain.h"
#include "heddle/tlm/kernel/prefetch.h"

namespace heddle {

class dependence_counters : public sc_core::sc_module {
 public:
  dependence_counters(sc_core::sc_module_name name, unsigned slots) : sc_module(name), rows_(slots), shown_(slots) {}

  /// When the slot's warp may issue `d`: its predecessors' stall counts have passed and the counters it waits for are
  /// zero.
  scoreboard::answer probe(unsigned slot, const decoded_instruction& d) const {
    const row& r = rows_[slot];
    cycle_t cycle = r.stall_until;
    producer kind = producer::fixed;
    if (const unsigned raised = d.waits & r.raised) {
      for (unsigned m = raised; m != 0; m &= m - 1)
        kind = std::max(kind, r.kind[static_cast<unsigned>(__builtin_ctz(m))]);
      return {never, kind};
    }
    for (unsigned m = d.waits; m != 0; m &= m - 1) {
      const unsigned k = static_cast<unsigned>(__builtin_ctz(m));
      if (r.ready[k] <= cycle) continue;
      cycle = r.ready[k];
      kind = r.kind[k];
    }
    return {cycle, kind};
  }

  /// `d` was issued; `cycle` is when its operands were read.
  void issued(unsigned slot, const decoded_instruction& d, cycle_t cycle) { rows_[slot].stall_until = cycle + d.stall; }
  /// Results of `d` are there from `cycle` on.
  void set_ready(unsigned slot, const decoded_instruction& d, cycle_t cycle) {
    row& r = rows_[slot];
    // A counter knows no guards: who computes with the predicate waits as long.
    const cycle_t as_guard = cycle + d.guard_cycles;
    r.latest = std::max(r.latest, as_guard);
    if (d.counter == no_counter) r.uncounted = std::max(r.uncounted, as_guard);
    else raise_until(r, d.counter, as_guard, d.result);
  }
  /// The memory instruction `d` will have read its source registers in `cycle`.
  void set_read(unsigned slot, const decoded_instruction& d, cycle_t cycle, producer kind) {
    if (d.read_counter != no_counter) raise_until(rows_[slot], d.read_counter, cycle, kind);
  }
  /// Results of `d` come at an unknown time.
  void set_pending(unsigned slot, const decoded_instruction& d, producer kind) {
    if (d.counter == no_counter) return;
    row& r = rows_[slot];
    r.kind[d.counter] = is_raised(r, d.counter) ? std::max(r.kind[d.counter], kind) : kind;
    ++r.pending[d.counter];
    r.raised |= static_cast<std::uint8_t>(1u << d.counter);
  }
  /// They came, usable from `cycle` on.
  void release(unsigned slot, const decoded_instruction& d, cycle_t cycle) {
    row& r = rows_[slot];
    r.latest = std::max(r.latest, cycle);
    if (d.counter == no_counter) return;
    r.ready[d.counter] = std::max(r.ready[d.counter], cycle);
    if (--r.pending[d.counter] == 0) r.raised &= static_cast<std::uint8_t>(~(1u << d.counter));
  }
  /// The warp goes on elsewhere than on the straight line, for which the stall counts stand: all results that no
  /// counter guards first.
  void jump(unsigned slot) { rows_[slot].stall_until = std::max(rows_[slot].stall_until, rows_[slot].uncounted); }
  /// When all results of the slot's instructions are there; no counter may be raised.
  cycle_t settled(unsigned slot) const { return rows_[slot].latest; }
  /// A new warp.
  void clear(unsigned slot) { rows_[slot] = {}; }
  /// It will be asked for the slot soon.
  void prepare(unsigned slot) const { host_prefetch(&rows_[slot], sizeof(row)); }

  /// Works out anew which of the slot's counters are not zero in `cycle`.
  void show(unsigned slot, cycle_t cycle) const {
    const row& r = rows_[slot];
    unsigned raised = r.raised;
    for (unsigned k = 0; k < counter_count; ++k) raised |= static_cast<unsigned>(r.ready[k] > cycle) << k;
    shown_[slot] = static_cast<std::uint8_t>(raised);
  }
  trace_hook on_trace;
  void trace(sc_core::sc_trace_file* file) const override {
    for (std::size_t s = 0; s < shown_.size(); ++s)
      sc_core::sc_trace(file, shown_[s], std::string(name()) + ".warp" + std::to_string(s) + "_raised", counter_count);
    on_trace(file);
  }

 private:
  struct row {
    cycle_t stall_until = 0;
    cycle_t latest = 0;     // when the last result of known time is there,
    cycle_t uncounted = 0;  // and the last one that stall counts alone guard
    std::array<cycle_t, counter_count> ready{};
    std::array<std::uint16_t, counter_count> pending{};
    std::array<producer, counter_count> kind{};
    std::uint8_t raised = 0;  // counters that are not zero
  };
  static bool is_raised(const row& r, unsigned counter) { return (r.raised >> counter & 1) != 0; }
  static void raise_until(row& r, unsigned counter, cycle_t cycle, producer kind) {
    if (is_raised(r, counter)) r.kind[counter] = std::max(r.kind[counter], kind);
    else if (cycle >= r.ready[counter]) r.kind[counter] = kind;
    r.ready[counter] = std::max(r.ready[counter], cycle);
  }
  std::vector<row> rows_;
  mutable std::vector<std::uint8_t> shown_;  // by slot, bit per counter; kept up to date while somebody traces it
};

}  // namespace heddle
