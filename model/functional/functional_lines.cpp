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
  b.lines.add(addresses, lanes.global, s.bytes, use_of(i));
}

void functional_executor::note_segment(block& b, const simt::bulk_request& r, const simt::bulk_segment& p) const {
  if (p.outside || r.kind == simt::bulk_kind::cluster) return;
  const bool writes = r.kind == simt::bulk_kind::store || r.kind == simt::bulk_kind::reduction;
  b.lines.add(p.global, p.bytes, !writes ? line_use::reads : r.reduces ? line_use::changes : line_use::writes);
}

void functional_executor::report_lines(block& b) {
  const auto alone = memory_below_.below_alone();
  const std::uint64_t size = launch_->cluster_blocks();
  follower_->block_touched(b.cluster_number * size + (size > 1 ? b.context.cluster_rank : 0), b.lines.take());
}

}  // namespace heddle
