// SPDX-License-Identifier: MIT
// The CWD's state in a state image.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/compute_work_distributor.h"
#include "heddle/gpu/cwd/policies/placement_policy.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

// The place of a warp in a trace of its own program is not described.
bool compute_work_distributor::has_image() const {
  const auto follows = [](const grid_record& g) {
    return g.dispatched != 0 && !g.finished && g.launch->program->follows;
  };
  return sample_error_ == 0 && terminated_.empty() && !halted_ && !abandoning_ &&
         std::none_of(grids_.begin(), grids_.end(), follows);
}

void compute_work_distributor::exchange(state_image& image) {
  invariant(has_image() || image.reading(), "a checkpoint while launches are ended");
  grid_distributor::exchange(image);
  exchange_blocks(image);
  exchange_contexts(image);
  image(last_requests_);
  for (const auto& c : last_requests_) {
    name_context(*c, image);
    exchange_executed(*c, image);
  }
  image.each(accounts_);
  for (front_end& f : fronts_) f.exchange(image);
  image(arrivals_);
  switcher_.exchange(image);
  image(early_grids_, with_runtime_);
}

void compute_work_distributor::front_end::exchange(state_image& image) {
  placement->exchange(image);
  image(streams, candidates, candidate_lists, next_dispatch, dispatch_free, ends, ends_free, late_ends, blocked);
}

// Those in the pool have names, too: a request to an SM may name blocks that have ended.
void compute_work_distributor::exchange_blocks(state_image& image) {
  blocks_.exchange(image);
  for (const auto& b : blocks_.all()) image.name<cta_transaction>(b.get());
  std::map<std::uint32_t, std::map<std::uint64_t, block_in_flight*>> recorded;  // by launch and number
  blocks_.each_in_use([&](block_in_flight& b) {
    if (b.exchange(image)) recorded[b.launch->launch_id][b.block] = &b;
  });
  if (!image.reading()) return;
  for (grid_record& g : grids_)
    if (g.resident && !g.finished && g.launch->recorded()) read_recordings(g, recorded[g.launch->launch_id]);
}

bool block_in_flight::exchange(state_image& image) {
  bool is_recorded = recording != nullptr, in_cluster = cluster_sms != nullptr;
  image(launch, block, sm, early, wants_released, cta_slot, warp_ids, stores_left, allocation, since, resident,
        released, sent_early, is_recorded, in_cluster);
  if (!in_cluster) return is_recorded;
  std::vector<std::uint16_t> sms = image.reading() ? std::vector<std::uint16_t>() : *cluster_sms;
  image(sms);
  if (image.reading()) cluster_sms = std::make_shared<const std::vector<std::uint16_t>>(std::move(sms));
  return is_recorded;
}

// The launch's blocks are read from its trace again, up to the one that the next dispatch carries. Those in flight keep
// theirs.
void compute_work_distributor::read_recordings(grid_record& g,
                                               const std::map<std::uint64_t, block_in_flight*>& blocks) {
  const std::uint64_t together = g.launch->cluster_blocks();
  if (g.next_block == nullptr) observer_.grid_resident(g);
  for (std::uint64_t n = 0; n < g.dispatched; ++n) {
    const std::uint64_t number = together == 1 ? n : block_of_cluster(g, n / together, n % together);
    const auto recording = std::move(g.next_block);
    if (const auto at = blocks.find(number); at != blocks.end()) at->second->recording = recording;
    observer_.block_dispatched(g);
  }
}

}  // namespace heddle
