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

/// Reads instruction lines of one kernel. What varies from one execution to the next is read each time, the rest of a
/// line only when it is met for the first time.
class body_parser {
 public:
  body_parser(line_reader& lines, const line_format& format, code_table& code)
      : lines_(lines), format_(format), code_(code) {}

  /// The next line is the first of a warp.
  void start_warp() { last_ = 0; }
  /// Takes the next line and appends its step to the block if it is what followed the line before when that was last
  /// met, but for its first address; false otherwise, with nothing taken.
  bool as_expected(block_trace& block);
  /// Appends the line's step to the block. Throws input_error.
  void instruction(std::string_view line, block_trace& block);

 private:
  const code_entry& learn(std::uint32_t pc, field_scanner& s, std::uint32_t mask, block_trace& block,
                          trace_record& step);
  void registers(field_scanner& s, unsigned most, const char* what, std::vector<std::uint8_t>& out);
  std::size_t with_addresses(field_scanner& s, std::uint32_t index, std::uint32_t mask, block_trace& block,
                             trace_record& step);
  void addresses(field_scanner& s, std::uint32_t mask, block_trace& block, trace_record& step);
  std::int64_t tail(field_scanner& s);
  void values(field_scanner& s);

  // An instruction's line when it was last met: other warps' lines mostly differ in the first address alone.
  struct known_line {
    std::string start;       // up to the first address, or the whole line with its end; empty: not to be expected again
    std::string text;        // from behind the first address on, without the line's end
    std::uint64_t form = 0;  // of the addresses; 0: none
    std::uint32_t mask = 0;
    address_list::shape shape;
    shape_store::number shared = shape_store::none;
    bool tried = false;    // to share it, when it came again
    std::size_t next = 0;  // the line that followed, counted from 1 by the instruction's number; 0: not known
  };
  address_list::handle again(std::uint64_t first, known_line& known, block_trace& block);
  void remember(std::string_view line, std::size_t address, const code_entry& e, const trace_record& step);

  line_reader& lines_;
  const line_format format_;
  code_table& code_;
  static_fields fields_;
  std::vector<known_line> known_{1};  // by the instruction's number, from 1; 0 stands before a warp's first
  std::size_t last_ = 0;              // the line before, of these
  std::shared_ptr<shape_store> shapes_ = std::make_shared<shape_store>();  // blocks may live longer
};

}  // namespace heddle::sass_trace
