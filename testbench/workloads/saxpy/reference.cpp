// SPDX-License-Identifier: MIT
#include <cmath>

#include "testbench/workloads/reference.h"

namespace heddle::workloads {

void make_saxpy(const folder& out) {
  std::vector<float> y = random_floats(2, 40000, -1, 1);
  out.write("y.bin", y);
  for (std::size_t i = 0; i < y.size(); ++i)
    y[i] = std::fma(0.1f, static_cast<float>(i), y[i]);  // x is the job's "iotaf"
  out.write("y.ref.bin", y);
}

}  // namespace heddle::workloads
