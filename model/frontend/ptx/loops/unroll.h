// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/frontend/ptx/loops/loop_plan.h"

namespace heddle::ptx {

struct unrolling {
  bool changed = false;
  bool again = false;                   // a loop around an unrolled one may be innermost now
  std::vector<std::uint32_t> counters;  // registers that hold a counter at the start of unrolled bodies
};

/// Unrolls the innermost loops as plan_loops() says. `costs`: of the blocks. A loop that remains is marked as rolled.
/// Registers written once may be written several times afterwards: optimise() is to follow, then join_counters().
unrolling unroll_loops(hir_function& f, const std::vector<block_cost>& costs);

/// Takes back the copies of counters without which optimise() has left the bodies' sums right.
void join_counters(hir_function& f, const std::vector<std::uint32_t>& counters);

}  // namespace heddle::ptx
