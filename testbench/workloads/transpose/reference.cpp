// SPDX-License-Identifier: MIT
#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_transpose(const folder& out) {
  constexpr std::size_t width = 250;
  constexpr std::size_t height = 330;
  const std::vector<std::uint32_t> in = random_words(5, width * height);  // the job's "random:5"
  std::vector<std::uint32_t> result(in.size());
  for (std::size_t y = 0; y < height; ++y) {
    for (std::size_t x = 0; x < width; ++x) result[x * height + y] = in[y * width + x];
  }
  out.write("out.ref.bin", result);
}

}  // namespace heddle::workloads
