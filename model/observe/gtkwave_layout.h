// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heddle/observe/vcd_writer.h"

namespace heddle {

/// The save file of GTKWave for a waveform, and filter files that show enumerations as words: (name, text) pairs, names
/// without directory. What a newcomer looks for stands first: who issues in an SM, and what its warps wait for; all
/// else is folded behind it. `start`: time on the axis where the view begins.
std::vector<std::pair<std::string, std::string>> gtkwave_layout(const std::string& vcd_name,
                                                                const std::vector<vcd_writer::signal>& signals,
                                                                std::uint64_t start);
std::vector<std::string> gtkwave_layout_names(const std::string& vcd_name);

}  // namespace heddle
