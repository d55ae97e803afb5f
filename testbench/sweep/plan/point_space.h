// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbench/sweep/plan/sweep_file.h"

namespace heddle::testbench {

/// The Cartesian product of a sweep's axes; the axes of a zip form one factor. The factor that comes first in the file
/// varies slowest. Points are not stored; each is computed from its number. Refers to the axes passed to the
/// constructor.
class point_space {
 public:
  explicit point_space(const std::vector<sweep_axis>& axes);

  /// The number of points of the product, saturated at the largest number.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// The value of one axis at a point.
  [[nodiscard]] const std::string& value(std::uint64_t number, std::size_t axis) const;

 private:
  struct factor {
    std::vector<std::size_t> axes;
    std::uint64_t values = 1;
    std::uint64_t stride = 1;  // number of points between two values of the factor
  };

  const std::vector<sweep_axis>& axes_;
  std::vector<factor> factors_;
  std::vector<std::size_t> factor_of_;  // by axis
  std::uint64_t size_ = 1;
};

}  // namespace heddle::testbench
