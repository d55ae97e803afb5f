// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"
#include "heddle/isa/recording.h"

namespace heddle::sass_trace {

/// A block of a trace in the store's file, in segments: only the segments that its warps currently replay are in
/// memory.
class spilled_block : public isa::recorded_block, public std::enable_shared_from_this<spilled_block> {
 public:
  explicit spilled_block(std::shared_ptr<const trace_kernel> kernel);
  ~spilled_block() override;

  /// Appends a part that was read, in the order of the file; a warp may be spread over several parts.
  void append(const block_trace& part);
  /// Called when the block has been read: adds the missing EXITs.
  void complete();

  [[nodiscard]] const std::uint32_t* index() const override { return index_; }
  [[nodiscard]] std::uint64_t records() const override { return all_records_; }
  [[nodiscard]] std::shared_ptr<const isa::recorded_segment> segment(std::uint32_t warp,
                                                                     std::uint64_t position) const override;

 private:
  class segment_in_memory;
  struct place {
    std::uint64_t position = 0;  // of its first record
    // In the store's file: its records (preceded by the record before them, if there is one), then address words.
    std::uint64_t at = 0;
    std::uint32_t records = 0;
    std::uint32_t words = 0;
    std::uint32_t next_lanes = 0;
  };
  struct stretch {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
  };

  void add(const trace_record& record, const address_list& from);
  void followed(const trace_record& record);
  void close_segment();
  void end_warp();

  const std::shared_ptr<const trace_kernel> kernel_;
  std::uint32_t index_[3] = {0, 0, 0};
  std::shared_ptr<const common_addresses> common_;
  std::vector<std::vector<place>> places_;  // by warp
  std::vector<stretch> stretches_;          // ranges of the file that belong to the block
  std::uint64_t all_records_ = 0;           // of all warps

  // While the block is read: the current warp, of which `read_` records have been read, and its current segment.
  std::uint32_t warp_ = 0;
  bool in_warp_ = false;
  std::uint64_t read_ = 0;
  std::uint64_t position_ = 0;
  std::size_t open_places_ = 0;  // segments from here on do not know their next lanes yet
  std::vector<trace_record> records_;
  address_list addresses_;
};

}  // namespace heddle::sass_trace
