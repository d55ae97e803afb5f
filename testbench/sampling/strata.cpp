// SPDX-License-Identifier: MIT
#include "testbench/sampling/strata.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <map>
#include <queue>
#include <utility>

namespace heddle::testbench {

namespace {

/// Sums over launches of a kernel in the order of their times.
class sorted_times {
 public:
  sorted_times(const launch_list& list, const std::vector<std::uint32_t>& members) : list_(list), members_(members) {
    std::stable_sort(members_.begin(), members_.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return time(a) < time(b); });
    // From the mean on, so that few digits are lost.
    for (const std::uint32_t m : members_) shift_ += time(m) / static_cast<double>(members_.size());
    sums_.emplace_back(0.0, 0.0);
    for (const std::uint32_t m : members_) {
      const double d = time(m) - shift_;
      sums_.emplace_back(sums_.back().first + d, sums_.back().second + d * d);
    }
  }
  [[nodiscard]] std::size_t size() const { return members_.size(); }
  /// Of the launches from `first` to before `end`.
  [[nodiscard]] double squares(std::size_t first, std::size_t end) const {
    const double n = static_cast<double>(end - first), sum = sums_[end].first - sums_[first].first;
    return std::max(0.0, sums_[end].second - sums_[first].second - sum * sum / n);
  }
  [[nodiscard]] stratum part(const std::string& name, std::size_t first, std::size_t end) const {
    const double n = static_cast<double>(end - first);
    stratum s;
    s.name = name;
    s.members.assign(members_.begin() + static_cast<std::ptrdiff_t>(first),
                     members_.begin() + static_cast<std::ptrdiff_t>(end));
    s.mean = shift_ + (sums_[end].first - sums_[first].first) / n;
    s.deviation = end - first < 2 ? 0 : std::sqrt(squares(first, end) / (n - 1));
    return s;
  }
  /// Where two parts differ least within themselves.
  [[nodiscard]] std::size_t best_cut(std::size_t first, std::size_t end) const {
    std::size_t best = first + 1;
    double least = squares(first, best) + squares(best, end);
    for (std::size_t cut = first + 2; cut < end; ++cut)
      if (const double now = squares(first, cut) + squares(cut, end); now < least) least = now, best = cut;
    return best;
  }

 private:
  [[nodiscard]] double time(std::uint32_t m) const { return list_.launches[m].time; }
  const launch_list& list_;
  std::vector<std::uint32_t> members_;
  double shift_ = 0;
  std::vector<std::pair<double, double>> sums_;  // of times and of their squares, from the mean on
};

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

double accuracy::deviations() const {
  return boost::math::quantile(boost::math::normal_distribution<double, in_double>(), 0.5 + confidence / 2);
}

std::vector<std::size_t> sample_sizes(const std::vector<stratum>& strata, const accuracy& wanted) {
  double total = 0;
  for (const stratum& s : strata) total += s.total();
  const double spread = wanted.error * total / wanted.deviations();
  std::vector<std::size_t> sizes(strata.size());
  std::vector<bool> whole(strata.size());  // simulated as a whole: without error
  for (bool again = true; again;) {
    // The variance of the sum is that of N (N / m - 1) S^2 over all strata that are sampled.
    double variance = spread * spread, weights = 0;
    for (std::size_t k = 0; k < strata.size(); ++k) {
      if (whole[k]) continue;
      const double n = static_cast<double>(strata[k].members.size());
      variance += n * strata[k].deviation * strata[k].deviation;
      weights += n * strata[k].deviation * std::sqrt(strata[k].mean);
    }
    again = false;
    for (std::size_t k = 0; k < strata.size(); ++k) {
      const stratum& s = strata[k];
      const std::size_t all = s.members.size();
      const double n = static_cast<double>(all);
      const double m = s.deviation == 0 || variance == 0 ? 0 : n * s.deviation / std::sqrt(s.mean) * weights / variance;
      const bool takes_all = whole[k] || m >= n || (variance == 0 && s.deviation > 0);
      again = again || (takes_all && !whole[k]);
      whole[k] = takes_all;
      sizes[k] = takes_all ? all : std::min(all, std::max(wanted.least, static_cast<std::size_t>(std::ceil(m))));
    }
  }
  return sizes;
}

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
      strata.push_back({key.first, members, 0, 0});
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
