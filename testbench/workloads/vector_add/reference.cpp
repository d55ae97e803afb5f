// SPDX-License-Identifier: MIT
#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_vector_add(const folder& out) {
  const std::vector<float> b = random_floats(1, 50000, -1000, 1000);
  std::vector<float> c(b.size());
  for (std::size_t i = 0; i < b.size(); ++i) c[i] = static_cast<float>(i) + b[i];  // a is the job's "iotaf"
  out.write("b.bin", b);
  out.write("c.ref.bin", c);
}

}  // namespace heddle::workloads
