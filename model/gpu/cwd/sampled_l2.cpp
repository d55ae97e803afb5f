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

void sampled_l2::begin_untimed(std::uint64_t first, std::uint64_t together) {
  next_ = first;
  missed_ = 0;
  waiting_.clear();
  due_.assign(static_cast<std::size_t>(together), {});
  step_ = 0;
}

void sampled_l2::block_touched(std::uint64_t block, std::vector<line_touch> lines) {
  if (block != next_) {
    waiting_.emplace(block, std::move(lines));
    return;
  }
  begin_block(lines);
  ++next_;
  for (auto w = waiting_.begin(); w != waiting_.end() && w->first == next_; w = waiting_.erase(w), ++next_)
    begin_block(w->second);
}

void sampled_l2::begin_block(const std::vector<line_touch>& lines) {
  const std::size_t steps = due_.size();
  for (std::size_t n = 0; n < lines.size(); ++n) due_[(step_ + n * steps / lines.size()) % steps].push_back(lines[n]);
  end_step();
}

void sampled_l2::end_step() {
  for (const line_touch& t : due_[step_]) missed_ += slices_[map_.slice_of(t.line)].warm(t);
  due_[step_].clear();
  step_ = (step_ + 1) % due_.size();
}

std::uint64_t sampled_l2::end_untimed() {
  waiting_.clear();
  for (std::size_t n = 0; n < due_.size(); ++n) end_step();
  due_.clear();
  for (l2_cache& s : slices_) s.end_warming();
  return missed_;
}

}  // namespace heddle
