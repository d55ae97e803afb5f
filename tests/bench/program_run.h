// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "callgrind_profile.h"

namespace bench {

/// One kernel on one GPU: what the program is given, and what it is called in tables.
struct bench_case {
  std::string name;
  std::string gpu;
  std::string input;      // "ptx" or "trace"
  std::string arguments;  // of the program: command and file
  std::string part;  // the same of a run that callgrind, which slows down fifty times, can do; stands for the whole
};

/// What a run says of itself.
struct speed {
  double instructions = 0;  // warp instructions
  double cycles = 0;
  double seconds = 0;    // CPU
  double megabytes = 0;  // at most, at one time
};

/// The fastest of `runs` runs. Throws std::runtime_error when one fails.
speed measure(const bench_case& c, int runs, const std::string& folder);

/// Whether valgrind can be run.
bool can_profile();

/// The case's part under callgrind. What is counted is what the metrics' `host` times: the simulation, neither how the
/// machine is built nor how results are written. Throws std::runtime_error when the run fails.
callgrind_profile profile(const bench_case& c, const std::string& folder);

}  // namespace bench
