// SPDX-License-Identifier: MIT
#include "testbench/sampling/strata/strata.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <queue>
#include <utility>

#include "testbench/sampling/strata/sorted_times.h"

namespace heddle::testbench {

namespace {

double simulated_time(const std::vector<stratum>& strata, const accuracy& wanted) {
  const std::vector<std::size_t> sizes = sample_sizes(strata, wanted);
  double sum = 0;
  for (std::size_t k = 0; k < strata.size(); ++k) sum += static_cast<double>(sizes[k]) * strata[k].mean;
  return sum;
}

/// Strata that are being divided: each is a part of the launches of one kernel.
struct stratum_part {
  std::size_t kernel, first, end;
};

// Divides the part at `k` if fewer launches of all strata suffice then. True: it did; the second half is the last one.
bool divide(const std::vector<sorted_times>& kernels, std::vector<stratum_part>& parts, std::vector<stratum>& strata,
            std::size_t k, const accuracy& wanted) {
  const stratum_part p = parts[k];
  if (p.end - p.first < 2 || strata[k].deviation == 0) return false;
  const sorted_times& times = kernels[p.kernel];
  const std::size_t cut = times.best_cut(p.first, p.end);
  const double before = simulated_time(strata, wanted);
  stratum whole = std::move(strata[k]);
  strata[k] = times.part(whole.name, p.first, cut);
  strata.push_back(times.part(whole.name, cut, p.end));
  if (simulated_time(strata, wanted) < before) {
    parts[k].end = cut;
    parts.push_back({p.kernel, cut, p.end});
    return true;
  }
  strata.pop_back();
  strata[k] = std::move(whole);
  return false;
}

std::vector<stratum> divided(const std::vector<sorted_times>& kernels, const std::vector<std::string>& names,
                             const accuracy& wanted) {
  std::vector<stratum_part> parts;
  std::vector<stratum> strata;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    parts.push_back({k, 0, kernels[k].size()});
    strata.push_back(kernels[k].part(names[k], 0, kernels[k].size()));
  }
  // Those first that cost most.
  const auto weight = [&](std::size_t k) {
    return static_cast<double>(strata[k].members.size()) * strata[k].deviation * std::sqrt(strata[k].mean);
  };
  std::priority_queue<std::pair<double, std::size_t>> next;
  for (std::size_t k = 0; k < strata.size(); ++k) next.emplace(weight(k), k);
  while (!next.empty()) {
    const std::size_t k = next.top().second;
    next.pop();
    if (!divide(kernels, parts, strata, k, wanted)) continue;
    next.emplace(weight(k), k);
    next.emplace(weight(strata.size() - 1), strata.size() - 1);
  }
  return strata;
}

}  // namespace

std::vector<stratum> strata_of(const launch_list& list, const accuracy& wanted) {
  std::map<std::pair<std::string, std::string>, std::vector<std::uint32_t>> groups;
  for (std::size_t k = 0; k < list.launches.size(); ++k) {
    const listed_launch& l = list.launches[k];
    groups[{l.name, list.has_times ? "" : l.shape}].push_back(static_cast<std::uint32_t>(k));
  }
  std::vector<stratum> strata;
  std::vector<sorted_times> kernels;
  std::vector<std::string> names;
  for (const auto& [key, members] : groups) {
    if (list.has_times) {
      kernels.emplace_back(list, members);
      names.push_back(key.first);
    } else {
      // The first one may find nothing of its data in the L2.
      strata.push_back({key.first, {members.front()}, 0, 0});
      if (members.size() > 1) strata.push_back({key.first, {members.begin() + 1, members.end()}, 0, 0});
    }
  }
  if (list.has_times) strata = divided(kernels, names, wanted);
  // In the order of their first launches.
  for (stratum& s : strata) std::sort(s.members.begin(), s.members.end());
  std::sort(strata.begin(), strata.end(),
            [](const stratum& a, const stratum& b) { return a.members.front() < b.members.front(); });
  return strata;
}

}  // namespace heddle::testbench
