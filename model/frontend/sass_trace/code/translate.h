// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/sass_trace/code/code_entry.h"
#include "heddle/frontend/sass_trace/code/opcode_table.h"

namespace heddle::sass_trace {

/// Translates a traced instruction into a machine instruction: its unit, its source and destination registers
/// (including the further registers of wide values, which traces omit) and, for memory instructions, space and bytes.
/// The instruction computes nothing.
code_entry translate(generation g, const static_fields& f);

}  // namespace heddle::sass_trace
