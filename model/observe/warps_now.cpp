// SPDX-License-Identifier: MIT
#include "heddle/observe/warps_now.h"

#include <algorithm>

#include "heddle/sm/sm.h"

namespace heddle {

namespace {

warp_stall state_now(const sub_partition& p, const warp_slot& w, cycle_t cycle) {
  const last_issue& last = p.issue.last();
  if (last.cycle == cycle && last.count != 0 && last.warp == w.state.slot) return warp_stall::selected;
  if (w.mark > cycle) return warp_stall::misc;  // its state begins in a later cycle
  if (w.phase == warp_phase::ready)
    return stall_account::condition_of_ready(p.scheduler.gate(w.next->unit).closure_at(cycle), *w.next).stall;
  warp_stall now = warp_stall::misc;
  bool known = false;
  p.account.conditions(w, cycle, never, [&](warp_condition condition, cycle_t from, cycle_t until) {
    if (known || from == until) return;
    now = condition.stall;
    known = true;
  });
  return now;
}

}  // namespace

std::vector<warp_now> warps_now(const sm& s, cycle_t cycle) {
  std::vector<warp_now> all;
  const auto partitions = static_cast<unsigned>(s.partitions.size());
  for (unsigned slot = 0; slot < s.partitions[0].slots(); ++slot)
    for (const sub_partition& p : s.partitions) {
      const warp_slot& w = p.at(slot);
      if (w.phase != warp_phase::empty) all.push_back({slot * partitions + p.index(), &w, state_now(p, w, cycle)});
    }
  return all;
}

}  // namespace heddle
