// SPDX-License-Identifier: MIT
#include "sm/occupancy_account.h"

#include <algorithm>

namespace heddle {

namespace {
constexpr std::size_t most_steps = 256;
}  // namespace

void time_series::add(cycle_t from, cycle_t to, std::uint64_t value) {
  if (value == 0) return;
  while (to > from && (to - 1) / step_ >= most_steps) {
    for (std::size_t k = 0; k < sums_.size(); k += 2) sums_[k / 2] = sums_[k] + (k + 1 < sums_.size() ? sums_[k + 1] : 0);
    sums_.resize((sums_.size() + 1) / 2);
    step_ *= 2;
  }
  while (from < to) {
    const std::size_t k = from / step_;
    const cycle_t end = std::min(to, (k + 1) * step_);
    if (sums_.size() <= k) sums_.resize(k + 1);
    sums_[k] += value * (end - from);
    from = end;
  }
}

void occupancy_account::advance(cycle_t cycle) {
  if (cycle <= last_) return;
  const cycle_t n = cycle - last_;
  for (launch_occupancy* l : resident_) {
    if (l->warps == 0) continue;   // only cycles in which the SM holds a warp of the launch count
    const std::uint64_t held = std::uint64_t{l->blocks} * l->warps_per_block;
    const std::uint64_t empty = l->most_blocks > l->blocks ? std::uint64_t{l->most_blocks - l->blocks} * l->warps_per_block : 0;
    l->active_cycles += n;
    l->live += n * l->warps;
    l->ended += n * (held - l->warps);
    l->block_cycles += n * l->blocks;
    if (blocks_ > l->blocks)
      l->beside_others += n * empty;
    else
      l->waiting += n * empty;
  }
  over_time_.add(last_, cycle, warps_);
  last_ = cycle;
}

void occupancy_account::block_came(std::uint32_t launch, unsigned most_blocks, unsigned warps_per_block, cycle_t cycle) {
  advance(cycle);
  launch_occupancy& l = launches_[launch];
  l.most_blocks = most_blocks;
  l.warps_per_block = warps_per_block;
  l.filled_later += l.waiting;
  l.waiting = 0;
  ++l.came;
  ++blocks_;
  if (l.blocks++ == 0) resident_.push_back(&l);
}

void occupancy_account::block_left(std::uint32_t launch, cycle_t cycle) {
  advance(cycle);
  launch_occupancy& l = launches_[launch];
  --blocks_;
  if (--l.blocks == 0) resident_.erase(std::find(resident_.begin(), resident_.end(), &l));
}

void occupancy_account::warp_came(std::uint32_t launch, cycle_t cycle) {
  advance(cycle);
  ++warps_;
  ++launches_[launch].warps;
}

void occupancy_account::warp_left(std::uint32_t launch, cycle_t cycle) {
  advance(cycle);
  --warps_;
  --launches_[launch].warps;
}

}  // namespace heddle
