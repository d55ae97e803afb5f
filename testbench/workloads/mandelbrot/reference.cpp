// SPDX-License-Identifier: MIT
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_mandelbrot(const folder& out) {
  constexpr int width = 160;
  constexpr int height = 120;
  constexpr int limit = 64;
  std::vector<std::uint8_t> rounds;
  for (int row = 0; row < height; ++row) {
    for (int column = 0; column < width; ++column) {
      const float cx = std::fma(static_cast<float>(column), 0.01875f, -2.1f);
      const float cy = std::fma(static_cast<float>(row), 0.01875f, -1.1f);
      float x = 0;
      float y = 0;
      int round = 0;
      for (; round < limit && x * x + y * y <= 4; ++round) {
        const float xy = x * y;
        x = (x * x - y * y) + cx;
        y = std::fma(2.0f, xy, cy);
      }
      rounds.push_back(static_cast<std::uint8_t>(round));
    }
  }
  out.write("rounds.ref.bin", rounds);
}

}  // namespace heddle::workloads
