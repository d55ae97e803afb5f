// SPDX-License-Identifier: MIT
#include <array>
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

namespace {

constexpr std::size_t count = 2000;
constexpr std::size_t clusters = 8;
constexpr std::size_t threads = 128;

using point = std::array<float, 4>;

std::int32_t nearest(const point& p, const std::vector<point>& centres) {
  float best = 3.402823466e38f;
  std::size_t cluster = 0;
  for (std::size_t c = 0; c < clusters; ++c) {
    point d;
    for (int k = 0; k < 4; ++k) d[k] = p[k] - centres[c][k];
    const float distance = std::fma(d[3], d[3], std::fma(d[2], d[2], std::fma(d[1], d[1], d[0] * d[0])));
    if (distance < best) {
      best = distance;
      cluster = c;
    }
  }
  return static_cast<std::int32_t>(cluster);
}

void move_centre(const std::vector<point>& points, const std::vector<std::int32_t>& owner, std::size_t cluster,
                 point& centre) {
  std::vector<point> sums(threads, point{});
  std::int32_t members = 0;
  for (std::size_t i = 0; i < count; ++i) {  // thread i % threads takes point i
    if (owner[i] != static_cast<std::int32_t>(cluster)) continue;
    for (int k = 0; k < 4; ++k) sums[i % threads][k] += points[i][k];
    ++members;
  }
  for (std::size_t distance = threads / 2; distance > 0; distance /= 2) {
    for (std::size_t t = 0; t < distance; ++t) {
      for (int k = 0; k < 4; ++k) sums[t][k] += sums[t + distance][k];
    }
  }
  if (members == 0) return;
  for (int k = 0; k < 4; ++k) centre[k] = sums[0][k] / static_cast<float>(members);
}

}  // namespace

void make_kmeans(const folder& out) {
  random_numbers random(16);
  std::vector<point> points(count);
  for (point& p : points) {
    const float middle = static_cast<float>(random.below(clusters)) * 3;
    for (float& value : p) value = middle + random.real(-2, 2);
  }
  std::vector<point> centres(points.begin(), points.begin() + clusters);
  out.write("points.bin", points);
  out.write("centres.bin", centres);
  std::vector<std::int32_t> owner(count);
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < count; ++i) owner[i] = nearest(points[i], centres);
    for (std::size_t c = 0; c < clusters; ++c) move_centre(points, owner, c, centres[c]);
  }
  out.write("owner.ref.bin", owner);
  out.write("centres.ref.bin", centres);
}

}  // namespace heddle::workloads
