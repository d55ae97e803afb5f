// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "testbench/correlate/csv_table.h"
#include "testbench/correlate/metric_names.h"

namespace heddle::testbench {

/// Which of a run's launches a measurement is of: the number-th of those whose kernel has this name (any if empty).
struct launch_selection {
  std::string kernel;
  std::uint64_t number = 0;
  bool mean = false;  // the mean of all of them
};

struct measured_value {
  const metric_name* metric = nullptr;
  double value = 0;
};

/// One launch on a real chip, and the run that does the same.
struct measured_launch {
  std::string where;   // FILE:LINE
  std::string folder;  // of the file: what the run names is relative to it; empty: the working directory
  std::string gpu;
  std::string kernel;  // its name on the page
  std::string run;     // JOB.json, options of heddle run, or options of heddle exec -- PROGRAM
  launch_selection selection;
  bool is_long = false;
  std::string identifies;  // parameters that were fitted to it; empty: it is only compared
  std::string origin;
  std::string licence;
  std::string grid;  // "32x32x1", as the profiler saw it; empty: unknown
  /// Part of the measured cycles that kernel cycles do not hold; none: cwd.launch_overhead_cycles of the GPU.
  std::optional<double> launch_cycles = 0.0;
  double bytes = 0;  // work, for rates
  std::vector<measured_value> values;
};

/// A file of measurements.
struct measurements {
  std::vector<measured_launch> launches;
  std::vector<std::string> ignored;  // names of columns or metrics without a counterpart
};

/// What the command line says of a profiler's export, which does not say it itself.
struct export_options {
  std::string gpu;                            // empty: not given
  std::vector<std::string> runs;              // "[KERNEL=]RUN", in the order of precedence
  std::optional<double> launch_cycles = 0.0;  // as in measured_launch
};

/// Reads a suite, or what Nsight Compute (`ncu --csv`, both pages) or nvprof (`--csv` with --metrics or
/// --print-gpu-trace) has exported. Throws input_error with FILE:LINE.
measurements read_measurements(const std::string& file, const export_options& o);

/// The two kinds of tables; `read_measurements` tells them apart.
bool is_suite_header(const csv_row& row);
measurements read_suite(const csv_table& table);
bool is_export_header(const csv_row& row);
measurements read_export(const csv_table& table, const export_options& o);

}  // namespace heddle::testbench
