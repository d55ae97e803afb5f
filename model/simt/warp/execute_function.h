// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::simt {

/// Executes one decoded instruction on a warp; `mask`: lanes that are active and pass the guard. Arithmetic,
/// predicates, special registers, shuffles, votes and shared-memory accesses take effect at once.
using execute_function = void (*)(const isa::instruction&, warp_state&, lane_mask mask);

/// The function for an instruction, selected once when the program is loaded; never null. Instructions that execute
/// elsewhere (branches, exit, barriers, global memory) get a function that does nothing. For accesses that name shared
/// memory the function is shared_access at lane_addresses: call one or the other, not both.
execute_function select(const isa::instruction& i);

/// Lanes in `active` for which the guard predicate holds.
inline lane_mask guarded(const isa::predicate& guard, const warp_state& w) {
  const lane_mask p = w.predicates[guard.reg];
  return w.active & (guard.negate ? ~p : p);
}
inline lane_mask guarded(const isa::instruction& i, const warp_state& w) { return guarded(i.guard, w); }

}  // namespace heddle::simt
