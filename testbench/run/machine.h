// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/metrics/interval_sampler.h"
#include "heddle/metrics/run_metrics.h"
#include "testbench/files/result_files.h"
#include "testbench/job/compare.h"
#include "testbench/options/options.h"
#include "testbench/run/core_time.h"
#include "testbench/run/view.h"

namespace heddle::testbench {

/// What a run led to.
struct run_outcome {
  run_metrics metrics;
  std::vector<comparison> checks;
  std::vector<std::string> written;
  std::string failure;  // of the simulated program, several lines; empty: none
  int stop_signal = 0;  // that ended the run before its end; 0: none did
};

/// A GPU, its driver and what watches it, whoever the host is: a job's program or a CUDA program outside.
class machine {
 public:
  /// Text of a module by the name of its file; null: there is none of that name.
  using source_finder = std::function<const std::string*(const std::string&)>;

  /// Throws input_error.
  machine(const run_options& o, const gpu_config& config,
          std::uint64_t first_address = host_driver::default_first_address);

  const gpu_config& config() const { return config_; }
  const core_time& clock() const { return clock_; }
  gpu& chip() { return gpu_; }
  host_driver& driver() { return driver_; }
  result_files& files() { return files_; }
  double cpu_seconds() const { return cpu_seconds_; }
  double wall_seconds() const { return wall_seconds_; }

  /// Simulates so long, or until something pauses the simulation or nothing happens any more.
  void run_for(const sc_core::sc_time& duration);
  /// The metrics up to now, of a run that goes on or of one that has ended; `positions`: place of each launch in the
  /// host's order, by the driver's number.
  run_metrics metrics_so_far(const std::vector<unsigned>& positions, const source_finder& source);
  run_metrics final_metrics(const std::vector<unsigned>& positions, const source_finder& source);
  /// Writes what the options ask for, and gives all files their names. Throws input_error.
  void write_files(run_outcome& outcome, const std::string& name);

 private:
  void complete(run_metrics& m, const std::vector<unsigned>& positions, const source_finder& source) const;

  const run_options& options_;
  const gpu_config config_;
  core_time clock_;
  gpu gpu_;
  host_driver driver_;
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> irq_;  // raised by the GPU's process, lowered in the driver's
  result_files files_;
  std::vector<std::unique_ptr<view>> views_;
  interval_sampler intervals_;
  double cpu_seconds_ = 0;
  double wall_seconds_ = 0;
};

}  // namespace heddle::testbench
