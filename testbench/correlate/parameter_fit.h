// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "testbench/correlate/comparison.h"
#include "testbench/correlate/measurements.h"

namespace heddle::testbench {

/// What rows say of one parameter of one chip.
struct fitted_parameter {
  std::string gpu;
  std::string key;
  double before = 0;  // in the configuration
  double best = 0;
  double low = 0;  // the values between which the error stays within one point of the least
  double high = 0;
  bool low_open = false;  // no lower value that was tried is worse
  bool high_open = false;
  std::size_t rows = 0;     // that identify it
  std::string kernels;      // of those rows: "a, b"
  double error_before = 0;  // root mean square of the logarithms of Heddle's over the measured times
  double error = 0;
};

/// Searches the parameters of a chip that rows identify. Each step tries several values at once; the neighbours of the
/// best one are divided further.
class parameter_fit {
 public:
  /// Runs launches and returns their comparisons in the same order.
  using runner = std::function<std::vector<compared_launch>(const std::vector<measured_launch>& launches)>;

  /// `keys`: "all" as the only one stands for all that rows identify. Throws input_error if a key is no numeric
  /// parameter, or if no row identifies it.
  parameter_fit(const std::vector<measured_launch>& launches, std::vector<std::string> keys,
                std::vector<std::string> overrides, runner run);

  std::vector<fitted_parameter> search();

 private:
  struct tried {
    double value = 0;
    double error = 0;
  };
  /// Of values with which the rows take the same time, the one with the fewest digits.
  static bool better(const tried& a, const tried& b);

  std::vector<fitted_parameter> search_chip(const std::string& gpu);
  [[nodiscard]] std::vector<double> neighbours(const std::string& key, const std::vector<tried>& known,
                                               double best) const;
  void attempt(const std::vector<measured_launch>& rows, const std::vector<fitted_parameter>& all, std::size_t key,
               const std::vector<double>& values, std::vector<tried>& known);

  std::vector<measured_launch> rows_;  // that identify one of the keys
  std::vector<std::string> keys_;
  std::vector<std::string> overrides_;
  runner run_;
};

/// A table for a terminal.
std::string fit_text(const std::vector<fitted_parameter>& fitted);
/// A configuration, for parameters of one chip, which is its base. `name` is that of the configuration.
std::string fit_ini(const std::vector<fitted_parameter>& fitted, const std::string& name);

}  // namespace heddle::testbench
