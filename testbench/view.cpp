// SPDX-License-Identifier: MIT
#include "testbench/view.h"

#include "config/error.h"

namespace heddle::testbench {

std::vector<std::unique_ptr<view>> make_views(const run_options& o, gpu&, result_files&) {
  if (!o.vcd_file.empty()) throw input_error("--vcd: waveforms are not supported by this version");
  return {};
}

std::vector<std::string> view_files(const run_options& o) {
  if (o.vcd_file.empty()) return {};
  return {o.vcd_file};
}

}  // namespace heddle::testbench
