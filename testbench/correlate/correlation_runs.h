// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "testbench/correlate/measurements.h"
#include "testbench/files/file_roles.h"
#include "testbench/job/job.h"
#include "testbench/options/options.h"
#include "testbench/sweep/store/result_store.h"

namespace heddle::testbench {

/// The runs that belong to measurements. Rows whose GPU and run are the same share one.
class correlation_runs {
 public:
  /// Reads all jobs, modules and GPUs. `overrides` apply to every run. Throws input_error with the row's FILE:LINE.
  correlation_runs(const std::vector<measured_launch>& launches, const std::vector<std::string>& overrides,
                   const std::string& version);

  [[nodiscard]] std::size_t size() const { return runs_.size(); }
  /// The run of a row.
  [[nodiscard]] std::size_t run_of(std::size_t launch) const { return run_of_[launch]; }
  [[nodiscard]] const std::string& id(std::size_t run) const { return runs_[run].id; }
  /// Adds all files that the runs read.
  void add_inputs(file_roles& roles) const;
  /// Runs it and writes its result into the store. Call it in a separate process, which must end afterwards.
  void run(std::size_t run, const result_store& store) const;

 private:
  struct one_run {
    std::string where;
    std::string folder;
    std::vector<std::string> words;  // of the row's run
    run_options options;
    bool is_program = false;
    job what;  // unless it is a program
    gpu_config config;
    std::string id;
  };

  [[nodiscard]] one_run read(const measured_launch& m, const std::vector<std::string>& overrides,
                             const std::string& version) const;
  static point_result run_program(const one_run& r, const result_store& store);

  std::vector<one_run> runs_;
  std::vector<std::size_t> run_of_;  // by row
  std::vector<std::string> config_files_;
};

}  // namespace heddle::testbench
