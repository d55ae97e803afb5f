// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace heddle::isa {
struct program;
}

namespace heddle {

/// A line of a source file, or of a PTX file.
struct code_line {
  std::string file;  // the end of its path: "kernel.cu", "src/kernel.cu"; empty: any
  std::uint32_t line = 0;

  /// Whether a line of the program's PTX is this line, was compiled from it, or from what was inlined there.
  [[nodiscard]] bool holds(const isa::program& program, std::uint32_t ptx_line) const;
  /// Whether the path is the file, or ends in it.
  [[nodiscard]] bool is_in(const std::string& path) const;
};

/// The line of a program's instruction, as the report has it: "kernel.cu:42", without a known source "kernel.ptx:42",
/// of a trace its address.
std::string line_text(const isa::program& program, std::uint32_t ptx_line);

}  // namespace heddle
