// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/frontend/sass_trace/read/kernel_header.h"
#include "heddle/frontend/sass_trace/text/line_reader.h"

namespace heddle::testbench {

/// What the first warp of a trace executes at its beginning: launches of different code differ in it.
struct trace_code {
  std::uint64_t hash = 0;  // of the different instructions: their places and opcodes
  unsigned instructions = 0, memory = 0, matrix = 0;

  /// The code, and the mix of its instructions in tenths.
  [[nodiscard]] std::string text() const;
};

/// Reads at most 256 instructions of the first warp behind the header. A trace that ends before is left to those who
/// simulate it. Throws input_error for a line that is no instruction.
trace_code read_code(sass_trace::line_reader& lines, const sass_trace::kernel_header& header);

}  // namespace heddle::testbench
