// SPDX-License-Identifier: MIT
#include "testbench/energy/nonnegative_fit.h"

#include <Eigen/QR>
#include <algorithm>
#include <cstddef>

namespace heddle::testbench {

namespace {

using matrix = Eigen::MatrixXd;
using column = Eigen::VectorXd;

/// The rows as a matrix whose columns have length 1, and the lengths that they had: the unknowns differ by many orders
/// of magnitude. Columns of zeros stay.
matrix scaled_columns(const std::vector<std::vector<double>>& rows, column& lengths) {
  const std::size_t unknowns = rows.empty() ? 0 : rows[0].size();
  matrix a(static_cast<Eigen::Index>(rows.size()), static_cast<Eigen::Index>(unknowns));
  for (std::size_t i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < unknowns; ++j)
      a(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = rows[i][j];
  lengths = a.colwise().norm();
  for (Eigen::Index j = 0; j < a.cols(); ++j)
    if (lengths[j] > 0) a.col(j) /= lengths[j];
  return a;
}

/// Unconstrained least squares over the columns that are free; 0 for the others.
column solve_free(const matrix& a, const column& b, const std::vector<bool>& free) {
  std::vector<Eigen::Index> used;
  for (std::size_t j = 0; j < free.size(); ++j)
    if (free[j]) used.push_back(static_cast<Eigen::Index>(j));
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

}  // namespace

std::vector<double> nonnegative_fit(const std::vector<std::vector<double>>& rows, const std::vector<double>& targets) {
  column lengths;
  const matrix a = scaled_columns(rows, lengths);
  const auto unknowns = static_cast<std::size_t>(a.cols());
  column b(a.rows());
  for (std::size_t i = 0; i < rows.size(); ++i) b[static_cast<Eigen::Index>(i)] = targets[i];
  std::vector<bool> free(unknowns, false);
  column x = column::Zero(a.cols());
  // Each iteration frees the unknown whose growth lowers the sum most; the sum falls with each, so that it ends.
  for (std::size_t turn = 0; turn < 100 * unknowns; ++turn) {
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

std::vector<std::size_t> dependent_unknowns(const std::vector<std::vector<double>>& rows) {
  constexpr double nothing = 1e-3;
  column lengths;
  const matrix a = scaled_columns(rows, lengths);
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
