// SPDX-License-Identifier: MIT
// Two GPUs of different generations on one memory: the first fills an array, the second works on it, then both work at
// the same time on separate halves. One is driven by an external clock, the other has its own.
//
//   first.memory_socket[i] --> dram.port[i]      second.memory_socket[i] --> dram.port[n + i]
#include <heddle/heddle.h>
#include <heddle/tlm/kernel/has_process.h>

#include <iostream>
#include <vector>

#include "testbench/cosim/at_dram.h"
#include "testbench/cosim/text_file.h"

namespace {

heddle::gpu_config with_outside_memory(const char* name, unsigned channels) {
  return heddle::load_config(
      name, {"memory.model=external", "tlm.check=true", "memory.channels=" + std::to_string(channels)});
}

/// A GPU with its driver and interrupt line.
struct node : sc_core::sc_module {
  heddle::gpu gpu;
  heddle::host_driver driver;
  sc_core::sc_signal<bool> irq{"irq"};

  node(sc_core::sc_module_name name, const heddle::gpu_config& config, std::uint64_t memory)
      : sc_module(name), gpu("gpu", config), driver("driver", config, memory) {
    driver.host_socket.bind(gpu.host_socket);
    gpu.irq(irq);
    driver.irq(irq);
  }

  /// y[i] = a * x[i] + y[i] for n elements; the arrays have the same addresses on every GPU.
  unsigned saxpy(unsigned n, float a, std::uint64_t x, std::uint64_t y) {
    heddle::launch_request request;
    request.kernel = "saxpy";
    request.grid[0] = 8;
    request.block[0] = 128;
    request.argument(n).argument(a).argument(x).argument(y);
    driver.check(request);
    return driver.launch(request);
  }
};

struct program : sc_core::sc_module {
  node first;
  node second;
  std::string ptx;
  bool right = false;

  program(sc_core::sc_module_name name, const heddle::gpu_config& one, const heddle::gpu_config& other,
          const std::string& text)
      : sc_module(name), first("first", one, 0x1000'0000), second("second", other, 0x8000'0000), ptx(text) {
    HEDDLE_HAS_PROCESS(program);
    SC_THREAD(run);
  }

  void run() {
    const unsigned n = 2048;
    first.driver.load_module(ptx, "saxpy.ptx");
    second.driver.load_module(ptx, "saxpy.ptx");
    // Each driver allocates from its own part of the memory; kernels may access only ranges that are mapped on their
    // GPU.
    const std::uint64_t x = first.driver.allocate(n * 4);
    const std::uint64_t y = first.driver.allocate(n * 4);
    second.driver.map(x, n * 4);
    second.driver.map(y, n * 4);
    std::vector<float> values(n);
    for (unsigned i = 0; i < n; ++i) values[i] = static_cast<float>(i);
    first.driver.write(x, values.data(), n * 4);

    // One GPU computes y = 2x, then the other y = 2x + 3x, which must read the results of the first.
    first.driver.wait_for(first.saxpy(n, 2.0f, x, y));
    second.driver.wait_for(second.saxpy(n, 3.0f, x, y));
    // Both at the same time, each on one half.
    const unsigned half = n / 2;
    const unsigned a = first.saxpy(half, 1.0f, x, y);
    const unsigned b = second.saxpy(half, 1.0f, x + half * 4, y + half * 4);
    first.driver.wait_for(a);
    second.driver.wait_for(b);

    first.driver.read(y, values.data(), n * 4);
    right = first.driver.fault().empty() && second.driver.fault().empty();
    for (unsigned i = 0; i < n; ++i) right = right && values[i] == 6.0f * static_cast<float>(i);
  }
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: two_gpus saxpy.ptx\n";
    return 2;
  }
  const unsigned channels = 4;
  program top("top", with_outside_memory("gtx1080", channels), with_outside_memory("v100", channels),
              cosim::text_file(argv[1]));
  cosim::at_dram dram("dram", 2 * channels);
  for (unsigned i = 0; i < channels; ++i) {
    top.first.gpu.memory_socket[i].bind(dram.port[i].socket);
    top.second.gpu.memory_socket[i].bind(dram.port[channels + i].socket);
  }
  sc_core::sc_clock clk("clk", 1.0, sc_core::SC_NS);
  top.first.gpu.clk(clk);

  // An external clock never stops, so the simulation needs a limit.
  while (!top.right && sc_core::sc_time_stamp() < sc_core::sc_time(1, sc_core::SC_MS))
    sc_core::sc_start(10, sc_core::SC_US);
  std::cout << (top.right ? "right" : "wrong") << " at " << sc_core::sc_time_stamp() << ", " << dram.accesses()
            << " accesses of the DRAM\n";
  return top.right ? 0 : 1;
}
