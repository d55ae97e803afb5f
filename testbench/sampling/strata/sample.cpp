// SPDX-License-Identifier: MIT
#include "testbench/sampling/strata/sample.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace heddle::testbench {

namespace {

// A number below `bound`, each as likely: the standard's distributions differ between libraries.
std::uint64_t below(std::uint64_t bound, std::mt19937_64& random) {
  const std::uint64_t most = ~std::uint64_t{0} / bound * bound;
  std::uint64_t n = random();
  while (n >= most) n = random();
  return n % bound;
}

stratum measured(const stratum& s, const std::vector<std::uint32_t>& chosen, const launch_values& values) {
  stratum now = s;
  const double m = static_cast<double>(chosen.size());
  double sum = 0, squares = 0;
  for (const std::uint32_t launch : chosen) sum += values.at(launch);
  now.mean = sum / m;
  for (const std::uint32_t launch : chosen) squares += std::pow(values.at(launch) - now.mean, 2);
  now.deviation = chosen.size() > 1 ? std::sqrt(squares / (m - 1)) : 0;
  if (s.mean > 0) now.deviation = std::max(now.deviation, s.deviation / s.mean * now.mean);
  return now;
}

moments moments_of(const stratum& s, std::size_t drawn, bool has_times) {
  const double n = static_cast<double>(s.members.size()), m = static_cast<double>(drawn);
  moments all;
  all.add_stratum(n * s.mean, n * (n / m - 1) * s.deviation * s.deviation, has_times ? n - 1 : m - 1);
  return all;
}

}  // namespace

sample::sample(std::vector<stratum> strata, const accuracy& wanted, std::uint64_t seed)
    : strata_(std::move(strata)), wanted_(wanted) {
  std::mt19937_64 random(seed);
  for (const stratum& s : strata_) {
    order_.push_back(s.members);
    for (std::size_t k = order_.back().size(); k > 1; --k)
      std::swap(order_.back()[k - 1], order_.back()[below(k, random)]);
  }
  sizes_ = sample_sizes(strata_, wanted_);
}

std::vector<std::uint32_t> sample::chosen(std::size_t stratum) const {
  const auto& all = order_[stratum];
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(sizes_[stratum])};
}

std::vector<std::uint32_t> sample::chosen() const {
  std::vector<std::uint32_t> all;
  for (std::size_t k = 0; k < strata_.size(); ++k) {
    const std::vector<std::uint32_t> some = chosen(k);
    all.insert(all.end(), some.begin(), some.end());
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::size_t sample::size() const {
  std::size_t n = 0;
  for (const std::size_t m : sizes_) n += m;
  return n;
}

void sample::grow(const std::vector<std::size_t>& sizes) {
  for (std::size_t k = 0; k < sizes_.size(); ++k) sizes_[k] = std::min(order_[k].size(), std::max(sizes_[k], sizes[k]));
}

double sample::expected_error() const {
  double total = 0, variance = 0;
  for (std::size_t k = 0; k < strata_.size(); ++k) {
    const stratum& s = strata_[k];
    const double n = static_cast<double>(s.members.size());
    total += s.total();
    variance += n * (n / static_cast<double>(sizes_[k]) - 1) * s.deviation * s.deviation;
  }
  return total > 0 ? wanted_.deviations() * std::sqrt(variance) / total : 0;
}

double sample::speedup() const {
  double all = 0, some = 0, launches = 0;
  for (std::size_t k = 0; k < strata_.size(); ++k) {
    all += strata_[k].total();
    some += strata_[k].mean * static_cast<double>(sizes_[k]);
    launches += static_cast<double>(strata_[k].members.size());
  }
  return all > 0 ? all / some : launches / static_cast<double>(size());
}

std::vector<stratum> measured_strata(const sample& from, const launch_values& values) {
  std::vector<stratum> all;
  for (std::size_t k = 0; k < from.strata().size(); ++k)
    all.push_back(measured(from.strata()[k], from.chosen(k), values));
  return all;
}

workload_estimate estimate_of(const sample& from, const launch_values& values, double confidence) {
  std::map<std::string, std::pair<workload_estimate::part, moments>> kernels;
  moments whole;
  const std::vector<stratum> strata = measured_strata(from, values);
  for (std::size_t k = 0; k < strata.size(); ++k) {
    const stratum& s = strata[k];
    const std::size_t drawn = from.chosen(k).size();
    const moments m = moments_of(s, drawn, from.strata()[k].mean > 0);
    auto& [kernel, sum] = kernels[s.name];
    kernel.name = s.name;
    kernel.launches += s.members.size();
    kernel.simulated += drawn;
    sum.add(m);
    whole.add(m);
  }
  workload_estimate e;
  e.whole = whole.with(confidence);
  for (auto& [name, k] : kernels) {
    k.first.of = k.second.with(confidence);
    e.kernels.push_back(k.first);
  }
  std::stable_sort(e.kernels.begin(), e.kernels.end(),
                   [](const auto& a, const auto& b) { return a.of.value > b.of.value; });
  return e;
}

}  // namespace heddle::testbench
