// SPDX-License-Identifier: MIT
#include <numeric>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_scan(const folder& out) {
  std::vector<std::uint32_t> words = random_words(22, 30000);  // the job's "random:22"
  std::partial_sum(words.begin(), words.end(), words.begin());
  out.write("out.ref.bin", words);
}

}  // namespace heddle::workloads
