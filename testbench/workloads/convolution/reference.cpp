// SPDX-License-Identifier: MIT
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_convolution(const folder& out) {
  constexpr int width = 120;
  constexpr int height = 90;
  const std::vector<float> weights = random_floats(26, 25, -1, 1);
  const std::vector<float> in = random_floats(27, width * height, 0, 255);
  std::vector<float> result(in.size());
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int tap = 0; tap < 25; ++tap) {
        const int from_x = x + tap % 5 - 2;
        const int from_y = y + tap / 5 - 2;
        if (from_x < 0 || from_x >= width || from_y < 0 || from_y >= height) continue;
        sum = std::fma(weights[tap], in[from_y * width + from_x], sum);
      }
      result[y * width + x] = sum;
    }
  }
  out.write("weights.bin", weights);
  out.write("in.bin", in);
  out.write("out.ref.bin", result);
}

}  // namespace heddle::workloads
