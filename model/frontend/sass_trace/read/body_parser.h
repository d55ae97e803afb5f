// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/code/code_table.h"
#include "heddle/frontend/sass_trace/read/kernel_header.h"
#include "heddle/frontend/sass_trace/text/field_scanner.h"

namespace heddle::sass_trace {

/// Parses the instruction lines of one kernel. The fields that vary between executions are parsed each time, the
/// static fields of a line only at its first occurrence.
class body_parser {
 public:
  body_parser(line_reader& lines, const line_format& format, code_table& code)
      : lines_(lines), format_(format), code_(code) {}

  /// Announces that the next line is the first of a warp.
  void start_warp() { last_ = 0; }
  /// Fast path: if the next line repeats the one that followed last time, except for its first address, consumes it
  /// and appends its record to the block. Otherwise returns false and consumes nothing.
  bool as_expected(block_trace& block);
  /// Parses a line and appends its record to the block. Throws input_error.
  void instruction(std::string_view line, block_trace& block);
  /// The last line was one of a copy from global to shared memory (LDGSTS). The copy has a line for each end, that of
  /// shared memory first.
  [[nodiscard]] bool in_copy() const { return known_[last_].copies; }
  /// Drops the line of shared memory if the last two records, those of a warp from `first` on, are the two of a copy.
  static void join_copy(block_trace& block, std::size_t first);

 private:
  const code_entry& learn(std::uint32_t pc, field_scanner& s, std::uint32_t mask, block_trace& block,
                          trace_record& record);
  void registers(field_scanner& s, unsigned most, const char* what, std::vector<std::uint8_t>& out);
  std::size_t with_addresses(field_scanner& s, std::uint32_t index, std::uint32_t mask, block_trace& block,
                             trace_record& record);
  void addresses(field_scanner& s, std::uint32_t mask, block_trace& block, trace_record& record);
  std::int64_t tail(field_scanner& s);
  void values(field_scanner& s);

  // The last line of an instruction: the lines of other warps mostly differ only in the first address.
  struct known_line {
    std::string start;       // text up to the first address, or the whole line with its line end; empty: no prediction
    std::string text;        // text after the first address, without the line end
    std::uint64_t form = 0;  // of the addresses; 0: none
    std::uint32_t mask = 0;
    address_list::shape shape;
    shape_store::number shared = shape_store::none;
    bool copies = false;
    bool tried = false;    // the shape was offered to the store at its first repetition
    std::size_t next = 0;  // the line that followed, as instruction number from 1; 0: unknown
  };
  address_list::handle again(std::uint64_t first, known_line& known, block_trace& block);
  void remember(std::string_view line, std::size_t address, const code_entry& e, const trace_record& record);

  line_reader& lines_;
  const line_format format_;
  code_table& code_;
  static_fields fields_;
  std::vector<known_line> known_{1};  // by instruction number, from 1; entry 0 precedes the first line of a warp
  std::size_t last_ = 0;              // index of the previous line
  // Shared with blocks, which may outlive the parser.
  std::shared_ptr<shape_store> shapes_ = std::make_shared<shape_store>();
};

}  // namespace heddle::sass_trace
