// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// What a block is lowered to.
struct block_cost {
  std::size_t instructions = 0;  // of the machine
  bool calls = false;            // a routine of the chip, as the slow path of a division
};

/// Why a loop stays as it is.
enum class unroll_refusal : std::uint8_t {
  none,
  asked,     // .pragma "nounroll", or it was unrolled before
  nested,    // a loop within it stays
  shape,     // entered or left in an unusual way, or its blocks do not stand together
  contents,  // shuffles, votes, fences, calls
  counter,   // no register grows by a constant and is then compared with a value that stays
  exits,     // several exits, and it is too large to be unrolled fully
  size,      // too large
  budget     // the kernel has grown enough
};

/// A register that each trip through a loop increases by `step`, modulo its width.
struct loop_counter {
  std::uint32_t reg = no_register;
  std::int64_t step = 0;
  bool renewed = false;       // another instruction writes it each time before the loop is entered
  bool starts_known = false;  // that with an immediate value
  std::uint64_t start = 0;
};

/// An innermost loop of the blocks `header` … `latch`, and what is done with it.
struct loop_plan {
  std::uint32_t header = 0, latch = 0;
  unroll_refusal refusal = unroll_refusal::none;
  std::uint64_t trips = 0;  // 0: known at run time only
  unsigned copies = 1;      // bodies in the loop; all trips: no loop remains
  unsigned behind = 0;      // bodies behind the loop, trips modulo copies
  std::vector<loop_counter> counters;
  loop_counter tested;  // goes on while tested `going_on` bound
  isa::compare going_on = isa::compare::ne;
  isa::dtype type = isa::dtype::none;
  value bound;

  [[nodiscard]] bool fully() const { return trips != 0 && copies == trips; }
};

}  // namespace heddle::ptx
