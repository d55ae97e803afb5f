// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <systemc>
#include <vector>

#include "testbench/checkpoint/run_checkpoints.h"
#include "testbench/job/job.h"
#include "testbench/live/pause_request.h"
#include "testbench/options/options.h"
#include "testbench/run/device_job.h"
#include "testbench/run/host_program.h"
#include "testbench/run/machine.h"
#include "testbench/run/progress.h"
#include "testbench/run/run_signals.h"

namespace heddle::testbench {

/// Pauses the simulation at the end of a cycle if a signal has requested something.
class signal_watch : public cycle_observer {
 public:
  void after_cycle() override {
    if (run_signals::pending() && listens) pause_request::make();
  }
  [[nodiscard]] cycle_t next_sample() const override { return never; }  // it samples no unit
  bool listens = true;
};

/// One simulation of one job: the GPU, the driver and the host's program, and their results.
class job_runner final : private print_observer, private machine_host {
 public:
  /// Builds the machine. `j` is validated and outlives the runner, as do `signals`; null: no signals are handled.
  /// Throws input_error.
  job_runner(const run_options& o, const job& j, const gpu_config& config, run_signals* signals);

  ~job_runner() override;

  /// Simulates and writes the result files. Throws input_error before anything is written. A failure of the simulated
  /// program is part of the outcome.
  run_outcome run();
  /// Null: launches are not checked.
  sanitizer* checks() { return machine_.checks(); }

 private:
  void printed(const std::string& text) override;
  void simulate();
  void simulate_slices();
  void advance_time() const;
  void show_progress();
  /// Brings all SMs into step; in step, simulates the cycles before `cycle`. False: the job has ended on the way.
  bool reach_step();
  bool reach(std::uint64_t cycle);
  void answer_signals();
  void write_snapshot();
  void begin();
  void note_clients();
  void fill_l2();
  void resume(const checkpoint& c);
  void attempt_checkpoint();
  void warn_of_late_preemptions() const;
  [[nodiscard]] std::uint64_t limit() const;
  [[nodiscard]] std::string limit_text() const;
  [[nodiscard]] std::string deadlock_text() const;
  void take_outputs();
  void write_descriptors();
  void take_metrics();
  [[nodiscard]] const std::vector<unsigned>& launch_positions() const override { return program_.positions(); }
  [[nodiscard]] const std::string* module_text(const std::string& file) const override { return device_->source(file); }
  [[nodiscard]] std::vector<client_metrics> clients() const override { return clients_; }

  const run_options& options_;
  const job& job_;
  machine machine_;
  const core_time& clock_;
  gpu& gpu_;
  host_driver& driver_;
  host_program program_;
  std::unique_ptr<device_job> device_;
  progress_line progress_;
  run_signals* const signals_;
  signal_watch signal_watch_;
  run_checkpoints checkpoints_;
  run_outcome outcome_;
  std::vector<client_metrics> clients_;
  std::uint64_t simulated_ = 0;  // cycles simulated completely
};

}  // namespace heddle::testbench
