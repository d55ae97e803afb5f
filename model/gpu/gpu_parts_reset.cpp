// SPDX-License-Identifier: MIT
// A reset of the GPU, and the end of single launches. In a reset no request is cut off, so that the base protocol holds
// towards every memory: warps stop, blocks leave the SMs, what is outstanding is waited for, dirty lines are written
// back, and then all units are as constructed.
#include <algorithm>

#include "heddle/gpu/gpu_parts.h"
#include "heddle/sub_partition/policies/scheduling_policy.h"

namespace heddle {

void gpu_parts::reset() {
  if (resetting != reset_step::none) return;
  if (!cwd->resettable()) throw input_error("the GPU cannot be reset: its CWD, which is not Heddle's, cannot be");
  resetting = reset_step::alignment;
  reset_sleeps = false;
  host.begin_reset();
  memory_halts.cancel();
  stop_listening();
  for (clock_domain* clock : {&core, &l2_clock, &dram_clock}) clock->resume();
  if (windows_until != 0) windows_until = std::min(windows_until, core.cycle() + 1);
  reset_port.wake_at(core.cycle() + 1);
}

// What the CWD sends to end a launch could reach an SM before its own present cycle.
void gpu_parts::terminate(std::uint32_t launch) {
  if (!cwd->terminates()) throw input_error("launches cannot be ended: this GPU's CWD, which is not Heddle's, cannot");
  if (resetting != reset_step::none) return;
  terminated.push_back(launch);
  if (windows_until != 0) windows_until = std::min(windows_until, core.cycle() + 1);
  reset_port.wake_at(core.cycle() + 1);
}

void gpu_parts::on_cycle(cycle_t cycle) {
  if (!terminated.empty() && core.in_step()) {
    cwd->terminate(terminated);
    terminated.clear();
    if (resetting == reset_step::none) windows_until = windows_limit;
  }
  if (!terminated.empty()) reset_port.wake_at(cycle + 1);
  switch (resetting) {
    case reset_step::none: return;
    case reset_step::alignment:
      if (!core.in_step()) break;  // waits until simulated time is that of all SMs
      for (sm& s : sms) s.abandon(cycle);
      cwd->abandon();
      resetting = reset_step::draining;
      break;
    case reset_step::draining:
      // A block that was in flight may have failed.
      for (sm& s : sms)
        if (std::any_of(s.partitions.begin(), s.partitions.end(), [](const auto& p) { return p.halted(); }))
          s.abandon(cycle);
      if (!cwd->abandoned() || !units_idle()) break;
      resetting = reset_step::flushing;
      flushed = false;
      flush(flush_reason::reset);
      break;
    case reset_step::flushing:
      if (!flushed || !units_idle() || reset_line) break;
      return restart(cycle);
  }
  // Nothing is left to do before the memory answers, if it ever does.
  if (resetting != reset_step::alignment && memory_is_silent()) {
    reset_sleeps = true;
    return host.report_stuck();
  }
  reset_port.wake_at(cycle + 1);
}

void gpu_parts::go_on_with_reset() {
  if (!reset_sleeps || memory_is_silent()) return;
  reset_sleeps = false;
  reset_port.wake_at(core.cycle() + 1);
}

void gpu_parts::restart(cycle_t cycle) {
  for (auto& s : slices) {
    s.drop_clean();
    s.restart();
  }
  interconnect.restart();
  if (sm_network != nullptr) sm_network->restart();
  for (sm& s : sms) {
    s.abandon(cycle);
    s.context_engine.forget();
    s.resource_manager.restart();
    if (s.cluster_port != nullptr) s.cluster_port->restart();
    if (s.tma != nullptr) s.tma->restart();
    s.load_store_unit.restart();
    s.empty_caches();
    s.l1.restart();
    for (auto& p : s.partitions) p.scheduler.use(make_scheduling_policy(config.sub_partition, {p.slots(), p.index()}));
  }
  use_own_policies();
  cwd->restart();
  if (watch != nullptr) watch->restart();
  windows_until = windows_limit;
  resetting = reset_step::none;
  host.end_reset();
}

bool gpu_parts::units_idle() const {
  const auto all_idle = [](const auto& v) {
    return std::all_of(v.begin(), v.end(), [](const auto& u) { return u.idle(); });
  };
  return all_idle(sms) && interconnect.idle() && (sm_network == nullptr || sm_network->idle()) && all_idle(slices) &&
         all_idle(channels) && all_idle(delays) && all_idle(monitors) && all_idle(splitters);
}

}  // namespace heddle
