// SPDX-License-Identifier: MIT
// Models: one level of instruction cache: an SM's or a sub-partition's, with a sequential prefetcher where it is the
// nearest one. Sockets: none; the sub-partitions' fetch units ask it in a fixed order, and it asks the level behind it.
// One cycle: a look-up says when the line is there; a miss starts the line, a prefetcher the next ones.
// Parameters: [instruction_cache]. Source: sizes in Jia et al. 2018 (arXiv:1804.06826), table 3.1; stream buffer as
// Huerta et
//   al., MICRO 2025, model it.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/clock_domain.h"

namespace heddle {

class instruction_cache : public sc_core::sc_module {
 public:
  struct geometry {
    unsigned size_bytes;
    unsigned line_bytes;
    unsigned ways;
    unsigned miss_latency_cycles;  // to the level behind
    unsigned prefetch_lines;
  };
  /// The levels that [instruction_cache] describes.
  static geometry first_level(const instruction_cache_parameters& p) {
    return {p.size_bytes, p.line_bytes, p.ways, p.miss_latency_cycles, p.prefetch_lines};
  }
  static geometry second_level(const instruction_cache_parameters& p) {
    return {p.second_level_bytes, p.second_level_line_bytes, p.second_level_ways, p.second_level_miss_latency_cycles,
            0};
  }

  /// `behind`: who has what misses here; null: it comes after the miss latency. Outlives the cache.
  instruction_cache(sc_core::sc_module_name name, const geometry& geometry, instruction_cache* behind = nullptr);

  /// Cycle from which the line of code address `address` can be read, asked for in `cycle`.
  cycle_t look_up(std::uint64_t address, cycle_t cycle);
  void trace(sc_core::sc_trace_file* file) const override;

  std::uint64_t accesses = 0;
  std::uint64_t misses = 0;
  std::uint64_t prefetches = 0;

 private:
  struct line {
    cycle_t ready = 0;
    std::uint64_t used = 0;
    std::uint64_t streamed = ~std::uint64_t{0};  // fills_ when the lines that follow were last seen to be here
  };
  static constexpr std::size_t nowhere = ~std::size_t{0};
  std::size_t find(std::uint64_t tag) const;
  std::size_t fill(std::uint64_t tag, cycle_t cycle);

  geometry geometry_;
  instruction_cache* behind_;
  unsigned sets_;
  std::vector<std::uint64_t> tags_;  // apart from the rest: the prefetcher looks for several at each look-up
  std::vector<line> lines_;
  std::uint64_t clock_ = 0;  // order of use, for LRU
  std::uint64_t fills_ = 0;
};

}  // namespace heddle
