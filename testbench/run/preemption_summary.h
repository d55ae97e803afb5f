// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle {
struct run_metrics;
}

namespace heddle::testbench {

/// What the context switches of a run came to: by mode how many, the bytes that they moved, and how long SMs took to be
/// free and to go on again. Empty where nobody asked for one.
std::vector<std::string> preemption_lines(const run_metrics& metrics);

/// So many bytes, or whatever `unit` says, as "4.2 MB"; seconds as "3.19 us".
std::string scaled(double value, const char* unit);
std::string duration(double seconds);

}  // namespace heddle::testbench
