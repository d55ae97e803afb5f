// SPDX-License-Identifier: MIT
#include <algorithm>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_bitonic_sort(const folder& out) {
  std::vector<std::uint32_t> keys = random_words(21, 4096);  // the job's "random:21"
  std::sort(keys.begin(), keys.end());
  out.write("keys.ref.bin", keys);
}

}  // namespace heddle::workloads
