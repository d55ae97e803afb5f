// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbench/sampling/launches/launch_list.h"
#include "testbench/sampling/strata/sample.h"

namespace heddle::testbench {

/// How the chosen launches of a list of traces are simulated: as the points of a sweep.
struct trace_run_options {
  std::string folder;  // for the sweep and its results; made if it is not there
  std::string gpu;
  std::vector<std::string> overrides;    // SECTION.KEY=VALUE
  std::vector<std::string> sweep_words;  // options of heddle sweep: engine, jobs, progress
  double sample_error = 0;               // as run_options::sample_error
  std::uint64_t warm_up = 0;             // launches before each one that only fill the L2, at most
  bool no_wait = false;
};

/// Simulates launches of traces, each behind those before it in the list, which only fill the L2. Results stay in the
/// folder, so that a repeated call simulates only what is missing.
class trace_runs {
 public:
  trace_runs(const launch_list& list, trace_run_options o);

  /// Cycles of each; none: they were submitted, and are not awaited. Returns an exit code, which is 0 unless one has no
  /// result. `errors`: of cycles that are estimates, relative. Throws input_error.
  int simulate(const std::vector<std::uint32_t>& launches, launch_values& cycles, launch_values& errors) const;
  [[nodiscard]] std::string sweep_file() const { return options_.folder + "/sample.ini"; }

 private:
  void find_same();
  [[nodiscard]] std::uint32_t first_before(std::uint32_t launch) const;
  [[nodiscard]] std::string name_of_list(std::uint32_t launch) const;
  [[nodiscard]] std::string text_of_list(std::uint32_t launch) const;
  void write_sweep(const std::vector<std::uint32_t>& launches) const;
  void read_results(launch_values& cycles, launch_values& errors) const;
  [[nodiscard]] std::string cycles_path() const;

  const launch_list& list_;
  trace_run_options options_;
  std::vector<std::uint32_t> same_;  // by launch: the first one with the same trace and the same traces before it
};

}  // namespace heddle::testbench
