// SPDX-License-Identifier: MIT
#include "testbench/sampling/strata/errors_within.h"

#include <cmath>
#include <map>
#include <string>

namespace heddle::testbench {

namespace {

/// Half widths of sums, by kernel.
using by_kernel = std::map<std::string, double>;

void widen(estimate& e, const by_kernel& halves, double scale) {
  double squares = 0;
  for (const auto& [kernel, half] : halves) squares += half * half;
  e.within = scale * std::sqrt(squares);
  e.half_width = std::hypot(e.half_width, e.within);
}

}  // namespace

void add_errors_within(workload_estimate& e, const launch_list& list, const sample& from, const launch_values& cycles,
                       const launch_values& errors, const accuracy& wanted) {
  if (errors.empty()) return;
  by_kernel all;
  std::map<std::string, by_kernel> layers;
  for (std::size_t k = 0; k < from.strata().size(); ++k) {
    const stratum& s = from.strata()[k];
    const std::vector<std::uint32_t> chosen = from.chosen(k);
    double mean = 0;  // half of the interval of one launch
    for (const std::uint32_t m : chosen)
      if (const auto found = errors.find(m); found != errors.end())
        mean += found->second * cycles.at(m) / static_cast<double>(chosen.size());
    all[s.name] += mean * static_cast<double>(s.members.size());
    if (list.has_layers)
      for (const std::uint32_t m : s.members) layers[list.launches[m].layer][s.name] += mean;
  }
  constexpr double usual_confidence = 0.95;  // block_sample::confidence
  const double scale = wanted.deviations() / accuracy{0, usual_confidence, 1}.deviations();
  widen(e.whole, all, scale);
  for (workload_estimate::part& p : e.kernels) widen(p.of, {{p.name, all.at(p.name)}}, scale);
  for (workload_estimate::part& p : e.layers) widen(p.of, layers.at(p.name), scale);
}

}  // namespace heddle::testbench
