// SPDX-License-Identifier: MIT
#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_histogram(const folder& out) {
  const std::vector<std::uint32_t> in = random_words(8, 50000);  // the job's "random:8"
  std::vector<std::uint32_t> totals(256);
  for (const std::uint32_t word : in) {
    for (int shift = 0; shift < 32; shift += 8) ++totals[word >> shift & 255];
  }
  out.write("totals.ref.bin", totals);
}

}  // namespace heddle::workloads
