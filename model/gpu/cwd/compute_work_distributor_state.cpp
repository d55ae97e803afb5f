// SPDX-License-Identifier: MIT
// The CWD's state in a state image, while no block is on an SM or in flight.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"
#include "heddle/gpu/cwd/policies/placement_policy.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

bool compute_work_distributor::between_launches() const {
  const auto has_begun = [this](const auto& s) {
    return std::any_of(s.second.begin(), s.second.end(),
                       [this](std::uint32_t id) { return grids_[id].dispatched != 0; });
  };
  return arrivals_.empty() && switches_ == 0 && last_requests_.empty() && terminated_.empty() && late_ends_.empty() &&
         !halted_ && !abandoning_ && std::none_of(streams_.begin(), streams_.end(), has_begun) &&
         std::all_of(contexts_.begin(), contexts_.end(), [](const auto& c) { return c->executed.empty(); });
}

void compute_work_distributor::exchange(state_image& image) {
  invariant(between_launches() || image.reading(), "a checkpoint while blocks run");
  grid_distributor::exchange(image);
  for (sm_account& a : accounts_) image(a.room, a.slice_start);
  placement_->exchange(image);
  image(streams_, candidates_, candidate_lists_, next_dispatch_, dispatch_free_, ends_, ends_free_, blocked_,
        early_grids_, with_runtime_);
  if (!image.reading()) return;
  for (const auto& [stream, launches] : streams_)
    for (const std::uint32_t id : launches)
      if (grids_.at(id).resident && grids_[id].next_block == nullptr) observer_.grid_resident(grids_[id]);
}

}  // namespace heddle
