// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"
#include "heddle/isa/recording.h"

namespace heddle::sass_trace {

/// A block of a trace that lies in the store's file, piece by piece: in memory are the pieces at which its warps stand.
class spilled_block : public isa::recorded_block, public std::enable_shared_from_this<spilled_block> {
 public:
  explicit spilled_block(std::shared_ptr<const trace_kernel> kernel);
  ~spilled_block() override;

  /// Takes over what was read of the block, in the order of the file, a warp perhaps in several parts.
  void append(const block_trace& part);
  /// All has been read: every warp gets its end.
  void complete();

  const std::uint32_t* index() const override { return index_; }
  std::shared_ptr<const isa::recorded_segment> piece(std::uint32_t warp, std::uint64_t position) const override;

 private:
  class segment_in_memory;
  struct place {
    std::uint64_t position = 0;  // of its first step
    std::uint64_t at =
        0;  // in the store's file: its steps, the one before them first where there is one, then words of addresses
    std::uint32_t steps = 0;
    std::uint32_t words = 0;
    std::uint32_t next_lanes = 0;
  };
  struct stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  void add(const trace_record& step, const address_list& from);
  void followed(const trace_record& step);
  void close_segment();
  void end_warp();

  const std::shared_ptr<const trace_kernel> kernel_;
  std::uint32_t index_[3] = {0, 0, 0};
  std::shared_ptr<const common_addresses> common_;
  std::vector<std::vector<place>> places_;  // by warp
  std::vector<stretch> stretches_;          // of the file, that are the block's

  // While it is read: the warp in progress, of which `read_` steps have come, and its piece in progress.
  std::uint32_t warp_ = 0;
  bool in_warp_ = false;
  std::uint64_t read_ = 0;
  std::uint64_t position_ = 0;
  std::size_t open_places_ = 0;  // pieces from here on do not know their next lanes yet
  std::vector<trace_record> steps_;
  address_list addresses_;
};

}  // namespace heddle::sass_trace
