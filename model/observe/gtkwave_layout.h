// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "observe/vcd_writer.h"

namespace heddle {

/// The save file of GTKWave for a waveform, and filter files that show enumerations as words: (name, text) pairs, names
/// without directory. `start`: time of the first sample, where the view is zoomed to.
std::vector<std::pair<std::string, std::string>> gtkwave_layout(const std::string& vcd_name,
                                                                const std::vector<vcd_writer::signal>& signals,
                                                                std::uint64_t start);
std::vector<std::string> gtkwave_layout_names(const std::string& vcd_name);

}  // namespace heddle
