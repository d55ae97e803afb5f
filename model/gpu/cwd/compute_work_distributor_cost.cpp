// SPDX-License-Identifier: MIT
// What it would cost to take each block off an SM: estimates in cycles of its time that are lost. After Park, Park,
// Mahlke, "Chimera: Collaborative Preemption for Multitasking on a Shared GPU", ASPLOS 2015, which decides by block
// from the same quantities.
#include <algorithm>
#include <limits>

#include "heddle/gpu/cwd/compute_work_distributor.h"

namespace heddle {

bool compute_work_distributor::can_flush(const block_in_flight& b) const {
  return listener_.idempotent(*grids_[b.launch->launch_id].launch);
}

bool compute_work_distributor::can_flush(unsigned sm) const {
  return config_.context.preemption == choice::preemption::instruction &&
         std::all_of(blocks_.begin(), blocks_.end(),
                     [&](const auto& b) { return !b->resident || b->sm != sm || can_flush(*b); });
}

// The rate of the SM's port, or its share of the memory's when all SMs that are asked now share it.
double compute_work_distributor::context_bytes_per_cycle(unsigned sm) const {
  unsigned sharing = 1;
  for (unsigned k = 0; k < accounts_.size(); ++k)
    if (k != sm && (accounts_[k].switching || !accounts_[k].requests.empty())) ++sharing;
  const double port =
      config_.interconnect.request_bytes_per_cycle * config_.interconnect.clock_mhz / config_.gpu.core_clock_mhz;
  const double memory = config_.memory.bytes_per_cycle * config_.memory.channels / sharing;
  return std::max(1e-9, std::min(port, memory));
}

// Until the block has run as long as the mean of those of its grid that have ended; if it has, as long as the longest
// of them.
double compute_work_distributor::cycles_left(const block_in_flight& b, double age) const {
  const grid_record& g = grids_[b.launch->launch_id];
  const double mean = g.completed == 0 ? 0 : static_cast<double>(g.block_cycles) / static_cast<double>(g.completed);
  if (age < mean) return mean - age;
  const double longest = static_cast<double>(g.longest_block);
  return age < longest ? longest - age : std::numeric_limits<double>::infinity();
}

// drain: what is left of the block; flush: what it has run; switch: out and back, of all blocks that are switched, for
// each of them. Those that one of the first two costs least leave that way, as many as makes the sum over all blocks
// least. A block may wait for another one, for a lock that it holds: it runs to its end beside blocks that leave only
// if it is of a kernel shown idempotent.
std::vector<compute_work_distributor::block_choice> compute_work_distributor::cheapest(unsigned sm, cycle_t now) const {
  const bool stops = config_.context.preemption == choice::preemption::instruction;
  std::vector<block_choice> choice;
  double bytes = 0, drain_all = 0;
  for (const auto& b : blocks_) {
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
  std::size_t kept = 0;  // in their mode; the others are switched
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
