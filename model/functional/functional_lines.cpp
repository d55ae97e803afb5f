// SPDX-License-Identifier: MIT
// Tells a follower which lines of global memory each block accesses.
#include "heddle/functional/functional_block.h"
#include "heddle/functional/functional_executor.h"
#include "heddle/functional/lanes_by_space.h"
#include "heddle/functional/recorded_lines.h"
#include "heddle/simt/execute.h"

namespace heddle {

void functional_executor::note_lines(block& b, const warp& x, const functional_step& s, simt::lane_mask mask) const {
  const isa::instruction& i = *s.decoded->instruction;
  alignas(64) std::uint64_t addresses[isa::warp_size];
  simt::lane_addresses(i, x.state, mask, addresses);
  const lanes_by_space lanes = divide_by_space(i.mem_space, mask, addresses);
  if ((lanes.global | lanes.local) == 0) return;
  const auto number = static_cast<std::uint32_t>(&x - b.warps.data());
  untimed_warp(*launch_, block_number(b), follower_->together(), number)
      .access(b.lines, addresses, lanes, s.bytes, use_of(i));
}

void functional_executor::note_segment(block& b, const simt::bulk_request& r, const simt::bulk_segment& p) const {
  if (p.outside || r.kind == simt::bulk_kind::cluster) return;
  const bool writes = r.kind == simt::bulk_kind::store || r.kind == simt::bulk_kind::reduction;
  b.lines.add(p.global, p.bytes, !writes ? line_use::reads : r.reduces ? line_use::changes : line_use::writes);
}

std::uint64_t functional_executor::block_number(const block& b) const {
  const std::uint64_t size = launch_->cluster_blocks();
  return b.cluster_number * size + (size > 1 ? b.context.cluster_rank : 0);
}

void functional_executor::report_lines(block& b) {
  const auto alone = memory_below_.below_alone();
  follower_->block_touched(block_number(b), b.lines.take());
}

}  // namespace heddle
