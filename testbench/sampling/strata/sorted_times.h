// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "testbench/sampling/launches/launch_list.h"
#include "testbench/sampling/strata/stratum.h"

namespace heddle::testbench {

/// Sums over launches of a kernel in the order of their times.
class sorted_times {
 public:
  /// `list` must outlive it.
  sorted_times(const launch_list& list, const std::vector<std::uint32_t>& members);

  [[nodiscard]] std::size_t size() const { return members_.size(); }
  /// The launches from `first` to before `end`.
  [[nodiscard]] stratum part(const std::string& name, std::size_t first, std::size_t end) const;
  /// Where two parts differ least within themselves; there are two launches at least.
  [[nodiscard]] std::size_t best_cut(std::size_t first, std::size_t end) const;

 private:
  [[nodiscard]] double time(std::uint32_t m) const { return list_.launches[m].time; }
  /// Of the distances from the mean.
  [[nodiscard]] double squares(std::size_t first, std::size_t end) const;

  const launch_list& list_;
  std::vector<std::uint32_t> members_;
  double shift_ = 0;
  std::vector<std::pair<double, double>> sums_;  // of times and of their squares, from the mean on
};

}  // namespace heddle::testbench
