// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::testbench {

/// What the simulated launches tell of all.
struct estimate {
  double value = 0;       // of all launches
  double half_width = 0;  // of its confidence interval
  double within = 0;      // part of it that is due to launches of which not all blocks were simulated
  [[nodiscard]] double error() const { return value > 0 ? half_width / value : 0; }
};

/// An estimate of a sum of independent strata.
struct moments {
  double value = 0, variance = 0;
  double by_freedom = 0;  // squares of the strata's variances, divided by their degrees of freedom

  /// Adds a stratum's.
  void add_stratum(double stratum_value, double stratum_variance, double freedom);
  void add(const moments& o);
  /// The interval by Student's distribution, with Satterthwaite's degrees of freedom.
  [[nodiscard]] estimate with(double confidence) const;
};

}  // namespace heddle::testbench
