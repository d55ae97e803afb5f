// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

namespace heddle::testbench {

/// Non-negative least squares: the x >= 0 for which the sum of squares of (rows * x - targets) is smallest, by the
/// active-set method of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23). Each row has as many
/// elements as there are unknowns; an unknown whose column is zero becomes 0.
std::vector<double> nonnegative_fit(const std::vector<std::vector<double>>& rows, const std::vector<double>& targets);

}  // namespace heddle::testbench
