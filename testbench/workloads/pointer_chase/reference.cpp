// SPDX-License-Identifier: MIT
#include <numeric>
#include <utility>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_pointer_chase(const folder& out) {
  constexpr std::uint32_t count = 16384;
  random_numbers random(28);
  // One ring through all elements (Sattolo's shuffle).
  std::vector<std::uint32_t> next(count);
  std::iota(next.begin(), next.end(), 0u);
  for (std::uint32_t i = count - 1; i > 0; --i) std::swap(next[i], next[random.below(i)]);
  std::vector<std::uint32_t> last;
  for (std::uint32_t walker = 0; walker < 8; ++walker) {
    std::uint32_t at = walker * 1000;
    for (int step = 0; step < 400; ++step) at = next[at];
    last.push_back(at);
  }
  out.write("next.bin", next);
  out.write("last.ref.bin", last);
}

}  // namespace heddle::workloads
