// SPDX-License-Identifier: MIT
// Models: the first-level instruction cache of an SM, with sequential prefetch; its misses go to a level that always hits.
// Sockets: none; the sub-partitions' fetch units ask it in a fixed order.
// One cycle: a look-up says when the line is there; a miss starts the line and the next ones.
// Parameters: [instruction_cache]. Source: sizes in Jia et al. 2018 (arXiv:1804.06826), table 3.1.
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "config/parameters.h"
#include "tlm/clock_domain.h"

namespace heddle {

class instruction_cache : public sc_core::sc_module {
 public:
  instruction_cache(sc_core::sc_module_name name, const instruction_cache_parameters& parameters);

  /// Cycle from which the line of code address `address` can be read, asked for in `cycle`.
  cycle_t look_up(std::uint64_t address, cycle_t cycle);
  void trace(sc_core::sc_trace_file* file) const override;

  std::uint64_t accesses = 0;
  std::uint64_t misses = 0;
  std::uint64_t prefetches = 0;

 private:
  struct line {
    std::uint64_t tag = ~std::uint64_t{0};
    cycle_t ready = 0;
    std::uint64_t used = 0;
  };
  line* find(std::uint64_t tag);
  line& fill(std::uint64_t tag, cycle_t ready);

  instruction_cache_parameters parameters_;
  unsigned sets_;
  std::vector<line> lines_;
  std::uint64_t clock_ = 0;   // order of use, for LRU
};

}  // namespace heddle
