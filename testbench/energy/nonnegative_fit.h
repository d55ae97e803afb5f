// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <vector>

namespace heddle::testbench {

/// Non-negative least squares: the x >= 0 for which the sum of squares of (rows * x - targets) is smallest, by the
/// active-set method of Lawson and Hanson (Solving Least Squares Problems, 1974, chapter 23). Each row has as many
/// elements as there are unknowns; an unknown whose column is zero becomes 0.
std::vector<double> nonnegative_fit(const std::vector<std::vector<double>>& rows, const std::vector<double>& targets);

/// For each row the fit of all others. Rows are divided in halves again and again, and each half has the other one as a
/// triangle (QR), so that the time is n log n in rows.
std::vector<std::vector<double>> left_out_fits(const std::vector<std::vector<double>>& rows,
                                               const std::vector<double>& targets);

/// The unknowns whose columns are, within a thousandth, sums of multiples of the other columns, so that no targets
/// determine them, ascending. Columns of zeros are not among them.
std::vector<std::size_t> dependent_unknowns(const std::vector<std::vector<double>>& rows);

}  // namespace heddle::testbench
