// SPDX-License-Identifier: MIT
// Models: the register scoreboard of a sub-partition: when each register and predicate of each warp may be used.
// Sockets: none; the issue stage probes it, write-back updates it.
// One cycle: nothing; it holds times (fixed latency) or "pending" (variable latency), so that no warps are scanned.
// Parameters: none of its own. Source: docs/model/pipeline.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <systemc>
#include <vector>

#include "heddle/isa/set_bits.h"
#include "heddle/sub_partition/dependence/decoded_program.h"
#include "heddle/tlm/kernel/prefetch.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/trace_observer.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/module_part.h"

namespace heddle {

class scoreboard final : public module_part {
 public:
  scoreboard(const part_name& name, unsigned slots);

  /// When the instruction's sources and destinations are free. `cycle`: `never` while one is pending; `kind`: the
  /// slowest kind of producer waited for.
  struct answer {
    cycle_t cycle;
    producer kind;
  };
  [[nodiscard]] answer probe(unsigned slot, const decoded_instruction& d) const {
    const std::uint32_t* const r = registers_of(slot);
    std::uint32_t latest = 0;
    for (unsigned i = 0; i < d.depends_count; ++i) latest = std::max(latest, r[d.depends[i]]);
    for (unsigned i = 0; i < d.accumulators; ++i) latest = std::max(latest, r[d.instruction->dst + i]);
    for (const unsigned p : set_bits(d.predicates)) latest = std::max(latest, *predicate(r, p));
    for (const unsigned p : set_bits(d.guards)) latest = std::max(latest, *guard(r, p));
    return {latest >= pending ? never : base_ + (latest >> 2), static_cast<producer>(latest & 3)};
  }

  /// The results may be used from `cycle` on, predicates as guards `guard_cycles` later.
  void set_ready(unsigned slot, const isa::instruction& i, cycle_t cycle, producer kind, unsigned guard_cycles = 0) {
    if (__builtin_expect(cycle - base_ >= time_range, 0)) move_base(cycle);
    mark(slot, i, static_cast<std::uint32_t>(cycle - base_) << 2 | static_cast<unsigned>(kind), guard_cycles << 2);
  }
  /// The results have unknown latency: pending until release.
  void set_pending(unsigned slot, const isa::instruction& i, producer kind) {
    mark(slot, i, pending | static_cast<unsigned>(kind), 0);
  }
  /// First cycle in which all results of the slot's instructions, which use the first `registers` registers, are
  /// available. None may be pending.
  [[nodiscard]] cycle_t settled(unsigned slot, unsigned registers) const {
    const std::uint32_t* const r = rows_.data() + std::size_t{slot} * row_words;
    return base_ + (*std::max_element(r, r + 2 * predicates + registers) >> 2);
  }
  /// A new warp, whose program uses the first `registers` registers: nothing is pending.
  void clear(unsigned slot, unsigned registers) {
    if (__builtin_expect(rows_.empty(), 0)) make_rows();
    std::uint32_t* const r = rows_.data() + std::size_t{slot} * row_words;
    std::fill(r, r + 2 * predicates + registers, 0);
  }
  void exchange(state_image& image) { image(base_); }
  /// The row of a slot with a warp, whose program uses the first `registers` registers. A new warp begins with a row of
  /// its own.
  void exchange(unsigned slot, unsigned registers, state_image& image) {
    if (rows_.empty()) make_rows();
    image.raw(rows_.data() + std::size_t{slot} * row_words, (2 * predicates + registers) * sizeof rows_[0]);
  }
  void prefetch() const { host_prefetch(&rows_, 1); }
  /// The slot's predicates and first registers, which most programs use most.
  void prefetch(unsigned slot) const {
    if (!rows_.empty()) host_prefetch(rows_.data() + std::size_t{slot} * row_words, hot_words * sizeof rows_[0]);
  }

  /// Counts the slot's first `registers` registers and its predicates that are not available in `cycle`.
  void sample(unsigned slot, unsigned registers, cycle_t cycle) const {
    const std::uint32_t* const r = rows_.data() + std::size_t{slot} * row_words;
    const std::uint64_t limit = std::min<std::uint64_t>(cycle >= base_ ? ((cycle - base_) << 2 | 3) : 0, pending - 1);
    std::uint16_t open = 0;
    for (unsigned k = 0; k < predicates; ++k) open = static_cast<std::uint16_t>(open + (r[k] > limit));
    for (unsigned k = 0; k < registers; ++k) open = static_cast<std::uint16_t>(open + (r[2 * predicates + k] > limit));
    traced_[slot] = open;
  }
  void observe(const trace_observer* observer) { traced_by_ = observer; }
  void trace(sc_core::sc_trace_file* file) const override;

 private:
  // A slot's row: 8 predicates, the same as guards, then the registers. The odd number of cache lines spreads the rows
  // over the sets of the host's cache.
  static constexpr unsigned predicates = 8;
  static constexpr unsigned row_words = 272;
  static constexpr unsigned hot_words = 2 * predicates + 16;
  static_assert(hot_words * sizeof(std::uint32_t) == 128, "two cache lines: predicates and guards, 16 registers");
  static constexpr std::uint32_t pending = ~std::uint32_t{0} << 2;
  static constexpr cycle_t time_range = cycle_t{1} << 29;  // a time this far from the base moves the base

  [[nodiscard]] const std::uint32_t* registers_of(unsigned slot) const {
    return rows_.data() + std::size_t{slot} * row_words + 2 * predicates;
  }
  std::uint32_t* registers_of(unsigned slot) { return rows_.data() + std::size_t{slot} * row_words + 2 * predicates; }
  template <class T>
  static T* predicate(T* registers, unsigned p) {
    return registers - 2 * predicates + p;
  }
  template <class T>
  static T* guard(T* registers, unsigned p) {
    return registers - predicates + p;
  }
  void make_rows() { rows_.resize(traced_.size() * row_words); }
  void move_base(cycle_t cycle);
  void mark(unsigned slot, const isa::instruction& i, std::uint32_t value, std::uint32_t as_guard) {
    std::uint32_t* const r = registers_of(slot);
    if (i.dst != isa::rz)
      for (unsigned k = 0; k < i.dst_count; ++k) r[i.dst + k] = value;
    for (const auto p : i.pdst)
      if (p != isa::pt) {
        *predicate(r, p) = value;
        *guard(r, p) = value + as_guard;
      }
  }

  /// (cycle - base_) << 2 | producer, or pending | producer. Half the size of full cycle numbers: apart from registers,
  /// these rows are the largest state of a chip. A time before base_ is stored as base_. None before the first warp: a
  /// program with control codes needs no scoreboard.
  std::vector<std::uint32_t> rows_;
  cycle_t base_ = 0;
  mutable std::vector<std::uint16_t> traced_;  // by slot; updated only while traced
  const trace_observer* traced_by_ = nullptr;
};

}  // namespace heddle
