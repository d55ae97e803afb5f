// SPDX-License-Identifier: MIT
// Models: the constant cache for constant operands of a sub-partition's instructions (c[bank][offset]).
// Sockets: none; the issue stage looks up the constant operand of a warp's next instruction.
// One cycle: a look-up returns when the operand is available; a miss fills the line from the next level, which always
//   hits.
// Parameters: [constant_cache]. Source: Jia et al. 2018 (arXiv:1804.06826), table 3.1 (L1 and L1.5 constant caches).
#pragma once

#include <cstdint>
#include <systemc>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/tlm/kernel/state_image.h"
#include "heddle/tlm/kernel/unit_clock.h"
#include "heddle/tlm/port/module_part.h"

namespace heddle {

class immediate_constants final : public module_part {
 public:
  immediate_constants(const part_name& name, const constant_cache_parameters& parameters);

  /// Returns the first cycle from `cycle` on in which byte `offset` of the launch's constant bank can be read.
  cycle_t access(std::uint32_t launch, unsigned bank, std::uint32_t offset, cycle_t cycle);
  void exchange(state_image& image);
  void trace(sc_core::sc_trace_file* file) const override;

  std::uint64_t accesses = 0;
  std::uint64_t misses = 0;

 private:
  struct line {
    std::uint64_t tag = ~std::uint64_t{0};
    cycle_t ready = 0;
    std::uint64_t used = 0;

    void exchange(state_image& image) { image(tag, ready, used); }
  };
  constant_cache_parameters parameters_;
  unsigned sets_;
  std::vector<line> lines_;
  std::uint64_t last_tag_ = ~std::uint64_t{0};
  cycle_t last_ready_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace heddle
