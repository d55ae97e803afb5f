// SPDX-License-Identifier: MIT
#include "heddle/sm/occupancy_account.h"

#include <algorithm>

#include "heddle/config/error.h"

namespace heddle {

void time_series::double_step() {
  std::vector<std::uint64_t> halves(sums_.empty() ? 0 : (first_ + sums_.size() - 1) / 2 - first_ / 2 + 1);
  for (std::size_t k = 0; k < sums_.size(); ++k) halves[(first_ + k) / 2 - first_ / 2] += sums_[k];
  sums_ = std::move(halves);
  first_ /= 2;
  step_ *= 2;
}

void time_series::add(cycle_t from, cycle_t to, std::uint64_t value) {
  if (value == 0 || from >= to) return;
  const auto steps = [&] {
    const cycle_t begin = sums_.empty() ? from / step_ : std::min(first_, from / step_);
    return std::max<cycle_t>((to - 1) / step_, sums_.empty() ? 0 : first_ + sums_.size() - 1) - begin + 1;
  };
  while (steps() > most_steps_) double_step();
  if (sums_.empty()) first_ = from / step_;
  if (from / step_ < first_) {
    sums_.insert(sums_.begin(), first_ - from / step_, 0);
    first_ = from / step_;
  }
  while (from < to) {
    const std::size_t k = from / step_ - first_;
    const cycle_t end = std::min(to, (from / step_ + 1) * step_);
    if (sums_.size() <= k) sums_.resize(k + 1);
    sums_[k] += value * (end - from);
    from = end;
  }
}

void time_series::add(const time_series& other) {
  time_series o = other;
  while (o.step_ < step_) o.double_step();
  if (o.sums_.empty()) return;
  const auto last = [](const time_series& t) { return t.first_ + t.sums_.size() - 1; };
  for (;;) {
    while (step_ < o.step_) double_step();
    const cycle_t first = sums_.empty() ? o.first_ : std::min(first_, o.first_);
    const cycle_t end = sums_.empty() ? last(o) : std::max(last(*this), last(o));
    if (end - first < most_steps_) break;
    o.double_step();
  }
  if (sums_.empty()) first_ = o.first_;
  if (o.first_ < first_) {
    sums_.insert(sums_.begin(), first_ - o.first_, 0);
    first_ = o.first_;
  }
  sums_.resize(std::max(sums_.size(), static_cast<std::size_t>(last(o) - first_ + 1)));
  for (std::size_t k = 0; k < o.sums_.size(); ++k) sums_[o.first_ - first_ + k] += o.sums_[k];
}

void occupancy_account::advance(cycle_t cycle) {
  if (cycle <= last_) return;
  const cycle_t n = cycle - last_;
  for (launch_occupancy* l : resident_) {
    if (l->warps == 0) continue;  // only cycles in which the SM holds a warp of the launch count
    const std::uint64_t held = std::uint64_t{l->blocks} * l->warps_per_block;
    const std::uint64_t empty = std::uint64_t{l->most_blocks - l->blocks} * l->warps_per_block;
    l->active_cycles += n;
    l->live += n * l->warps;
    l->live_over_time.add(last_, cycle, l->warps);
    l->active_over_time.add(last_, cycle, 1);
    l->ended += n * (held - l->warps);
    l->block_cycles += n * l->blocks;
    if (blocks_ > l->blocks) l->beside_others += n * empty;
    else l->waiting += n * empty;
  }
  over_time_.add(last_, cycle, warps_);
  last_ = cycle;
}

void occupancy_account::block_entered(std::uint32_t launch, unsigned most_blocks, unsigned warps_per_block,
                                      cycle_t cycle) {
  advance(cycle);
  launch_occupancy& l = launches_[launch];
  l.most_blocks = most_blocks;
  l.warps_per_block = warps_per_block;
  l.filled_later += l.waiting;
  l.waiting = 0;
  ++l.arrived;
  ++blocks_;
  if (l.blocks++ == 0) resident_.push_back(&l);
  invariant(l.blocks <= most_blocks, "an SM holds more blocks of a kernel than its theoretical occupancy");
}

void occupancy_account::block_left(std::uint32_t launch, cycle_t cycle) {
  advance(cycle);
  launch_occupancy& l = launches_[launch];
  --blocks_;
  if (--l.blocks == 0) resident_.erase(std::find(resident_.begin(), resident_.end(), &l));
}

void occupancy_account::shrink(std::uint32_t launch) {
  if (launches_.find(launch) == nullptr) return;
  launches_[launch].live_over_time.shrink();
  launches_[launch].active_over_time.shrink();
}

void occupancy_account::warp_entered(std::uint32_t launch, cycle_t cycle) {
  advance(cycle);
  ++warps_;
  ++launches_[launch].warps;
}

void occupancy_account::warp_left(std::uint32_t launch, cycle_t cycle) {
  advance(cycle);
  --warps_;
  --launches_[launch].warps;
}

void launch_occupancy::exchange(state_image& image) {
  image(most_blocks, warps_per_block, blocks, warps, waiting, arrived, live, ended, filled_later, beside_others,
        block_cycles, active_cycles, live_over_time, active_over_time);
}

void occupancy_account::exchange(state_image& image) {
  launches_.exchange(image, [&image](std::uint32_t, launch_occupancy& l) {
    image(l);
    image.name(&l);
  });
  image(resident_, blocks_, warps_, over_time_);
  if (blocks_ != 0) image(last_);  // otherwise it makes no difference
}

void occupancy_account::check_invariants() const {
  for (std::uint32_t launch = 0; launch < launches_.end(); ++launch) {
    const launch_occupancy* l = launches_.find(launch);
    if (l == nullptr) continue;
    const std::uint64_t places = l->active_cycles * l->most_blocks * l->warps_per_block;
    invariant(l->live <= places, "achieved occupancy of a kernel is above the theoretical one");
    invariant(l->live + l->ended + l->waiting + l->filled_later + l->beside_others == places,
              "warp slots that a kernel could have filled are lost, or counted twice");
  }
}

}  // namespace heddle
