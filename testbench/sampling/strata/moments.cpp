// SPDX-License-Identifier: MIT
#include "testbench/sampling/strata/moments.h"

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

#include "testbench/sampling/strata/stratum.h"

namespace heddle::testbench {

void moments::add_stratum(double stratum_value, double stratum_variance, double freedom) {
  value += stratum_value;
  variance += stratum_variance;
  if (stratum_variance > 0) by_freedom += stratum_variance * stratum_variance / std::max(1.0, freedom);
}

void moments::add(const moments& o) {
  value += o.value;
  variance += o.variance;
  by_freedom += o.by_freedom;
}

estimate moments::with(double confidence) const {
  if (variance == 0) return {value, 0};
  const double freedom = std::max(1.0, variance * variance / by_freedom);
  const double t =
      boost::math::quantile(boost::math::students_t_distribution<double, in_double>(freedom), 0.5 + confidence / 2);
  return {value, t * std::sqrt(variance)};
}

}  // namespace heddle::testbench
