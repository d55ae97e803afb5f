// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/sass_trace/block_trace.h"
#include "frontend/sass_trace/code_table.h"
#include "frontend/sass_trace/field_scanner.h"
#include "frontend/sass_trace/kernel_header.h"

namespace heddle::sass_trace {

/// Reads instruction lines of one kernel. What varies from one execution to the next is read each time, the rest of a line
/// only when it is met for the first time.
class body_parser {
 public:
  body_parser(const line_reader& place, const line_format& format, code_table& code)
      : place_(place), format_(format), code_(code) {}

  /// Appends the line's step to the block. Throws input_error.
  void instruction(std::string_view line, block_trace& block);

 private:
  const code_entry& learn(std::uint32_t pc, field_scanner& s, std::uint32_t mask, block_trace& block, trace_step& step);
  void registers(field_scanner& s, unsigned most, const char* what, std::vector<std::uint8_t>& out);
  bool as_before(field_scanner& s, std::uint32_t index, std::uint32_t mask, block_trace& block, trace_step& step);
  void addresses(field_scanner& s, std::uint32_t mask, block_trace& block, trace_step& step);
  std::int64_t tail(field_scanner& s);
  void values(field_scanner& s);

  // The end of an instruction's line, from behind its first address on, when it was last met: other warps' lines mostly differ in
  // the first address alone.
  struct line_end {
    std::string text;
    std::uint64_t form = 0;
    std::uint32_t mask = 0;
    address_list::shape shape;
    shape_store::number shared = shape_store::none;
    bool tried = false;              // to share it, when it came again
  };
  address_list::handle again(std::uint64_t first, line_end& end, block_trace& block);

  const line_reader& place_;
  const line_format format_;
  code_table& code_;
  static_fields fields_;
  std::vector<line_end> ends_;   // by the instruction's number
  std::shared_ptr<shape_store> shapes_ = std::make_shared<shape_store>();   // blocks may live longer
};

}  // namespace heddle::sass_trace
