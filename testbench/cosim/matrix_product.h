// SPDX-License-Identifier: MIT
#pragma once

#include <heddle/gpu/gpu_blocks.h>
#include <heddle/heddle.h>
#include <heddle/tlm/kernel/has_process.h>

#include <string>
#include <systemc>
#include <vector>

namespace cosim {

/// One GPU and a host that multiplies two matrices on it.
struct matrix_product : sc_core::sc_module {
  heddle::gpu gpu;
  heddle::host_driver driver;
  sc_core::sc_signal<bool> irq{"irq"};
  std::string ptx;
  bool right = false;
  sc_core::sc_time ended;

  matrix_product(sc_core::sc_module_name name, const heddle::gpu_config& config, const std::string& text,
                 const heddle::gpu_blocks& own = {})
      : sc_module(name), gpu("gpu", config, own), driver("driver", config), ptx(text) {
    driver.host_socket.bind(gpu.host_socket);
    gpu.irq(irq);
    driver.irq(irq);
    HEDDLE_HAS_PROCESS(matrix_product);
    SC_THREAD(run);
  }

  void run() {
    const unsigned n = 96;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    for (unsigned i = 0; i < n * n; ++i) a[i] = static_cast<float>(i % 7), b[i] = static_cast<float>(i % 5);
    heddle::launch_request request;
    request.module = driver.load_module(ptx, "sgemm.ptx");
    request.kernel = "sgemm";
    request.grid[0] = request.grid[1] = n / 16;
    request.block[0] = request.block[1] = 16;
    const std::uint64_t bytes = a.size() * sizeof(float);
    const std::uint64_t pa = driver.allocate(bytes), pb = driver.allocate(bytes), pc = driver.allocate(bytes);
    driver.write(pa, a.data(), bytes);
    driver.write(pb, b.data(), bytes);
    driver.wait_for(driver.launch(request.argument(n).argument(pa).argument(pb).argument(pc)));
    driver.read(pc, c.data(), bytes);
    right = driver.fault().empty();
    for (unsigned i = 0; i < n * n; ++i) {
      float sum = 0;
      for (unsigned k = 0; k < n; ++k) sum += a[i / n * n + k] * b[k * n + i % n];
      right = right && c[i] == sum;
    }
    ended = sc_core::sc_time_stamp();
  }
};

}  // namespace cosim
