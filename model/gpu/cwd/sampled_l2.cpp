// SPDX-License-Identifier: MIT
#include "heddle/gpu/cwd/sampled_l2.h"

#include <utility>

namespace heddle {

void sampled_l2::launch_begins() {
  for (l2_cache& s : slices_) s.count_touched();
}

cache_use sampled_l2::use_now() const {
  cache_use all;
  for (const l2_cache& s : slices_) {
    all.touched += s.share_touched() / static_cast<double>(slices_.size());
    all.missed_sectors += s.sectors_missed();
  }
  return all;
}

void sampled_l2::begin_untimed(std::uint64_t first) {
  next_ = first;
  missed_ = 0;
  waiting_.clear();
}

void sampled_l2::block_touched(std::uint64_t block, std::vector<line_touch> lines) {
  if (block != next_) {
    waiting_.emplace(block, std::move(lines));
    return;
  }
  warm(lines);
  ++next_;
  for (auto w = waiting_.begin(); w != waiting_.end() && w->first == next_; w = waiting_.erase(w), ++next_)
    warm(w->second);
}

void sampled_l2::warm(const std::vector<line_touch>& lines) {
  for (const line_touch& t : lines) missed_ += slices_[map_.slice_of(t.line)].warm(t);
}

std::uint64_t sampled_l2::end_untimed() {
  waiting_.clear();
  for (l2_cache& s : slices_) s.end_warming();
  return missed_;
}

}  // namespace heddle
