// SPDX-License-Identifier: MIT
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_sgemm(const folder& out) {
  constexpr std::size_t n = 256;
  const std::vector<float> a = random_floats(3, n * n, -1, 1);
  const std::vector<float> b = random_floats(4, n * n, -1, 1);
  std::vector<float> c(n * n);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t column = 0; column < n; ++column) {
      float sum = 0;
      for (std::size_t k = 0; k < n; ++k) sum = std::fma(a[row * n + k], b[k * n + column], sum);
      c[row * n + column] = sum;
    }
  }
  out.write("a.bin", a);
  out.write("b.bin", b);
  out.write("c.ref.bin", c);
}

}  // namespace heddle::workloads
