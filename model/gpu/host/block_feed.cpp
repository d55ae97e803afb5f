// SPDX-License-Identifier: MIT
#include "heddle/gpu/host/block_feed.h"

#include <algorithm>
#include <utility>

#include "heddle/functional/recorded_lines.h"

namespace heddle {

void block_feed::add(std::uint32_t launch, std::shared_ptr<const sass_trace::trace_kernel> kernel) {
  recordings_.insert_or_assign(launch, sass_trace::trace_recording(std::move(kernel)));
}

void block_feed::hand_over(const grid_record& grid) {
  if (!grid.launch->recorded()) return;
  const auto recording = recordings_.find(grid.launch->launch_id);
  if (recording == recordings_.end()) return;
  cwd_->hand_over(grid.launch->launch_id, recording->second.next());
  if (recording->second.exhausted()) recordings_.erase(recording);
}

// The CWD has the first of them already.
executed_blocks block_feed::skip(const grid_record& grid, line_follower& follower) {
  executed_blocks all;
  auto add = [&, block = grid.dispatched](const isa::recorded_block& b) mutable {
    follower.block_touched(block, lines_of(b, *grid.launch->decoded, *grid.launch, block, follower.together()));
    ++block;
    all.instructions += b.records();
    all.most = std::max(all.most, b.records());
  };
  if (grid.next_block != nullptr) add(*grid.next_block);
  const auto recording = recordings_.find(grid.launch->launch_id);
  if (recording == recordings_.end()) return all;
  while (!recording->second.exhausted()) add(*recording->second.next());
  recordings_.erase(recording);
  return all;
}

}  // namespace heddle
