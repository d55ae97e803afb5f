// SPDX-License-Identifier: MIT
// The records of launches and preemptions in a state image. Launches themselves are submitted again before it is read.
#include <algorithm>
#include <set>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/sub_partition/account/ended_profile.h"
#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

void grid_record::exchange(state_image& image) {
  image(doorbell_cycle, ready_cycle, start_cycle, end_cycle, ends_cycle, dispatched, block_cycles, longest_block,
        completed, unsettled, released, early, prerequisite_cycle, resident, finished, terminated, dropped, abandoned);
  if (finished) {
    next_block.reset();
    bool has_ended = ended != nullptr;
    image(has_ended);
    if (!has_ended) return;
    ended_profile counts = ended != nullptr ? *ended : ended_profile();
    image(counts);
    if (image.reading()) ended = std::make_shared<const ended_profile>(std::move(counts));
    return;
  }
  // Since it was submitted, the host may have written the module's constants, and allocations between the launches
  // may have been others than now.
  resident_launch present = *launch;
  image(present.banks[0], present.banks[3], present.local_base);
  if (image.reading()) launch = std::make_shared<const resident_launch>(std::move(present));
}

void context_in_flight::exchange(state_image& image) {
  image(sm, mode, leaving, drops, together, group, joined, request_cycle, quiesced_cycle, saved_cycle, restore_cycle,
        resumed_cycle, resume_after, resume_cycle, waits_for, lost_cycles, saved, resumed);
  std::uint64_t count = blocks.size();
  image(count);
  blocks.resize(count);
  for (switched_block& b : blocks) {
    image(b.transaction, b.launch, b.block, b.warp_ids, b.restored_warp_ids, b.bytes_saved, b.bytes_restored,
          b.executed);
  }
}

namespace {

// Programs and tables of textures may be those of several launches.
void name_launch(const resident_launch& launch, std::set<const void*>& named, state_image& image) {
  image.name(&launch);
  image.name<const simt::launch_context>(&launch);
  const auto name_once = [&](const auto& items) {
    if (named.insert(items.data()).second) image.name(items.data(), items.size());
  };
  if (launch.decoded != nullptr) name_once(launch.decoded->code);
  if (launch.program != nullptr) name_once(launch.program->code);
  if (launch.textures != nullptr) name_once(*launch.textures);
}

}  // namespace

void grid_distributor::name_context(context_in_flight& c, state_image& image) {
  image.name(&c);
  image.name<context_transaction>(&c);
  image.name<cta_transaction>(&c);
}

void grid_distributor::exchange_executed(context_in_flight& c, state_image& image) const {
  std::uint64_t count = c.executed.size();
  image(count);
  for (std::uint64_t n = 0; n < count; ++n) {
    std::uint32_t launch = n < c.executed.size() ? c.executed[n].launch : 0;
    image(launch);
    const decoded_program& program = *grids_.at(launch).launch->decoded;
    if (image.reading())
      c.executed.push_back({launch, {zero_counts(program.code.size()), program.code.size(), nullptr}});
    c.executed[n].counts.exchange(image, program.code.size());
  }
}

void grid_distributor::exchange(state_image& image) {
  image.part(name());
  image.each(grids_);
  std::set<const void*> named;
  for (const grid_record& g : grids_) name_launch(*g.launch, named, image);
  image(dispatch_order_, end_order_, preempt_counts_.asked, preempt_counts_.found_no_blocks, unfinished_,
        blocks_submitted_, blocks_placed_, blocks_completed_, clients_);
}

void grid_distributor::exchange_contexts(state_image& image) {
  image(contexts_);
  for (const auto& c : contexts_) {
    name_context(*c, image);
    exchange_executed(*c, image);
  }
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
