// SPDX-License-Identifier: MIT
#include "testbench/sampling/compare/sieve.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>

namespace heddle::testbench {

namespace {

using members = std::vector<std::uint32_t>;

constexpr double most_variation = 0.4;  // standard deviation of a stratum's instructions, divided by their mean

/// Of numbers that come one by one.
class variation {
 public:
  void add(double x) {
    ++n_;
    const double step = x - mean_;
    mean_ += step / n_;
    squares_ += step * (x - mean_);
  }
  [[nodiscard]] double coefficient() const { return mean_ > 0 ? std::sqrt(squares_ / n_) / mean_ : 0; }

 private:
  double n_ = 0, mean_ = 0, squares_ = 0;
};

/// The parts of one kernel's launches; each in the workload's order.
std::vector<members> strata_of_kernel(members launches, const std::vector<double>& instructions) {
  variation all;
  for (const std::uint32_t k : launches) all.add(instructions[k]);
  if (all.coefficient() < most_variation) return {launches};
  std::stable_sort(launches.begin(), launches.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return instructions[a] < instructions[b]; });
  std::vector<members> strata;
  variation now;
  for (const std::uint32_t k : launches) {
    variation with = now;
    with.add(instructions[k]);
    if (strata.empty() || with.coefficient() >= most_variation) {
      strata.emplace_back();
      with = {};
      with.add(instructions[k]);
    }
    strata.back().push_back(k);
    now = with;
  }
  for (members& s : strata) std::sort(s.begin(), s.end());
  return strata;
}

std::uint32_t first_of_commonest_block(const members& launches, const std::vector<double>& threads) {
  if (threads.empty()) return launches.front();
  std::map<double, std::size_t> counts;
  for (const std::uint32_t k : launches) ++counts[threads[k]];
  std::uint32_t best = launches.front();
  for (const std::uint32_t k : launches)
    if (counts[threads[k]] > counts[threads[best]]) best = k;
  return best;
}

}  // namespace

std::vector<weighted_launch> sieve_choice(const launch_list& list) {
  const std::vector<double>& instructions = list.counters.instructions;
  std::map<std::string, members> kernels;
  for (std::uint32_t k = 0; k < list.launches.size(); ++k) kernels[list.launches[k].name].push_back(k);
  std::vector<weighted_launch> chosen;
  for (const auto& [name, launches] : kernels)
    for (const members& stratum : strata_of_kernel(launches, instructions)) {
      const std::uint32_t k = first_of_commonest_block(stratum, list.counters.block_threads);
      double sum = 0;
      for (const std::uint32_t m : stratum) sum += instructions[m];
      chosen.push_back({k, instructions[k] > 0 ? sum / instructions[k] : static_cast<double>(stratum.size())});
    }
  return chosen;
}

}  // namespace heddle::testbench
