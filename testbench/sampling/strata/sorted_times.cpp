// SPDX-License-Identifier: MIT
#include "testbench/sampling/strata/sorted_times.h"

#include <algorithm>
#include <cmath>

namespace heddle::testbench {

sorted_times::sorted_times(const launch_list& list, const std::vector<std::uint32_t>& members)
    : list_(list), members_(members) {
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

double sorted_times::squares(std::size_t first, std::size_t end) const {
  const double n = static_cast<double>(end - first), sum = sums_[end].first - sums_[first].first;
  return std::max(0.0, sums_[end].second - sums_[first].second - sum * sum / n);
}

stratum sorted_times::part(const std::string& name, std::size_t first, std::size_t end) const {
  const double n = static_cast<double>(end - first);
  stratum s;
  s.name = name;
  s.members.assign(members_.begin() + static_cast<std::ptrdiff_t>(first),
                   members_.begin() + static_cast<std::ptrdiff_t>(end));
  s.mean = shift_ + (sums_[end].first - sums_[first].first) / n;
  const bool equal = time(members_[first]) == time(members_[end - 1]);
  s.deviation = equal ? 0 : std::sqrt(squares(first, end) / (n - 1));
  return s;
}

std::size_t sorted_times::best_cut(std::size_t first, std::size_t end) const {
  std::size_t best = first + 1;
  double least = squares(first, best) + squares(best, end);
  for (std::size_t cut = first + 2; cut < end; ++cut)
    if (const double now = squares(first, cut) + squares(cut, end); now < least) least = now, best = cut;
  return best;
}

}  // namespace heddle::testbench
