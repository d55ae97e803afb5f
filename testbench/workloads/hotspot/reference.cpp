// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_hotspot(const folder& out) {
  constexpr int width = 120;
  constexpr int height = 110;
  const std::vector<float> power = random_floats(12, width * height, 0, 5);
  std::vector<float> heat = random_floats(13, width * height, 70, 110);
  out.write("power.bin", power);
  out.write("heat.bin", heat);
  std::vector<float> next(heat.size());
  for (int step = 0; step < 4; ++step) {
    const auto at = [&heat](int x, int y) {
      return heat[std::clamp(y, 0, height - 1) * width + std::clamp(x, 0, width - 1)];
    };
    for (int y = 0; y < height; ++y) {
      for (int x = 0; x < width; ++x) {
        const float own = at(x, y);
        float change = power[y * width + x];
        change = std::fma(at(x - 1, y) + at(x + 1, y) - 2 * own, 0.1f, change);
        change = std::fma(at(x, y - 1) + at(x, y + 1) - 2 * own, 0.08f, change);
        change = std::fma(80.0f - own, 0.02f, change);
        next[y * width + x] = own + change;
      }
    }
    heat.swap(next);
  }
  out.write("heat.ref.bin", heat);
}

}  // namespace heddle::workloads
