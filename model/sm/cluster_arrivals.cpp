// SPDX-License-Identifier: MIT
#include "heddle/sm/cluster_arrivals.h"

#include <algorithm>

namespace heddle {

namespace {
unsigned count(simt::lane_mask lanes) { return static_cast<unsigned>(__builtin_popcount(lanes)); }
}  // namespace

void cluster_arrivals::open(unsigned threads) {
  live_ = threads;
  arrived_ = 0;
  complete_ = false;
  waiting_ = 0;
  lanes_.assign(most_warps, 0);
  lanes_there_.assign(most_warps, 0);
  for (unsigned warp = 0; threads != 0; ++warp) {
    const unsigned lanes = std::min(threads, isa::warp_size);
    lanes_there_[warp] = lanes == isa::warp_size ? simt::all_lanes : (1u << lanes) - 1;
    threads -= lanes;
  }
}

// The order of the fields defines the layout of a saved context.
void cluster_arrivals::exchange(simt::context_image& image) {
  image(live_);
  image(arrived_);
  image(complete_);
  image(waiting_);
  for (std::vector<simt::lane_mask>* lanes : {&lanes_, &lanes_there_}) {
    lanes->resize(most_warps);
    for (simt::lane_mask& l : *lanes) image(l);
  }
}

void cluster_arrivals::arrive(unsigned warp, simt::lane_mask lanes) {
  arrived_ += count(lanes & ~lanes_[warp]);
  lanes_[warp] |= lanes;
}

simt::lane_mask cluster_arrivals::wait(unsigned warp, simt::lane_mask lanes) {
  const simt::lane_mask stop = lanes & lanes_[warp];
  if (stop != 0) waiting_ |= std::uint64_t{1} << warp;
  return stop;
}

void cluster_arrivals::exited(unsigned warp, simt::lane_mask lanes) {
  lanes &= lanes_there_[warp];
  lanes_there_[warp] &= ~lanes;
  live_ -= count(lanes);
  arrived_ -= count(lanes & lanes_[warp]);
  lanes_[warp] &= ~lanes;
}

bool cluster_arrivals::complete() {
  if (complete_ || live_ == 0 || arrived_ < live_) return false;
  return complete_ = true;
}

std::uint64_t cluster_arrivals::release() {
  const std::uint64_t released = waiting_;
  waiting_ = 0;
  arrived_ = 0;
  complete_ = false;
  std::fill(lanes_.begin(), lanes_.end(), 0);
  return released;
}

}  // namespace heddle
