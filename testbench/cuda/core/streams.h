// SPDX-License-Identifier: MIT
// The streams and events that the program has created, as it described them.
#pragma once

#include <cstdint>

#include "testbench/cuda/core/types.h"

namespace heddle::cuda {

/// Smaller numbers have higher priority.
constexpr int least_priority = 0, greatest_priority = -5;

/// True for the default streams, too.
bool is_stream(std::uint32_t number);
/// The program's event has been recorded, or will be by a graph.
void note_record(std::uint32_t event);
/// False: the event was made without timing.
bool has_time(event_t e);
/// Flags of a stream; 0 for the default streams.
unsigned flags_of_stream(std::uint32_t number);

}  // namespace heddle::cuda
