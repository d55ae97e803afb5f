// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "heddle/frontend/sass_trace/text/line_reader.h"
#include "heddle/isa/program.h"

namespace heddle::sass_trace {

/// Appends the lines of a machine program: its size and properties, then every instruction with all of its fields.
void write_program(std::string& text, const isa::program& program);
/// Reads them. `kernel`: its name. Throws input_error.
std::shared_ptr<isa::program> read_program(line_reader& reader, const std::string& kernel);

}  // namespace heddle::sass_trace
