// SPDX-License-Identifier: MIT
// Divergence by reconvergence stack, and the choice between it and independent lanes. The current entry is in
// warp_state (pc, reconverge, active); the stack holds what is to run afterwards. A diverging branch pushes an entry
// for all its lanes at the reconvergence point and one for the lanes that jump, and continues with those that fall
// through. With immediate post-dominators as reconvergence points the depth is bounded by the nesting of branches and
// calls, plus one deferred entry each.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/simt/warp/control_flow.h"
#include "heddle/simt/warp/divergence.h"

namespace heddle::simt {

namespace {

/// Pushes an entry, or adds its lanes to the top of the stack if both have the same pc and reconvergence point.
void push(warp_state& w, std::uint32_t pc, std::uint32_t reconverge, lane_mask mask) {
  if (!w.stack.empty() && w.stack.back().pc == pc && w.stack.back().reconverge == reconverge) {
    w.stack.back().mask |= mask;
  } else {
    w.stack.push_back({pc, reconverge, mask});
  }
}

/// Pops entries until the current one has lanes and instructions before its reconvergence point.
void settle(warp_state& w) {
  while (w.active == 0 || (w.pc == w.reconverge && w.reconverge != isa::no_target)) {
    if (w.stack.empty()) {
      invariant(w.live == 0 || w.active != 0, "reconvergence stack is empty but lanes are live");
      w.reconverge = isa::no_target;
      return;
    }
    const stack_entry e = w.stack.back();
    w.stack.pop_back();
    w.pc = e.pc;
    w.reconverge = e.reconverge;
    w.active = e.mask & w.live;
  }
}

}  // namespace

bool branch(const isa::instruction& i, warp_state& w, lane_mask taken) {
  taken &= w.active;
  if (w.independent) return detail::branch_independent(i, w, taken);
  const lane_mask rest = w.active & ~taken;
  const std::uint32_t next = w.pc + 1;
  if (taken != 0 && i.calls()) {
    w.stack.push_back({i.reconverge + 1, w.reconverge, w.active});
    w.reconverge = i.reconverge;
    w.pc = i.target;
    return false;
  }
  if (taken == 0 || rest == 0 || i.target == next) {
    w.pc = taken != 0 ? i.target : next;
    settle(w);
    return false;
  }
  // A branch whose paths do not join before the end of the program reconverges where the enclosing one does.
  const std::uint32_t meet = i.reconverge != isa::no_target ? i.reconverge : w.reconverge;
  if (meet != w.reconverge) push(w, meet, w.reconverge, w.active);
  if (i.target != meet) push(w, i.target, meet, taken);
  w.reconverge = meet;
  w.pc = next;
  w.active = rest;
  settle(w);
  return true;
}

void exit_lanes(warp_state& w, lane_mask mask) {
  if (w.independent) return detail::exit_independent(w, mask);
  w.live &= ~mask;
  w.active &= ~mask;
  for (stack_entry& e : w.stack) e.mask &= ~mask;
  w.stack.erase(std::remove_if(w.stack.begin(), w.stack.end(), [](const stack_entry& e) { return e.mask == 0; }),
                w.stack.end());
  if (w.active != 0) ++w.pc;
  settle(w);
}

void advance(warp_state& w) {
  ++w.pc;
  if (__builtin_expect(w.pc == w.reconverge, 0)) w.independent ? detail::settle_independent(w) : settle(w);
}

}  // namespace heddle::simt
