// SPDX-License-Identifier: MIT
#include <array>
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

namespace {

constexpr unsigned length = 256;

using number = std::array<float, 2>;

unsigned reversed(unsigned value) {
  unsigned result = 0;
  for (unsigned bit = 1; bit < length; bit *= 2) result = result * 2 + (value & bit ? 1 : 0);
  return result;
}

void transform(const number* in, number* data, const std::vector<number>& roots) {
  for (unsigned i = 0; i < length; ++i) data[reversed(i)] = in[i];
  for (unsigned half = 1; half < length; half *= 2) {
    for (unsigned low = 0; low < length; ++low) {
      if (low & half) continue;
      const number root = roots[(low & (half - 1)) * (length / 2 / half)];
      const number a = data[low];
      const number b = data[low + half];
      const float real = std::fma(-root[1], b[1], root[0] * b[0]);
      const float imaginary = std::fma(root[1], b[0], root[0] * b[1]);
      data[low] = {a[0] + real, a[1] + imaginary};
      data[low + half] = {a[0] - real, a[1] - imaginary};
    }
  }
}

}  // namespace

void make_fft(const folder& out) {
  constexpr std::size_t batches = 32;
  std::vector<number> roots(length / 2);
  for (unsigned k = 0; k < roots.size(); ++k) {
    const double angle = -2 * 3.14159265358979323846 * k / length;
    roots[k] = {static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))};
  }
  random_numbers random(25);
  std::vector<number> in(batches * length);
  for (number& value : in) value = {random.real(-1, 1), random.real(-1, 1)};
  std::vector<number> result(in.size());
  for (std::size_t batch = 0; batch < batches; ++batch) transform(&in[batch * length], &result[batch * length], roots);
  out.write("roots.bin", roots);
  out.write("in.bin", in);
  out.write("out.ref.bin", result);
}

}  // namespace heddle::workloads
