// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// A kernel whose power was measured.
struct measured_kernel {
  std::string name;
  double watts = 0;
  double seconds = 0;
  double active_sms = 0;       // on average
  std::vector<double> events;  // in that time, by power_measurements::events
};

/// A table of power and events. `events` are keys of [energy] without "_pj", in the table's order.
struct power_measurements {
  std::string file;
  double clock_mhz = 0;  // of all kernels; 0: the table has none
  std::vector<std::string> events;
  std::vector<measured_kernel> kernels;
};

/// Reads a CSV file: kernel, watts, active_sms, seconds (and clock_mhz, if it is known) or cycles and clock_mhz, and a
/// column for each event. Throws input_error with FILE:LINE.
power_measurements read_measurements(const std::string& file, unsigned sm_count);

}  // namespace heddle::testbench
