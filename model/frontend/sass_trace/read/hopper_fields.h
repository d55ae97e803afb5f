// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string_view>

#include "heddle/frontend/sass_trace/read/kernel_header.h"

namespace heddle::sass_trace {

// Fields that tracers of Accel-Sim 2 write for some instructions of Hopper and Blackwell. Earlier tracers write the
// same version number without them, so the rest of the line tells whether they are there.

/// Whether a matrix instruction of a warpgroup has a field, 0 or 1, before the bytes per lane: it ends a group. `rest`:
/// the line from there on.
[[nodiscard]] bool has_group_field(std::string_view opcode, std::string_view rest, const line_format& format);

/// Whether the instruction is a bulk copy (TMA).
[[nodiscard]] bool is_bulk_copy(std::string_view opcode);

/// The characters of a bulk copy's fields behind the bytes per lane: mbarrier, multicast (0 or 1) and its mask of
/// blocks, bytes, bytes out of bounds, and addresses (form 3: number and list; 4: base, number and differences).
/// `rest`: the line from there on. 0: it has no such fields.
[[nodiscard]] std::size_t bulk_copy_fields(std::string_view rest, const line_format& format);

}  // namespace heddle::sass_trace
