// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>

#include "testbench/sampling/sample.h"

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

/// How often the error held, of samples that differ in their seed, where all durations are known.
struct repetitions {
  std::size_t all = 0, held = 0;
  std::size_t simulated = 0;  // launches of a sample
  double mean_error = 0, largest_error = 0, speedup = 0;
};
repetitions repeat(const launch_list& list, const accuracy& wanted, std::uint64_t seed, std::size_t times);

}  // namespace heddle::testbench
