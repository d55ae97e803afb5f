// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/advice/speed_of_light.h"
#include "testbench/report/changes.h"

namespace heddle::testbench {

/// The bound of a kernel, and the parameter changes most likely to help. The rules are those of docs/use/report.md, in
/// that order; the report's page and the summary both show the result.
struct verdict {
  std::string kind;   // nothing, throughput, launch, parallelism or latency
  std::string bound;  // the part or state that bounds the kernel
  std::string headline;
  std::vector<std::string> reasons;  // sentences
  std::vector<change> changes;       // at most two
};

/// `kernel`: an object of the metrics' `kernels`.
verdict judge(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

/// The verdict and the figures it is based on, in the form that the page takes.
nlohmann::ordered_json judgement(const nlohmann::ordered_json& kernel, const machine_parameters& machine);

}  // namespace heddle::testbench
