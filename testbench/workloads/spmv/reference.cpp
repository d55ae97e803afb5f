// SPDX-License-Identifier: MIT
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_spmv(const folder& out) {
  constexpr std::uint32_t rows = 600;
  constexpr std::size_t lanes = 32;
  random_numbers random(23);
  std::vector<std::int32_t> row_start{0};
  std::vector<std::int32_t> columns;
  std::vector<float> values;
  const std::vector<float> x = random_floats(24, rows, -1, 1);
  std::vector<float> y;
  for (std::uint32_t row = 0; row < rows; ++row) {
    std::vector<float> sums(2 * lanes, 0.0f);
    const std::uint32_t entries = random.below(10) == 0 ? 50 + random.below(100) : random.below(16);
    for (std::uint32_t i = 0; i < entries; ++i) {
      columns.push_back(static_cast<std::int32_t>(random.below(rows)));
      values.push_back(random.real(-1, 1));
      float& sum = sums[i % lanes];
      sum = std::fma(values.back(), x[columns.back()], sum);
    }
    row_start.push_back(static_cast<std::int32_t>(columns.size()));
    for (std::size_t distance = lanes / 2; distance > 0; distance /= 2) {
      for (std::size_t lane = 0; lane < distance; ++lane) sums[lane] += sums[lane + distance];
    }
    y.push_back(sums[0]);
  }
  out.write("row_start.bin", row_start);
  out.write("columns.bin", columns);
  out.write("values.bin", values);
  out.write("x.bin", x);
  out.write("y.ref.bin", y);
}

}  // namespace heddle::workloads
