// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "testbench/sampling/launches/launch_counters.h"

namespace heddle::testbench {

/// One launch of a long workload, before it is simulated.
struct listed_launch {
  std::string name;   // of the kernel
  std::string shape;  // grid, block and resources, code and size of its trace; launches of one name differ by it
  double time = 0;    // measured duration, in any unit; 0: not known
  std::string trace;  // file; empty: none
  std::string range;  // of the program in which it was launched (NVTX); empty: not known
  std::string layer;  // of a network; empty: none
};

/// The launches of a workload, in order.
struct launch_list {
  std::string file;
  std::vector<listed_launch> launches;
  bool has_times = false;
  bool has_layers = false;
  bool has_streams = false;  // more than one, as far as traces tell
  launch_counters counters;  // where they were read

  /// Of all launches.
  [[nodiscard]] double time() const;
};

/// Reads a list of kernels (kernelslist.g), of whose traces only the beginnings are read, or durations (a CSV file).
/// Throws input_error.
launch_list read_launches(const std::string& file, bool with_counters);

/// Durations as profilers export them (nsys stats --report cuda_gpu_trace, nvprof --print-gpu-trace): a CSV file with a
/// column of names and one of durations, and a row for each launch; rows of copies and fills are left out. Throws
/// input_error with FILE:LINE.
launch_list read_durations(const std::string& file, bool with_counters);

/// Adds the durations of as many launches in the same order, with their ranges and counters. Throws input_error.
void add_durations(launch_list& list, const std::string& file, bool with_counters);

}  // namespace heddle::testbench
