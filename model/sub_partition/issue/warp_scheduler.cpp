// SPDX-License-Identifier: MIT
#include "heddle/sub_partition/issue/warp_scheduler.h"
#include "heddle/config/error.h"

namespace heddle {

warp_scheduler::warp_scheduler(const part_name& name, const sub_partition_parameters& parameters,
                               const policy_place& place)
    : module_part(name),
      hot_(make_scheduling_policy(parameters, place), place.slots,
           parameters.starvation_cycles != 0 ? parameters.starvation_cycles : never),
      slots_(static_cast<int>(place.slots)),
      starvation_(hot_.starves_at) {}

void warp_scheduler::use(std::unique_ptr<scheduling_policy> policy) {
  hot_.policy = std::move(policy);
  hot_.holds_memory = hot_.policy->holds_memory();
}

// A greedy policy need not select a warp for as long as others poll what that warp is to write. When one has waited too
// long, the eligible warp that has waited longest issues, for a while.
unsigned warp_scheduler::longest_starved(std::uint64_t eligible, cycle_t cycle) {
  if (cycle >= fair_until_) {
    cycle_t first = cycle;
    for (const unsigned slot : set_bits(hot_.all_ready)) first = std::min(first, hot_.since[slot].ready);
    hot_.starves_at = first + starvation_;
    if (hot_.starves_at > cycle) return no_slot;
    fair_until_ = cycle + std::max<cycle_t>(starvation_ / fair_share, 1);
  }
  unsigned longest = no_slot;
  for (const unsigned slot : set_bits(eligible))
    if (longest == no_slot || hot_.since[slot].ready < hot_.since[longest].ready) longest = slot;
  return longest;
}

void warp_scheduler::exchange(state_image& image) {
  image(hot_.ready, hot_.all_ready, hot_.ready_units, hot_.waiting);
  for (int slot = 0; slot < slots_; ++slot)
    if ((hot_.all_ready >> slot & 1) != 0) image(hot_.since[static_cast<unsigned>(slot)]);
  image(hot_.starves_at, fair_until_, gates_in_use_, stalled_from_, stalled_until_, hot_.gates);
  hot_.policy->exchange(image);
}

void warp_scheduler::trace(sc_core::sc_trace_file* file) const {
  const std::string base = name();
  sc_core::sc_trace(file, traced.ready, base + ".ready", slots_);
  sc_core::sc_trace(file, traced.eligible, base + ".eligible", slots_);
  sc_core::sc_trace(file, traced.selected, base + ".selected", slots_);
  if (traced_by_ != nullptr) traced_by_->traced(file);
}

}  // namespace heddle
