// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/frontend/ptx/loops/loop_plan.h"

namespace heddle::ptx {

/// Chooses how ptxas 13.0 would unroll the innermost loops of a function. Its rules were found by giving it loops:
/// * A loop whose number of trips is known is unrolled fully while trips x (w + 1) <= 340 + 7200 (c / size)^1.5; `size`
///   is its instructions, c those that count, compare and branch, w the others.
/// * Else by the largest n with (n + trips mod n) x (w + 1) < 350, if it is one block.
/// * A loop whose number of trips is unknown is unrolled by four if seven times its size is at most 356.
/// * A loop with other exits is only unrolled fully. One with shuffles, votes, fences or calls is not unrolled.
std::vector<loop_plan> plan_loops(const hir_function& f, const std::vector<block_cost>& costs);

}  // namespace heddle::ptx
