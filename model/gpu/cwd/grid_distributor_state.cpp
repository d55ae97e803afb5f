// SPDX-License-Identifier: MIT
// The records of launches and preemptions in a state image. Launches themselves are submitted again before it is read.
#include <algorithm>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

void grid_record::exchange(state_image& image) {
  image(doorbell_cycle, ready_cycle, start_cycle, end_cycle, ends_cycle, dispatched, block_cycles, longest_block,
        completed, unsettled, released, early, prerequisite_cycle, resident, finished, terminated, dropped, abandoned);
  if (finished) {
    next_block.reset();
    return;
  }
  // Since it was submitted, the host may have written the module's constants, and allocations between the launches
  // may have been others than now.
  resident_launch present = *launch;
  image(present.banks[0], present.banks[3], present.local_base);
  if (image.reading()) launch = std::make_shared<const resident_launch>(std::move(present));
}

void context_in_flight::exchange(state_image& image) {
  invariant(executed.empty(), "a checkpoint with a flush whose energy is counted");
  image(sm, mode, drops, request_cycle, quiesced_cycle, saved_cycle, restore_cycle, resumed_cycle, resume_after,
        resume_cycle, waits_for, lost_cycles, saved, resumed);
  std::uint64_t count = blocks.size();
  image(count);
  blocks.resize(count);
  for (switched_block& b : blocks) {
    image(b.launch, b.block, b.warp_ids, b.restored_warp_ids, b.bytes_saved, b.bytes_restored, b.executed);
    if (image.reading()) b.transaction = nullptr;
  }
}

void grid_distributor::exchange(state_image& image) {
  image.part(name());
  image.each(grids_);
  image(dispatch_order_, end_order_, preempt_counts_.asked, preempt_counts_.found_no_blocks, contexts_, unfinished_,
        blocks_submitted_, blocks_placed_, blocks_completed_);
  // The first part of a divided request, by its place.
  for (const auto& c : contexts_) {
    const auto first =
        std::find_if(contexts_.begin(), contexts_.end(), [&](const auto& o) { return o.get() == c->first; });
    std::uint64_t place = static_cast<std::uint64_t>(first - contexts_.begin());
    image(place);
    if (image.reading()) c->first = place < contexts_.size() ? contexts_[place].get() : nullptr;
  }
}

}  // namespace heddle
