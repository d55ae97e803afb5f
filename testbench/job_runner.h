// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "gpu/gpu.h"
#include "gpu/host_driver.h"
#include "metrics/interval_sampler.h"
#include "metrics/run_metrics.h"
#include "testbench/compare.h"
#include "testbench/core_time.h"
#include "testbench/device_job.h"
#include "testbench/host_program.h"
#include "testbench/job.h"
#include "testbench/options.h"
#include "testbench/progress.h"
#include "testbench/result_files.h"
#include "testbench/run_signals.h"
#include "testbench/view.h"

namespace heddle::testbench {

/// What a run led to.
struct run_outcome {
  run_metrics metrics;
  std::vector<comparison> checks;
  std::vector<std::string> written;
  std::string failure;  // of the simulated program, several lines; empty: none
  int stop_signal = 0;  // that ended the run before the job had ended; 0: none did
};

/// Pauses the simulation behind a cycle in which a signal has asked for something.
class signal_watch : public cycle_observer {
 public:
  void after_cycle() override {
    if (run_signals::pending() && listens) sc_core::sc_pause();
  }
  cycle_t next_look() const override { return never; }   // it looks at no unit
  bool listens = true;
};

/// One simulation of one job: the GPU, the driver and the host's program, and what comes of them.
class job_runner {
 public:
  /// Builds the machine. `j` is validated and outlives the runner, as do `signals`; null: none are listened to. Throws input_error.
  job_runner(const run_options& o, const job& j, const gpu_config& config, run_signals* signals);

  ~job_runner();

  /// Simulates, and writes the result files. Throws input_error with nothing written; a failure of the simulated
  /// program is part of the outcome.
  run_outcome run();

 private:
  void simulate();
  void simulate_slices();
  void run_for(const sc_core::sc_time& duration);
  void show_progress();
  void answer_signals();
  void write_snapshot();
  void tell_of_late_preemptions() const;
  std::uint64_t limit() const;
  std::string limit_text() const;
  std::string deadlock_text() const;
  void take_outputs();
  void take_metrics();
  void complete(run_metrics& m) const;
  void quote_source(kernel_metrics& k) const;
  void write_files();

  const run_options& options_;
  const job& job_;
  const gpu_config config_;
  core_time clock_;
  gpu gpu_;
  host_driver driver_;
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> irq_;  // raised by the GPU's process, lowered in the driver's
  host_program program_;
  result_files files_;
  std::vector<std::unique_ptr<view>> views_;
  interval_sampler intervals_;
  std::unique_ptr<device_job> device_;
  progress_line progress_;
  run_signals* const signals_;
  signal_watch signal_watch_;
  run_outcome outcome_;
  std::uint64_t simulated_ = 0;  // cycles that have been simulated to their end
  double cpu_seconds_ = 0;
  double wall_seconds_ = 0;
};

}  // namespace heddle::testbench
