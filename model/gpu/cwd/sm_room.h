// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/occupancy/sm_resources.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// The resources of an SM by the CWD's account, and whether the next block of every grid fits them. That answer is kept
/// until the resources or the grids with blocks to dispatch change.
class sm_room {
 public:
  explicit sm_room(const gpu_config& config) : resources_(config) {}

  [[nodiscard]] const sm_resources& free() const { return resources_; }
  block_allocation take(const block_footprint& block) { return changed().take(block); }
  void take_again(block_allocation& allocation) { changed().take_again(allocation); }
  void give_back(const block_allocation& allocation) { changed().give_back(allocation); }
  void exchange(state_image& image) { image(changed()); }

  /// `waiting_set`: number of the set of grids with blocks to dispatch, from 1. `fit()`: whether the next block of each
  /// of them fits; it is called when the answer is not known.
  template <class Fit>
  [[nodiscard]] bool takes_all(std::uint64_t waiting_set, Fit&& fit) const {
    if (known_for_ != waiting_set) {
      takes_all_ = fit();
      known_for_ = waiting_set;
    }
    return takes_all_;
  }

 private:
  sm_resources& changed() {
    known_for_ = 0;
    return resources_;
  }

  sm_resources resources_;
  mutable std::uint64_t known_for_ = 0;  // the set of grids that takes_all_ is the answer for; 0: none
  mutable bool takes_all_ = false;
};

}  // namespace heddle
