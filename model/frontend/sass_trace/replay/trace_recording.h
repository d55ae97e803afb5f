// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/read/trace_reader.h"
#include "heddle/frontend/sass_trace/replay/trace_kernel.h"
#include "heddle/isa/recording.h"

namespace heddle::sass_trace {

/// Delivers the blocks of a kernel for its replay in the order of the file, which is read again unless the blocks were
/// kept. A block is in memory if the store has room.
class block_source {
 public:
  explicit block_source(std::shared_ptr<const trace_kernel> kernel);
  /// The next block; after those of the file, any number of empty blocks. Throws input_error if the file has changed.
  std::shared_ptr<const isa::recorded_block> next();

 private:
  std::shared_ptr<const trace_kernel> kernel_;
  std::unique_ptr<trace_reader> reader_;
  std::shared_ptr<common_addresses> common_;
  std::size_t delivered_ = 0;
  block_trace::room last_;  // most blocks of a kernel have the same size
};

/// A traced kernel as the model replays it: block by block from its file, which is open only from the first block to
/// the last.
class trace_recording {
 public:
  explicit trace_recording(std::shared_ptr<const trace_kernel> kernel) : kernel_(std::move(kernel)) {}
  /// Number of blocks to run, at least 1.
  [[nodiscard]] std::uint64_t blocks() const { return kernel_->blocks != 0 ? kernel_->blocks : 1; }
  /// All blocks have been taken.
  [[nodiscard]] bool exhausted() const { return delivered_ == blocks(); }
  /// The next block, until the recording is exhausted. Throws input_error if the trace can no longer be read.
  std::shared_ptr<const isa::recorded_block> next();

 private:
  std::shared_ptr<const trace_kernel> kernel_;
  std::unique_ptr<block_source> source_;
  std::uint64_t delivered_ = 0;
};

}  // namespace heddle::sass_trace
