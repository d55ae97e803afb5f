// SPDX-License-Identifier: MIT
#pragma once

#include <boost/math/policies/policy.hpp>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::testbench {

/// Launches of one kernel that are expected to take about as long as each other.
struct stratum {
  std::string name;                    // of the kernel
  std::vector<std::uint32_t> members;  // numbers of launches
  double mean = 0;                     // of what is known of their times; 0: nothing is
  double deviation = 0;                // standard deviation

  [[nodiscard]] double total() const { return mean * static_cast<double>(members.size()); }
};

/// Boost computes in long double otherwise, some constants at the program's start, which valgrind does not have.
using in_double = boost::math::policies::policy<boost::math::policies::promote_double<false>>;

/// How exact an estimate is to be.
struct accuracy {
  double error = 0;       // of the whole time, relative
  double confidence = 0;  // with which the error is no larger
  std::size_t least = 1;  // launches of a stratum that are simulated, at least

  /// Standard deviations of a normal distribution within which this share of it lies.
  [[nodiscard]] double deviations() const;
};

/// How many launches of each stratum to simulate, so that all of them together take the least time: for strata of N
/// launches, mean M and standard deviation S, in proportion to N S / sqrt(M) (Neyman's allocation with costs; STEM's,
/// MICRO 2025, from the Karush-Kuhn-Tucker conditions), as many as the error of their sum allows. A stratum that would
/// be simulated more often than it has launches is simulated as a whole.
std::vector<std::size_t> sample_sizes(const std::vector<stratum>& strata, const accuracy& wanted);

}  // namespace heddle::testbench
