// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// The launches of which blocks have been dispatched and that have not ended, for callers that visit them again and
/// again: a job may have thousands of launches, of which only a few are running. `distributor` must outlive it.
class running_launches {
 public:
  explicit running_launches(const grid_distributor& distributor) : distributor_(distributor) {}

  /// Brings the list up to now. Calls `ended` with the number of each launch that has ended since the last call.
  template <class Ended>
  void update(Ended&& ended) {
    const auto& grids = distributor_.grids();
    for (; seen_ < grids.size(); ++seen_) pending_.push_back(seen_);
    running_.clear();
    std::size_t kept = 0;
    for (const std::uint32_t launch : pending_) {
      if (grids[launch].finished) {
        ended(launch);
        continue;
      }
      pending_[kept++] = launch;
      if (grids[launch].dispatched != 0) running_.push_back(launch);
    }
    pending_.resize(kept);
  }

  /// As of the last update, in the order of their numbers.
  [[nodiscard]] const std::vector<std::uint32_t>& all() const { return running_; }
  void exchange(state_image& image) { image(seen_, pending_, running_); }

 private:
  const grid_distributor& distributor_;
  std::uint32_t seen_ = 0;
  std::vector<std::uint32_t> pending_;
  std::vector<std::uint32_t> running_;
};

}  // namespace heddle
