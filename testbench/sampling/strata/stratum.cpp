// SPDX-License-Identifier: MIT
#include "testbench/sampling/strata/stratum.h"

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

namespace heddle::testbench {

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

}  // namespace heddle::testbench
