// SPDX-License-Identifier: MIT
#include <array>
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_nbody(const folder& out) {
  using body = std::array<float, 4>;  // x, y, z, mass
  constexpr std::size_t count = 256;
  constexpr float time = 0.01f;
  random_numbers random(17);
  std::vector<body> bodies(count);
  for (body& b : bodies) b = {random.real(-1, 1), random.real(-1, 1), random.real(-1, 1), random.real(0.1f, 1)};
  out.write("bodies.bin", bodies);
  std::vector<body> velocities(count, body{});
  for (int step = 0; step < 2; ++step) {
    const std::vector<body> old = bodies;
    for (std::size_t i = 0; i < count; ++i) {
      float pull[3] = {0, 0, 0};
      for (const body& other : old) {
        float d[3];
        for (int k = 0; k < 3; ++k) d[k] = other[k] - old[i][k];
        const float squared = std::fma(d[2], d[2], std::fma(d[1], d[1], std::fma(d[0], d[0], 0.01f)));
        const float inverse = 1.0f / std::sqrt(squared);
        const float strength = other[3] * (inverse * inverse * inverse);
        for (int k = 0; k < 3; ++k) pull[k] = std::fma(d[k], strength, pull[k]);
      }
      for (int k = 0; k < 3; ++k) {
        velocities[i][k] = std::fma(pull[k], time, velocities[i][k]);
        bodies[i][k] = std::fma(velocities[i][k], time, old[i][k]);
      }
    }
  }
  out.write("bodies.ref.bin", bodies);
  out.write("velocities.ref.bin", velocities);
}

}  // namespace heddle::workloads
