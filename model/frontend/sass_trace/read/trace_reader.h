// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/block/number_set.h"
#include "heddle/frontend/sass_trace/code/code_table.h"
#include "heddle/frontend/sass_trace/read/body_parser.h"
#include "heddle/frontend/sass_trace/read/kernel_header.h"
#include "heddle/frontend/sass_trace/text/line_reader.h"
#include "heddle/isa/program.h"

namespace heddle::sass_trace {

/// Reads the trace of one kernel block by block, in the order of the file. It holds at most one block, or a part of
/// one, at any time.
class trace_reader {
 public:
  /// Opens the file and reads its header. This and all other functions throw input_error with file and line.
  explicit trace_reader(const std::string& file);
  /// The same with the code table of an earlier pass.
  trace_reader(const std::string& file, std::shared_ptr<code_table> code);

  [[nodiscard]] const kernel_header& header() const { return header_; }
  using part_consumer = std::function<void(block_trace&)>;
  /// Reads the next thread block into `block`; false at the end of the file. A block larger than `part_bytes` is
  /// delivered in parts: `consume_part` is called with each part but the last, and the last one is left in `block`. The
  /// last warp of a part may be incomplete.
  bool next_block(block_trace& block, std::size_t part_bytes, const part_consumer& consume_part);
  /// Reads the next thread block as a whole.
  bool next_block(block_trace& block) { return next_block(block, ~std::size_t{0}, nullptr); }
  /// The number of blocks delivered so far.
  [[nodiscard]] std::uint64_t blocks() const { return blocks_; }
  /// The program of a run of Heddle; null: a trace of a GPU.
  [[nodiscard]] const std::shared_ptr<isa::program>& program() const { return program_; }
  /// The instructions found so far.
  [[nodiscard]] const std::shared_ptr<code_table>& code() const { return code_; }

 private:
  void read_own_program();
  void block_place(block_trace& block);
  void warp(std::string_view line, block_trace& block, std::size_t part_bytes, const part_consumer& consume_part);
  [[noreturn]] void refuse(std::string_view line, const std::string& expected) const;
  [[noreturn]] void truncated(const std::string& where) const;
  bool keyed(std::string_view line, std::string_view key, std::string_view& value) const;
  [[nodiscard]] std::uint32_t number(std::string_view line, std::string_view value, std::uint64_t most,
                                     const char* what) const;

  line_reader reader_;
  kernel_header header_;
  std::shared_ptr<code_table> code_;
  body_parser parser_;
  std::shared_ptr<isa::program> program_;
  std::uint64_t blocks_ = 0;
  number_set seen_;          // numbers of the delivered blocks
  std::vector<bool> begun_;  // warps of the block that have begun
};

}  // namespace heddle::sass_trace
