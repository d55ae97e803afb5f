// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/sass_trace/code/code_table.h"

namespace heddle::sass_trace {

/// The machine instruction for a traced one: its unit, the registers it waits for and writes (with the neighbours that
/// wide values take, which traces leave out) and, of a memory instruction, space and bytes. It computes nothing.
code_entry translate(generation g, const static_fields& f);

}  // namespace heddle::sass_trace
