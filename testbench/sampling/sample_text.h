// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "testbench/sampling/launches/launch_list.h"
#include "testbench/sampling/strata/sample.h"

namespace heddle::testbench {

/// What is known when the command writes its results.
struct sample_outcome {
  const launch_list& list;
  const sample& drawn;
  accuracy wanted;
  std::uint64_t seed = 0;
  bool has_estimate = false;
  workload_estimate estimate;
};

/// The summary for the terminal.
std::string sample_text(const sample_outcome& o);
nlohmann::ordered_json sample_json(const sample_outcome& o);
/// Numbers of launches as heddle exec --launches takes them: "3,17-20".
std::string launches_text(const std::vector<std::uint32_t>& launches);

}  // namespace heddle::testbench
