// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "heddle/observe/vcd_writer.h"

namespace heddle {

/// The GTKWave save file for a waveform, and filter files that show enumerations as words: (name, text) pairs, names
/// without directory. The most useful signals come first: what issues in an SM, and what its warps wait for. All others
/// are folded after them. `start`: time on the axis at which the view begins. `places`: the line of each instruction of
/// the program that runs, "kernel.cu:42", shown in place of its index; empty: several programs run, or none.
std::vector<std::pair<std::string, std::string>> gtkwave_layout(const std::string& vcd_name,
                                                                const std::vector<vcd_writer::signal>& signals,
                                                                std::uint64_t start,
                                                                const std::vector<std::string>& places);
std::vector<std::string> gtkwave_layout_names(const std::string& vcd_name);

}  // namespace heddle
