// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "testbench/sweep/plan/sweep_file.h"

namespace heddle::testbench {

/// The product of a sweep's axes, those of a zip being one factor together. The factor that comes first in the file
/// varies slowest. No point is held; each is computed from its number. Refers to the axes that it was made from.
class point_space {
 public:
  explicit point_space(const std::vector<sweep_axis>& axes);

  /// Points of the product; the largest number where there are more than that.
  std::uint64_t size() const { return size_; }
  /// The value of one axis at a point.
  const std::string& value(std::uint64_t number, std::size_t axis) const;

 private:
  struct factor {
    std::vector<std::size_t> axes;
    std::uint64_t values = 1;
    std::uint64_t stride = 1;  // points from one value to the next
  };

  const std::vector<sweep_axis>& axes_;
  std::vector<factor> factors_;
  std::vector<std::size_t> factor_of_;  // by axis
  std::uint64_t size_ = 1;
};

}  // namespace heddle::testbench
