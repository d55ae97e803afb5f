// SPDX-License-Identifier: MIT
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_stencil_f64(const folder& out) {
  constexpr std::size_t width = 120;
  constexpr std::size_t height = 100;
  random_numbers random(10);
  std::vector<double> grid(width * height);
  for (double& value : grid) value = static_cast<double>(random.next() >> 11) * 0x1p-53;
  out.write("grid.bin", grid);
  std::vector<double> next = grid;
  for (int sweep = 0; sweep < 6; ++sweep) {
    for (std::size_t y = 1; y + 1 < height; ++y) {
      for (std::size_t x = 1; x + 1 < width; ++x) {
        const std::size_t i = y * width + x;
        const double sum = (grid[i - width] + grid[i + width]) + (grid[i - 1] + grid[i + 1]);
        next[i] = std::fma(grid[i], 0.4, sum * 0.15);
      }
    }
    grid.swap(next);
  }
  out.write("grid.ref.bin", grid);
}

}  // namespace heddle::workloads
