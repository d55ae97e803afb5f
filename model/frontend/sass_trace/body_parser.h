// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>

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
  void addresses(field_scanner& s, std::uint32_t mask, block_trace& block, trace_step& step);
  std::int64_t tail(field_scanner& s);
  void values(field_scanner& s);

  const line_reader& place_;
  const line_format format_;
  code_table& code_;
  static_fields fields_;
};

}  // namespace heddle::sass_trace
