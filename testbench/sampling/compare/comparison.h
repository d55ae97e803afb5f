// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "testbench/sampling/compare/weighted_launch.h"
#include "testbench/sampling/launches/launch_list.h"
#include "testbench/sampling/strata/stratum.h"

namespace heddle::testbench {

/// How well a method's launches tell of all, where all durations are known.
struct method_result {
  std::string name;
  std::string remark;   // how the launches were chosen
  std::string missing;  // what an estimate would need; empty: there is one
  std::size_t simulated = 0;
  double speedup = 0, error = 0;          // how many times less to simulate; relative error
  std::vector<weighted_launch> launches;  // not of the method that draws anew each time
};

/// This command's own method and STEM (`times` samples of each, their mean error), Sieve and PKA on the same durations.
std::vector<method_result> compare(const launch_list& list, const accuracy& wanted, std::uint64_t seed,
                                   std::size_t times);

/// The table for the terminal, and the counters that were not given.
std::string comparison_text(const launch_list& list, const std::vector<method_result>& methods);
nlohmann::ordered_json comparison_json(const launch_list& list, const std::vector<method_result>& methods);

}  // namespace heddle::testbench
