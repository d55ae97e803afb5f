// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/account/issue_counters.h"

#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

void issue_totals::add(const issue_totals& other) {
  for (std::size_t i = 0; i < warp_cycles.size(); ++i) warp_cycles[i] += other.warp_cycles[i];
  for (std::size_t i = 0; i < warp_stalls.size(); ++i) warp_stalls[i] += other.warp_stalls[i];
  for (std::size_t i = 0; i < unit_inst.size(); ++i) unit_inst[i] += other.unit_inst[i];
  active_warp_cycles += other.active_warp_cycles;
  warps += other.warps;
  inst_executed += other.inst_executed;
  inst_issued1 += other.inst_issued1;
  inst_issued2 += other.inst_issued2;
  shared_replays += other.shared_replays;
  global_replays += other.global_replays;
  constant_replays += other.constant_replays;
  thread_inst += other.thread_inst;
  nonpred_thread_inst += other.nonpred_thread_inst;
  branches += other.branches;
  divergent_branches += other.divergent_branches;
}

void issue_totals::add_units(const launch_profile& profile) {
  for (std::size_t i = 0; i < profile.size(); ++i)
    unit_inst[static_cast<std::size_t>(profile.program()->code[i].unit)] += profile.at(i).executed;
}

issue_totals issue_counters::totals() const {
  issue_totals t;
  state_counts both;
  for (unsigned s = 0; s < state_count; ++s) add_state(both, s, states[s]);
  t.warp_cycles = both.cycles;
  t.warp_stalls = both.stalls;
  t.active_warp_cycles = active_warp_cycles;
  t.warps = warps;
  t.inst_executed = inst_executed;
  t.inst_issued1 = inst_issued1;
  t.inst_issued2 = inst_issued2;
  t.shared_replays = shared_replays;
  t.global_replays = global_replays;
  t.constant_replays = constant_replays;
  t.thread_inst = thread_inst;
  t.nonpred_thread_inst = nonpred_thread_inst;
  t.branches = branches;
  t.divergent_branches = divergent_branches;
  return t;
}

}  // namespace heddle
