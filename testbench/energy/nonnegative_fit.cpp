// SPDX-License-Identifier: MIT
#include "testbench/energy/nonnegative_fit.h"

#include <Eigen/QR>
#include <algorithm>
#include <cstddef>

namespace heddle::testbench {

namespace {

using matrix = Eigen::MatrixXd;
using column = Eigen::VectorXd;

matrix matrix_of(const std::vector<std::vector<double>>& rows) {
  const std::size_t unknowns = rows.empty() ? 0 : rows[0].size();
  matrix a(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(unknowns));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < unknowns; ++j)
      a(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = rows[i][j];
  return a;
}

/// The rows, each with its target behind it.
matrix system_of(const std::vector<std::vector<double>>& rows, const std::vector<double>& targets) {
  const matrix a = matrix_of(rows);
  matrix system(a.rows(), a.cols() + 1);
  system.leftCols(a.cols()) = a;
  for (std::size_t i = 0; i < targets.size(); ++i) system(static_cast<Eigen::Index>(i), a.cols()) = targets[i];
  return system;
}

/// Gives the columns length 1, and returns the lengths that they had: the unknowns differ by many orders of magnitude.
/// Columns of zeros stay.
column scale_columns(matrix& a) {
  column lengths = a.colwise().norm();
  for (Eigen::Index j = 0; j < a.cols(); ++j)
    if (lengths[j] > 0) a.col(j) /= lengths[j];
  return lengths;
}

/// Unconstrained least squares over the columns that are free; 0 for the others.
column solve_free(const matrix& a, const column& b, const std::vector<bool>& free) {
  std::vector<Eigen::Index> used;
  for (std::size_t j = 0; j < free.size(); ++j)
    if (free[j]) used.push_back(static_cast<Eigen::Index>(j));
  if (used.empty()) return column::Zero(a.cols());
  matrix part(a.rows(), static_cast<Eigen::Index>(used.size()));
  for (std::size_t k = 0; k < used.size(); ++k) part.col(static_cast<Eigen::Index>(k)) = a.col(used[k]);
  const column y = part.colPivHouseholderQr().solve(b);
  column x = column::Zero(a.cols());
  for (std::size_t k = 0; k < used.size(); ++k) x[used[k]] = y[static_cast<Eigen::Index>(k)];
  return x;
}

/// Goes from x towards the unconstrained solution y until the first free unknown becomes 0, and binds those that are.
void step(column& x, const column& y, std::vector<bool>& free) {
  double part = 1;
  for (std::size_t j = 0; j < free.size(); ++j) {
    const auto i = static_cast<Eigen::Index>(j);
    if (free[j] && y[i] <= 0) part = std::min(part, x[i] / (x[i] - y[i]));
  }
  x += part * (y - x);
  for (std::size_t j = 0; j < free.size(); ++j) {
    const auto i = static_cast<Eigen::Index>(j);
    if (free[j] && y[i] <= 0 && x[i] <= 1e-14) free[j] = false;
    if (!free[j]) x[i] = 0;
  }
}

bool feasible(const column& y, const std::vector<bool>& free) {
  for (std::size_t j = 0; j < free.size(); ++j)
    if (free[j] && y[static_cast<Eigen::Index>(j)] <= 0) return false;
  return true;
}

std::vector<double> fit(const matrix& system) {
  matrix a = system.leftCols(system.cols() - 1);
  const column b = system.rightCols(1), lengths = scale_columns(a);
  const auto unknowns = static_cast<std::size_t>(a.cols());
  std::vector<bool> free(unknowns, false);
  column x = column::Zero(a.cols());
  // Each iteration frees the unknown whose growth lowers the sum most; the sum falls with each, so that it ends.
  for (std::size_t iteration = 0; iteration < 100 * unknowns; ++iteration) {
    const column gradient = a.transpose() * (b - a * x);
    std::size_t best = unknowns;
    for (std::size_t j = 0; j < unknowns; ++j) {
      const double g = gradient[static_cast<Eigen::Index>(j)];
      if (!free[j] && g > 1e-10 * b.norm() && (best == unknowns || g > gradient[static_cast<Eigen::Index>(best)]))
        best = j;
    }
    if (best == unknowns) break;
    free[best] = true;
    column y = solve_free(a, b, free);
    while (!feasible(y, free)) {
      step(x, y, free);
      y = solve_free(a, b, free);
    }
    x = y;
  }
  std::vector<double> all(unknowns);
  for (std::size_t j = 0; j < unknowns; ++j) {
    const auto i = static_cast<Eigen::Index>(j);
    all[j] = lengths[i] > 0 ? x[i] / lengths[i] : 0;
  }
  return all;
}

/// As few rows with the same solutions: any fit has the same sum of squares, but for a constant.
matrix reduced(const matrix& system) {
  if (system.rows() <= system.cols()) return system;
  return Eigen::HouseholderQR<matrix>(system).matrixQR().topRows(system.cols()).triangularView<Eigen::Upper>();
}

matrix joined(const matrix& a, const matrix& b) {
  matrix both(a.rows() + b.rows(), a.cols());
  both << a, b;
  return both;
}

/// Fits for each row of `system` all others and `outside`, and puts the results into `fits`, from `first` on.
void leave_out(const matrix& system, const matrix& outside, std::vector<std::vector<double>>& fits, std::size_t first) {
  if (system.rows() == 1) {
    fits[first] = fit(outside);
    return;
  }
  const Eigen::Index half = system.rows() / 2;
  const matrix upper = system.topRows(half), lower = system.bottomRows(system.rows() - half);
  leave_out(upper, reduced(joined(outside, lower)), fits, first);
  leave_out(lower, reduced(joined(outside, upper)), fits, first + static_cast<std::size_t>(half));
}

}  // namespace

std::vector<double> nonnegative_fit(const std::vector<std::vector<double>>& rows, const std::vector<double>& targets) {
  return fit(system_of(rows, targets));
}

std::vector<std::vector<double>> left_out_fits(const std::vector<std::vector<double>>& rows,
                                               const std::vector<double>& targets) {
  std::vector<std::vector<double>> fits(rows.size());
  const matrix system = system_of(rows, targets);
  if (!rows.empty()) leave_out(system, matrix(0, system.cols()), fits, 0);
  return fits;
}

std::vector<std::size_t> dependent_unknowns(const std::vector<std::vector<double>>& rows) {
  constexpr double nothing = 1e-3;
  matrix a = matrix_of(rows);
  scale_columns(a);
  const auto unknowns = static_cast<std::size_t>(a.cols());
  std::vector<std::size_t> dependent;
  for (std::size_t j = 0; j < unknowns; ++j) {
    const column one = a.col(static_cast<Eigen::Index>(j));
    std::vector<bool> others(unknowns, true);
    others[j] = false;
    if (one.norm() > 0 && (one - a * solve_free(a, one, others)).norm() < nothing) dependent.push_back(j);
  }
  return dependent;
}

}  // namespace heddle::testbench
