// SPDX-License-Identifier: MIT
#pragma once

#include <heddle/heddle.h>

#include <cstdint>
#include <vector>

namespace standards {

/// Computes y = a x + y for n elements on the GPU of this driver, which has loaded saxpy. True if all bytes are right.
/// Call it from an SC_THREAD.
inline bool saxpy_is_right(heddle::host_driver& driver, unsigned n, float a) {
  std::vector<float> x(n), y(n), result(n);
  for (unsigned i = 0; i < n; ++i) x[i] = static_cast<float>(i % 100), y[i] = static_cast<float>(i);
  const std::uint64_t bytes = n * sizeof(float);
  const std::uint64_t px = driver.allocate(bytes), py = driver.allocate(bytes);
  driver.write(px, x.data(), bytes);
  driver.write(py, y.data(), bytes);
  heddle::launch_request request;
  request.kernel = "saxpy";
  request.grid[0] = 8;
  request.block[0] = 128;
  request.argument(n).argument(a).argument(px).argument(py);
  driver.check(request);
  driver.wait_for(driver.launch(request));
  driver.read(py, result.data(), bytes);
  bool right = driver.fault().empty();
  for (unsigned i = 0; i < n; ++i) right = right && result[i] == a * x[i] + y[i];
  return right;
}

}  // namespace standards
