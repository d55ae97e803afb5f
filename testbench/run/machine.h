// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <systemc>
#include <utility>
#include <vector>

#include "heddle/energy/power_cap.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/metrics/collect.h"
#include "heddle/metrics/interval_sampler.h"
#include "heddle/metrics/run_metrics.h"
#include "heddle/sanitize/sanitizer.h"
#include "testbench/files/result_files.h"
#include "testbench/job/compare.h"
#include "testbench/live/live_page.h"
#include "testbench/options/options.h"
#include "testbench/record/run_recorder.h"
#include "testbench/report/launch_details.h"
#include "testbench/run/core_time.h"
#include "testbench/views/make_views.h"

namespace heddle::testbench {

/// The result of a run.
struct run_outcome {
  run_metrics metrics;
  std::vector<comparison> checks;
  std::vector<std::string> written;
  std::string failure;         // of the simulated program, several lines; empty: success
  bool untraced = false;       // no trace of the run was written, though one was wanted
  bool reached_limit = false;  // `failure` is that the limit of cycles was reached
  int stop_signal = 0;         // the signal that ended the run early; 0: none
};

/// The host of a machine, a job's program or an external CUDA program: what metrics and the page of the run say of it.
class machine_host : public module_texts {
 public:
  /// The position of each launch in the host's order, indexed by the driver's launch number.
  [[nodiscard]] virtual const std::vector<unsigned>& launch_positions() const = 0;
  /// The processes that share the GPU now, with name, slice and sms of each.
  [[nodiscard]] virtual std::vector<client_metrics> clients() const = 0;

 protected:
  ~machine_host() = default;
};

/// A GPU with its driver and its views.
class machine : private live_run {
 public:
  /// `in_place`: memory of the host that kernels access where it is; null: none. Throws input_error.
  machine(const run_options& o, const gpu_config& config,
          std::uint64_t first_address = host_driver::default_first_address, const host_regions* in_place = nullptr);

  [[nodiscard]] const gpu_config& config() const { return config_; }
  [[nodiscard]] const core_time& clock() const { return clock_; }
  gpu& chip() { return gpu_; }
  host_driver& driver() { return driver_; }
  result_files& files() { return files_; }
  /// Null: launches are not checked.
  sanitizer* checks() { return sanitizer_.get(); }
  [[nodiscard]] double cpu_seconds() const { return cpu_seconds_; }
  [[nodiscard]] double wall_seconds() const { return wall_seconds_; }

  /// Before the simulation: tells the views what the host will launch. Throws input_error.
  void announce(const std::vector<const isa::program*>& programs);
  /// The driver has passed a launch to the GPU that announce() did not name.
  void launched();
  /// The host has copied bytes to device memory.
  void copied(std::uint64_t address, std::uint64_t bytes) {
    if (recorder_ != nullptr) recorder_->copied(address, bytes);
  }
  /// Before the simulation starts: SMs may be simulated ahead (gpu::simulate_ahead), on the threads of the options.
  void simulate_ahead(cycle_t until, bool preemptions);
  /// Before the simulation starts: the host of the run of this name, which is asked as long as the machine simulates.
  /// Opens the page of the run (--serve).
  void serve(const std::string& name, const machine_host& host);
  /// Simulates for `duration`, or until the simulation is paused or no activity is left. False: it is paused, and
  /// there is more to simulate in this time.
  bool run_for(const sc_core::sc_time& duration);
  /// The host's program has ended: what is still in flight in the GPU, such as write-backs, completes, whatever is
  /// asked of the page.
  void drain();
  /// Simulated time may stay at the last event before the time up to which was simulated. Nothing is due before `to`.
  static void advance_time(const sc_core::sc_time& to);
  /// By its page, if there is one.
  void pause_no_more() {
    if (page_ != nullptr) page_->pause_no_more();
  }
  /// By its page: it stays in the cycle that bring_into_step() returns.
  [[nodiscard]] bool is_paused() const { return page_ != nullptr && page_->is_paused(); }
  /// A cycle, now or in the near future, in which all SMs are in step (gpu::bring_into_step).
  [[nodiscard]] cycle_t bring_into_step() { return is_paused() ? page_->cycle() : gpu_.bring_into_step(); }
  /// The state of GPU, driver and metrics, as gpu::exchange().
  void exchange(state_image& image);
  /// The metrics of a running simulation up to now, and of a finished one. After serve().
  run_metrics metrics_so_far();
  run_metrics final_metrics();
  /// Writes the result files of the options and renames all files to their final names. Throws input_error.
  void write_files(run_outcome& outcome, const std::string& name);

 private:
  [[nodiscard]] const power_ledger* ledger() const { return cap_ != nullptr ? &cap_->ledger() : nullptr; }
  /// Metrics are for a file, not for a summary alone.
  /// The summary's advice is that of the report, which needs counts by machine instruction.
  [[nodiscard]] detail how_much() const {
    return writes_metrics() || !options_.quiet ? detail::instructions : detail::lines;
  }
  [[nodiscard]] bool writes_metrics() const {
    return !options_.metrics_file.empty() || !options_.report_file.empty() || page_ != nullptr;
  }
  [[nodiscard]] std::string metrics_text() override;
  [[nodiscard]] double seconds() const override { return wall_seconds_; }
  [[nodiscard]] bool is_interrupted() const override;
  [[nodiscard]] std::vector<client_metrics> sharing_clients() const override;
  /// Of a few launches all details are collected at once; of more, when they are asked for.
  [[nodiscard]] bool has_few_launches() const;
  bool simulate_until(const sc_core::sc_time& end);
  void write_record(run_outcome& outcome);
  void warn_of_no_trace(const std::string& why);
  run_metrics collect_all() {
    return collect(gpu_, intervals_.energy(), has_few_launches() ? how_much() : detail::none);
  }
  void complete(run_metrics& m);
  void warn_of_one_thread() const;
  void warn_of_empty_window(const run_metrics& m) const;

  const run_options& options_;
  const gpu_config config_;
  core_time clock_;
  gpu gpu_;
  std::unique_ptr<power_cap> cap_;  // null without energy.power_cap_watts
  std::unique_ptr<sanitizer> sanitizer_;
  host_driver driver_;
  sc_core::sc_signal<bool, sc_core::SC_MANY_WRITERS> irq_;  // raised by the GPU's process, lowered by the driver's
  result_files files_;
  std::vector<std::unique_ptr<view>> views_;
  interval_sampler intervals_;
  std::unique_ptr<run_recorder> recorder_;  // null without --record
  bool untraced_ = false;                   // the user knows that there will be none
  std::unique_ptr<live_page> page_;         // null without --serve
  const machine_host* host_ = nullptr;      // null before serve()
  double cpu_seconds_ = 0;
  double wall_seconds_ = 0;
};

}  // namespace heddle::testbench
