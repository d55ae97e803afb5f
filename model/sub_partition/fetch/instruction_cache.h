// SPDX-License-Identifier: MIT
// Models: one level of instruction cache, of an SM or a sub-partition; the first level has a sequential prefetcher.
// Sockets: none; the sub-partitions' fetch units call it in a fixed order, and it calls the next level.
// One cycle: a look-up returns when the line is available, if that is known; a miss starts its fill, the prefetcher
//   those of the next lines.
// Parameters: [instruction_cache]. Source: sizes in Jia et al. 2018 (arXiv:1804.06826), table 3.1; stream buffer as in
//   Huerta et al., MICRO 2025.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/sub_partition/fetch/instruction_source.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/module_part.h"

namespace heddle {

class instruction_cache final : public module_part, public instruction_source {
 public:
  struct geometry {
    unsigned size_bytes;
    unsigned line_bytes;
    unsigned ways;
    unsigned miss_latency_cycles;  // to the next level
    unsigned prefetch_lines;
  };
  /// Geometries of the two levels that [instruction_cache] describes.
  static geometry first_level(const instruction_cache_parameters& p) {
    return {p.size_bytes, p.line_bytes, p.ways, p.miss_latency_cycles, p.prefetch_lines};
  }
  /// `from_l2`: its misses are read from the L2 (instruction_port); otherwise they take a fixed latency.
  static geometry second_level(const instruction_cache_parameters& p, bool from_l2) {
    return {p.second_level_bytes, p.second_level_line_bytes, p.second_level_ways,
            from_l2 ? 0 : p.second_level_miss_latency_cycles, 0};
  }

  /// `behind`: the next level, which must outlive the cache; null: misses are filled after the miss latency.
  instruction_cache(const part_name& name, const geometry& geometry, instruction_source* behind = nullptr);

  /// First cycle in which the line of code address `address`, requested in `cycle`, can be read; never: its fill is
  /// in flight and the cycle of its arrival not known.
  cycle_t look_up(std::uint64_t address, cycle_t cycle, std::uint32_t launch) override;
  /// The `bytes` bytes of code at `address`, which were in flight, are there from `cycle` on.
  void fill_arrived(std::uint64_t address, unsigned bytes, cycle_t cycle);
  /// The `bytes` bytes of code at `address` are there from now on, in lines that replace others.
  void preload(std::uint64_t address, std::uint64_t bytes);
  /// Drops all lines; no fill may be in flight.
  void invalidate();
  void exchange(state_image& image);
  void trace(sc_core::sc_trace_file* file) const override;

  std::uint64_t accesses = 0;
  std::uint64_t misses = 0;
  std::uint64_t prefetches = 0;

 private:
  struct line {
    cycle_t ready = 0;
    std::uint64_t used = 0;
    std::uint64_t streamed = ~std::uint64_t{0};  // value of fills_ when the following lines were last found present

    void exchange(state_image& image) { image(ready, used, streamed); }
  };
  static constexpr std::size_t nowhere = ~std::size_t{0};
  static constexpr std::uint64_t no_tag = ~std::uint64_t{0};
  [[nodiscard]] std::size_t find(std::uint64_t tag) const;
  std::size_t place_for(std::uint64_t tag);
  std::size_t fill(std::uint64_t tag, cycle_t cycle, std::uint32_t launch);

  geometry geometry_;
  instruction_source* behind_;
  unsigned sets_;
  unsigned ways_ = 0;                // of lines that have storage: that of all comes with the first fill
  std::vector<std::uint64_t> tags_;  // separate from lines_: the prefetcher searches several at each look-up
  std::vector<line> lines_;
  std::vector<std::size_t> in_flight_;  // lines whose ready is never, or was when they were filled
  std::uint64_t clock_ = 0;             // use order, for LRU
  std::uint64_t fills_ = 0;
};

}  // namespace heddle
