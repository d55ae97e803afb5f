// SPDX-License-Identifier: MIT
#include "testbench/sampling/compare/pka.h"

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <random>

namespace heddle::testbench {

namespace {

using matrix = Eigen::MatrixXd;
using column = Eigen::VectorXd;
using index = Eigen::Index;

constexpr index most_clusters = 20;
constexpr unsigned most_iterations = 100;
constexpr double variance_kept = 0.9995;

/// Launches with the same counters are one point.
struct point_set {
  matrix points;                      // a row for each
  column counts;                      // launches of each
  std::vector<std::uint32_t> firsts;  // the first launch of each
};

point_set points_of(const launch_counters& counters) {
  std::map<std::vector<double>, std::size_t> known;
  std::vector<double> counts;
  point_set set;
  for (std::uint32_t k = 0; k < counters.values.size(); ++k) {
    const auto [found, is_new] = known.emplace(counters.values[k], counts.size());
    if (is_new) {
      counts.push_back(0);
      set.firsts.push_back(k);
    }
    ++counts[found->second];
  }
  set.counts = Eigen::Map<const column>(counts.data(), static_cast<index>(counts.size()));
  set.points.resize(static_cast<index>(counts.size()), static_cast<index>(counters.names.size()));
  for (const auto& [values, row] : known)
    set.points.row(static_cast<index>(row)) =
        Eigen::Map<const Eigen::RowVectorXd>(values.data(), static_cast<index>(values.size()));
  return set;
}

/// The points along their principal components. Counters that do not vary are left out.
void project(point_set& set) {
  const double n = set.counts.sum();
  matrix& x = set.points;
  x.rowwise() -= (set.counts.transpose() * x / n).eval();
  for (index c = 0; c < x.cols(); ++c) {
    const double deviation = std::sqrt(x.col(c).array().square().matrix().dot(set.counts) / n);
    if (deviation > 0) x.col(c) /= deviation;
  }
  const Eigen::SelfAdjointEigenSolver<matrix> solver(x.transpose() * set.counts.asDiagonal() * x / n);
  const column& variances = solver.eigenvalues();  // the largest is the last
  index kept = 0;
  double sum = 0;
  while (kept < x.cols() && sum < variance_kept * variances.sum()) sum += variances[x.cols() - ++kept];
  x = (x * solver.eigenvectors().rightCols(kept)).eval();
}

// From 0 to before 1: the standard's distributions differ between libraries.
double share(std::mt19937_64& random) { return std::ldexp(static_cast<double>(random() >> 11), -53); }

/// Distance of each point from the nearest of the first `k` centers, squared, and which one that is.
void nearest(const matrix& points, const matrix& centers, index k, column& distances, std::vector<index>& of) {
  for (index p = 0; p < points.rows(); ++p) {
    distances[p] = (centers.topRows(k).rowwise() - points.row(p))
                       .rowwise()
                       .squaredNorm()
                       .minCoeff(&of[static_cast<std::size_t>(p)]);
  }
}

/// The cluster of each point: k-means, begun with centers that are far from each other (k-means++).
std::vector<index> clusters_of(const point_set& set, index k, std::mt19937_64& random) {
  const index n = set.points.rows();
  std::vector<index> of(static_cast<std::size_t>(n), 0);
  matrix centers = matrix::Zero(k, set.points.cols());
  column distances = column::Ones(n);
  for (index c = 0; c < k; ++c) {
    const column weights = distances.cwiseProduct(set.counts);
    double left = share(random) * weights.sum();
    index p = 0;
    while (p + 1 < n && left >= weights[p]) left -= weights[p++];
    centers.row(c) = set.points.row(p);
    nearest(set.points, centers, c + 1, distances, of);
  }
  for (unsigned iteration = 0; iteration < most_iterations; ++iteration) {
    matrix sums = matrix::Zero(k, set.points.cols());
    column counts = column::Zero(k);
    for (index p = 0; p < n; ++p) {
      const index c = of[static_cast<std::size_t>(p)];
      sums.row(c) += set.points.row(p) * set.counts[p];
      counts[c] += set.counts[p];
    }
    for (index c = 0; c < k; ++c)
      if (counts[c] > 0) centers.row(c) = sums.row(c) / counts[c];
    const std::vector<index> before = of;
    nearest(set.points, centers, k, distances, of);
    if (of == before) break;
  }
  return of;
}

/// The first launch of each cluster, for all of it.
std::vector<weighted_launch> first_launches(const point_set& set, const std::vector<index>& of) {
  std::map<index, weighted_launch> clusters;
  for (std::size_t p = 0; p < of.size(); ++p) {
    weighted_launch& w = clusters.emplace(of[p], weighted_launch{set.firsts[p], 0}).first->second;
    w.launch = std::min(w.launch, set.firsts[p]);
    w.weight += set.counts[static_cast<index>(p)];
  }
  std::vector<weighted_launch> all;
  for (const auto& [cluster, w] : clusters) all.push_back(w);
  return all;
}

}  // namespace

pka_launches pka_choice(const launch_list& list, std::uint64_t seed) {
  point_set set = points_of(list.counters);
  project(set);
  std::mt19937_64 random(seed);
  pka_launches best;
  best.components = static_cast<std::size_t>(set.points.cols());
  double least = std::numeric_limits<double>::infinity();
  const double whole = list.time();
  for (index k = 1; k <= std::min(most_clusters, set.points.rows()); ++k) {
    const std::vector<weighted_launch> launches = first_launches(set, clusters_of(set, k, random));
    double sum = 0;
    for (const weighted_launch& w : launches) sum += w.weight * list.launches[w.launch].time;
    if (const double error = std::abs(sum - whole); error < least) {
      least = error;
      best.launches = launches;
    }
  }
  return best;
}

}  // namespace heddle::testbench
