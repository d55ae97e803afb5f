// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle {
struct run_metrics;
}

namespace heddle::testbench {

/// A summary of the context switches of a run: for each mode the number, the bytes moved, and the latencies until SMs
/// were free and until they resumed. Empty if there was no preemption.
std::vector<std::string> preemption_lines(const run_metrics& metrics);

/// A value with an SI prefix before `unit`, such as "4.2 MB"; seconds as "3.19 us".
std::string scaled(double value, const char* unit);
std::string duration(double seconds);

}  // namespace heddle::testbench
