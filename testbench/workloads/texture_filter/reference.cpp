// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

namespace {

constexpr int width = 100, height = 60;

/// The linear filter of the CUDA programming guide, with shares of 1/256, clamped at the edges.
float sample(const std::vector<float>& image, float x, float y) {
  const auto at = [&](int i, int j) {
    return image[std::clamp(j, 0, height - 1) * width + std::clamp(i, 0, width - 1)];
  };
  const double u = x - 0.5, v = y - 0.5;
  const int i = static_cast<int>(std::floor(u)), j = static_cast<int>(std::floor(v));
  const double a = std::floor((u - i) * 256 + 0.5) / 256, b = std::floor((v - j) * 256 + 0.5) / 256;
  double sum = 0;
  sum += (1 - a) * (1 - b) * at(i, j);
  sum += a * (1 - b) * at(i + 1, j);
  sum += (1 - a) * b * at(i, j + 1);
  sum += a * b * at(i + 1, j + 1);
  return static_cast<float>(sum);
}

}  // namespace

void make_texture_filter(const folder& out) {
  const std::vector<float> image = random_floats(23, width * height, 0, 1);
  std::vector<float> filtered;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int j = -1; j <= 1; ++j) {
        for (int i = -1; i <= 1; ++i) {
          sum += sample(image, static_cast<float>(x) + static_cast<float>(i) * 1.5f + 0.25f,
                        static_cast<float>(y) + static_cast<float>(j) * 1.5f + 0.75f);
        }
      }
      filtered.push_back(sum);
    }
  }
  const std::vector<std::uint32_t> pixels = random_words(29, width * height);
  std::vector<std::uint32_t> mirrored;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) mirrored.push_back(pixels[y * width + width - 1 - x]);
  }
  out.write("image.bin", image);
  out.write("filtered.ref.bin", filtered);
  out.write("mirrored.ref.bin", mirrored);
}

}  // namespace heddle::workloads
