// SPDX-License-Identifier: MIT
// Diagnostics of a sub-partition: invariants, waveform.
#include <algorithm>

#include "heddle/sub_partition/partition_signals.h"
#include "heddle/sub_partition/sub_partition.h"
#include "heddle/tlm/kernel/trace_window.h"

namespace heddle {

void sub_partition::check_invariants() const {
  memory.check_invariants();
  account.check_invariants(hot_.pairing_rule != pairing::none, hot_.clock.cycle());
}

const partition_signals& sub_partition::watch(cycle_t first, cycle_t last) const {
  if (!signals_)
    signals_ = std::make_unique<partition_signals>(
        sampled_partition{config_.sm.sub_partitions, hot_.warps, hot_.issued, hot_.issued_at, hot_.issued_warp,
                          hot_.issued_pc, hot_.issued_mask, conflicts_, conflicts_at_, scheduler, fetch, dependence,
                          register_file, account, units, shared_unit},
        hot_.clock.domain());
  signals_->only_in(first, last);
  return *signals_;
}

void sub_partition::traced(const sc_core::sc_trace_file* file) const {
  const auto* const window = dynamic_cast<const trace_window*>(file);
  static_cast<void>(watch(window != nullptr ? window->first : 0, window != nullptr ? window->last : never));
}

void sub_partition::trace(sc_core::sc_trace_file* file) const {
  traced(file);
  const std::string base(name());
  sc_core::sc_trace(file, signals_->issued, base + ".issued");
  sc_core::sc_trace(file, signals_->replaying, base + ".replaying");
  for (unsigned k = 0; k < std::min<std::size_t>(config_.sub_partition.issue_width, signals_->slots.size()); ++k) {
    const std::string slot = base + ".issue" + std::to_string(k);
    sc_core::sc_trace(file, signals_->slots[k].warp, slot + "_warp");
    sc_core::sc_trace(file, signals_->slots[k].pc, slot + "_pc");
    sc_core::sc_trace(file, signals_->slots[k].operation, slot + "_operation");
    sc_core::sc_trace(file, signals_->slots[k].lanes, slot + "_lanes");
  }
  sc_core::sc_trace(file, hot_.warps.active(), base + ".active", static_cast<int>(hot_.warps.size()));
  sc_core::sc_trace(file, memory.credits(), base + ".lsu_credits");
  for (std::size_t s = 0; s < hot_.warps.size(); ++s) {
    const std::string warp = base + ".warp" + std::to_string(s);
    sc_core::sc_trace(file, signals_->states[s], warp + "_state");
    sc_core::sc_trace(file, hot_.warps[s].state.pc, warp + "_pc");
    sc_core::sc_trace(file, hot_.warps[s].state.active, warp + "_active_lanes");
  }
  for (const sc_core::sc_object* child : get_child_objects()) child->trace(file);
}

}  // namespace heddle
