// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "testbench/sampling/strata/moments.h"
#include "testbench/sampling/strata/stratum.h"

namespace heddle::testbench {

/// Launches of each stratum, drawn at random. The same seed draws the same ones.
class sample {
 public:
  sample(std::vector<stratum> strata, const accuracy& wanted, std::uint64_t seed);

  [[nodiscard]] const std::vector<stratum>& strata() const { return strata_; }
  /// The launches of a stratum that are simulated.
  [[nodiscard]] std::vector<std::uint32_t> chosen(std::size_t stratum) const;
  /// Of all strata, in the workload's order.
  [[nodiscard]] std::vector<std::uint32_t> chosen() const;
  [[nodiscard]] std::size_t size() const;
  /// Draws more, so that a stratum has at least `sizes` of them; those drawn stay.
  void grow(const std::vector<std::size_t>& sizes);
  /// The relative error of the whole time that the strata's deviations let expect, with the wanted confidence.
  [[nodiscard]] double expected_error() const;
  /// How many times less the chosen launches take than all, by what is known of their times; without, by their number.
  [[nodiscard]] double speedup() const;

 private:
  std::vector<stratum> strata_;
  std::vector<std::vector<std::uint32_t>> order_;  // members in the order in which they are drawn
  std::vector<std::size_t> sizes_;
  accuracy wanted_;
};

struct workload_estimate {
  /// The launches of a kernel or of a layer.
  struct part {
    std::string name;
    std::size_t launches = 0, simulated = 0;
    estimate of;
  };
  estimate whole;
  std::vector<part> kernels;  // the longest first
  std::vector<part> layers;   // where names tell
};

/// Values of the chosen launches, such as cycles, by launch.
using launch_values = std::map<std::uint32_t, double>;

/// Estimates the sum of all launches' values by Student's distribution, with Satterthwaite's degrees of freedom. Where
/// durations are known the relative deviation of a stratum is theirs, if that is larger.
workload_estimate estimate_of(const sample& from, const launch_values& values, double confidence);

/// The strata as their simulated launches are: means and deviations of `values`.
std::vector<stratum> measured_strata(const sample& from, const launch_values& values);

}  // namespace heddle::testbench
