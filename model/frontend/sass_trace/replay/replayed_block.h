// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"
#include "heddle/isa/recording.h"

namespace heddle::sass_trace {

/// A block of a trace that is completely in memory.
class replayed_block : public isa::recorded_block, public std::enable_shared_from_this<replayed_block> {
 public:
  /// `block`: a list of records for every warp, each ending with an EXIT. `taken`: bytes to return to the kernel's
  /// store.
  replayed_block(std::shared_ptr<const trace_kernel> kernel, std::shared_ptr<const block_trace> block,
                 std::size_t taken);
  ~replayed_block() override { kernel_->store->give_back(taken_); }

  [[nodiscard]] const std::uint32_t* index() const override { return block_->index; }
  [[nodiscard]] std::uint64_t records() const override { return block_->records.size(); }
  [[nodiscard]] std::shared_ptr<const isa::recorded_segment> segment(std::uint32_t warp,
                                                                     std::uint64_t position) const override;

 private:
  class warp_segment : public isa::recorded_segment {
   public:
    void addresses(const isa::execution_record& record, std::uint64_t addresses[32]) const override;
    [[nodiscard]] const isa::lane_addresses* shared_addresses(const isa::execution_record& record) const override;
    const trace_kernel* kernel = nullptr;
    const address_list* list = nullptr;
    const common_addresses* common = nullptr;
  };

  const std::shared_ptr<const trace_kernel> kernel_;
  const std::shared_ptr<const block_trace> block_;
  const std::size_t taken_;
  std::vector<warp_segment> segments_;  // by warp
};

}  // namespace heddle::sass_trace
