// SPDX-License-Identifier: MIT
// Estimates the cost of taking each block off an SM, in cycles of the block's time that are lost. After Park, Park,
// Mahlke, "Chimera: Collaborative Preemption for Multitasking on a Shared GPU", ASPLOS 2015, which decides per block
// from the same quantities.
#include "heddle/gpu/cwd/switch_cost.h"

#include <algorithm>
#include <limits>

namespace heddle {

bool switch_cost::can_flush(const block_in_flight& b) const {
  return observer_.idempotent(*grids_[b.launch->launch_id].launch);
}

bool switch_cost::can_flush(unsigned sm) const {
  return config_.context.preemption == choice::preemption::instruction &&
         std::all_of(blocks_.all().begin(), blocks_.all().end(),
                     [&](const auto& b) { return !b->resident || b->sm != sm || can_flush(*b); });
}

// The rate of the SM's port, or its share of the memory's rate if several SMs are being preempted.
double switch_cost::context_bytes_per_cycle(unsigned sm) const {
  unsigned sharing = 1;
  for (unsigned k = 0; k < accounts_.size(); ++k)
    if (k != sm && (accounts_[k].switching || !accounts_[k].requests.empty())) ++sharing;
  const double port =
      config_.interconnect.request_bytes_per_cycle * config_.interconnect.clock_mhz / config_.gpu.core_clock_mhz;
  const double memory = config_.memory.bytes_per_cycle * config_.memory.channels / sharing;
  return std::max(1e-9, std::min(port, memory));
}

// Estimated remaining cycles: until the mean run time of the grid's completed blocks; after that, until their longest;
// after that, infinite.
double switch_cost::cycles_left(const block_in_flight& b, double age) const {
  const grid_record& g = grids_[b.launch->launch_id];
  const double mean = g.completed == 0 ? 0 : static_cast<double>(g.block_cycles) / static_cast<double>(g.completed);
  if (age < mean) return mean - age;
  const double longest = static_cast<double>(g.longest_block);
  return age < longest ? longest - age : std::numeric_limits<double>::infinity();
}

// The cost of drain is what is left of the block, that of flush what it has run. The cost of a switch is the transfer
// of all switched contexts out and back, for each switched block. The blocks for which drain or flush costs least leave
// that way, as many as minimizes the sum over all blocks. A block may wait for another one (for a lock that it holds),
// so it drains beside blocks that leave only if its kernel is shown idempotent.
std::vector<switch_cost::block_choice> switch_cost::cheapest(unsigned sm, cycle_t now) const {
  const bool stops = config_.context.preemption == choice::preemption::instruction;
  std::vector<block_choice> choice;
  double bytes = 0, drain_all = 0;
  for (const auto& b : blocks_.all()) {
    if (!b->resident || b->sm != sm) continue;
    const double age = static_cast<double>(now - std::min(now, b->since));
    const double left = stops ? cycles_left(*b, age) : 0;
    drain_all += left;
    block_choice c{b.get(), preemption_mode::drain, left, 0};
    if (!can_flush(*b)) {
      c.cycles = std::numeric_limits<double>::infinity();
    } else if (stops && age < left) {
      c.mode = preemption_mode::flush;
      c.cycles = age;
    }
    c.bytes = 128.0 * b->launch->warps_per_block() * b->launch->program->registers + b->launch->shared_bytes;
    bytes += c.bytes;
    choice.push_back(c);
  }
  std::stable_sort(choice.begin(), choice.end(), [](const auto& a, const auto& b) { return a.cycles < b.cycles; });
  const double rate = context_bytes_per_cycle(sm);
  double sum = 0, least = std::numeric_limits<double>::infinity();
  std::size_t kept = 0;  // that keep their mode; the others are switched
  for (std::size_t k = 0;; ++k) {
    const double cost = sum + static_cast<double>(choice.size() - k) * 2 * bytes / rate;
    if (cost <= least) {
      least = cost;
      kept = k;
    }
    if (k == choice.size()) break;
    sum += choice[k].cycles;
    bytes -= choice[k].bytes;
  }
  for (std::size_t k = 0; k < choice.size(); ++k)
    if (drain_all <= least) choice[k].mode = preemption_mode::drain;
    else if (k >= kept) choice[k].mode = preemption_mode::context_switch;
  return choice;
}

}  // namespace heddle
