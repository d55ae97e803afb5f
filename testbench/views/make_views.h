// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "testbench/files/result_files.h"
#include "testbench/options/options.h"
#include "testbench/views/view.h"

namespace heddle {
class gpu;
class power_ledger;
}  // namespace heddle

namespace heddle::testbench {

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
