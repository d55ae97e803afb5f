// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "testbench/files/result_files.h"
#include "testbench/options/options.h"

namespace heddle {
class gpu;
class power_ledger;
}  // namespace heddle

namespace heddle::testbench {

/// An observer of a run that writes files: a waveform, a timeline. It is created after the GPU and before the
/// simulation starts, and writes under names that result_files::reserve() returns.
class view {
 public:
  virtual ~view() = default;
  /// Completes the files after the simulation, with `mark` at their end if the run was cut. Throws input_error: full
  /// disk.
  virtual void finish(const std::string& mark) = 0;
};

/// The views that the options ask for. `ledger`: of the GPU's power cap, if it has one. Throws input_error.
std::vector<std::unique_ptr<view>> make_views(const run_options& o, gpu& g, const power_ledger* ledger,
                                              result_files& files);
struct view_file {
  std::string path;
  const char* option;  // option that requests it
};
/// The files that these views will write, for checks before the run.
std::vector<view_file> view_files(const run_options& o);

}  // namespace heddle::testbench
