// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "testbench/correlate/csv_table.h"

namespace heddle::testbench {

/// Counters of a workload's launches, as a profiler has measured them. PKA and Sieve choose launches by them.
struct launch_counters {
  std::vector<std::string> names;           // of PKA's twelve, those that are known
  std::vector<std::string> missing;         // the others
  std::vector<std::vector<double>> values;  // of each launch, by `names`
  std::vector<double> instructions;         // of each launch; empty: not known
  std::vector<double> block_threads;        // of each launch; empty: not known
};

/// Names of the counter of executed instructions, in Nsight Compute and here.
extern const char* const instruction_counters;

/// The columns of a table that hold counters: named as Nsight Compute exports them (ncu --page raw --csv), or as
/// nvprof and the metrics of Heddle do.
class counter_columns {
 public:
  explicit counter_columns(const csv_table& table);

  /// Which counters there are; no launches.
  [[nodiscard]] launch_counters names() const;
  /// Adds a launch. Throws input_error with FILE:LINE.
  void add(const csv_row& row, const std::string& kernel, launch_counters& to) const;

 private:
  /// A size is one number, or its extents in as many columns.
  using columns = std::vector<std::size_t>;
  [[nodiscard]] columns size_columns(const char* unit) const;
  [[nodiscard]] double value(const csv_row& row, const columns& of, const std::string& kernel) const;

  const csv_table& table_;
  std::vector<columns> counters_;  // of PKA's twelve; empty: there is none
  columns block_;
};

}  // namespace heddle::testbench
