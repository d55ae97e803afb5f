// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/replay/replayed_block.h"

#include "heddle/frontend/sass_trace/replay/machine_addresses.h"

namespace heddle::sass_trace {

replayed_block::replayed_block(std::shared_ptr<const trace_kernel> kernel, std::shared_ptr<const block_trace> block,
                               std::size_t taken)
    : kernel_(std::move(kernel)), block_(std::move(block)), taken_(taken), segments_(block_->warps.size()) {
  for (std::size_t w = 0; w < segments_.size(); ++w) {
    const warp_trace& records = block_->warps[w];
    warp_segment& p = segments_[w];
    p.first = block_->records.data() + records.first;
    p.last = p.first + (records.count - 1);
    p.kernel = kernel_.get();
    p.list = &block_->addresses;
    p.common = block_->common.get();
  }
}

std::shared_ptr<const isa::recorded_segment> replayed_block::segment(std::uint32_t warp, std::uint64_t position) const {
  const warp_segment& p = segments_[warp];
  if (position > static_cast<std::uint64_t>(p.last - p.first)) return nullptr;
  return {shared_from_this(), &p};
}

void replayed_block::warp_segment::addresses(const isa::execution_record& record, std::uint64_t addresses[32]) const {
  machine_addresses(*kernel, *list, common, record, addresses);
}

const isa::lane_addresses* replayed_block::warp_segment::shared_addresses(const isa::execution_record& record) const {
  return common_list(common, record);
}

}  // namespace heddle::sass_trace
