// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heddle/frontend/sass_trace/block/block_trace.h"
#include "heddle/frontend/sass_trace/text/line_reader.h"
#include "heddle/isa/program.h"
#include "heddle/isa/recording.h"

namespace heddle::sass_trace {

/// Appends the line of a step: the place of the instruction, its active lanes, those that pass the guard, flags, then
/// the address of the first of these lanes and the differences of each to the one before. `words`: these addresses, or
/// the first two if all differences are `even`; null: none.
void write_step(std::string& text, const isa::executed_step& step, const std::uint64_t* words, bool even);

/// Where a step's line is.
struct step_place {
  const line_reader& reader;
  const isa::program& program;
  std::uint32_t lanes = 0;  // of the warp that have threads
  bool last = false;        // of the warp
};
/// Parses such a line and appends its records to the block. Throws input_error.
void read_step(const step_place& place, std::string_view line, block_trace& block);

}  // namespace heddle::sass_trace
