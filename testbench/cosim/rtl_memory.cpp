// SPDX-License-Identifier: MIT
// A memory controller in Verilog, verilated to SystemC, behind the GPU's memory socket:
//
//   gpu.memory_socket[0] --> pin_bridge ==pins==> memory_controller (RTL) ==pins==> pin_storage
#include <heddle/heddle.h>
#include <heddle/tlm/kernel/has_process.h>

#include <iostream>
#include <vector>

#include "Vmemory_controller.h"
#include "testbench/cosim/pin_bridge.h"
#include "testbench/cosim/pin_storage.h"
#include "testbench/cosim/text_file.h"

namespace {

template <class T>
using signal = sc_core::sc_signal<T>;

/// The controller between bridge and storage, and the signals that connect them.
struct rtl_memory : sc_core::sc_module {
  sc_core::sc_in<bool> clk{"clk"};
  cosim::pin_storage storage{"storage"};
  cosim::pin_bridge bridge{"bridge", storage.bytes};
  Vmemory_controller controller{"controller"};
  signal<bool> reset{"reset"}, request_valid{"request_valid"}, request_ready{"request_ready"},
      request_write{"request_write"}, response_valid{"response_valid"}, enable{"enable"}, write{"write"};
  signal<std::uint32_t> request_word{"request_word"}, request_strobe{"request_strobe"}, word{"word"}, strobe{"strobe"};
  signal<std::uint64_t> request_data{"request_data"}, response_data{"response_data"}, data{"data"},
      read_data{"read_data"};

  explicit rtl_memory(sc_core::sc_module_name name) : sc_module(name) {
    const auto join = [](auto& wire, auto& one, auto& other) {
      one(wire);
      other(wire);
    };
    bridge.clk(clk);
    storage.clk(clk);
    controller.clk(clk);
    controller.reset(reset);
    join(request_valid, bridge.request_valid, controller.request_valid);
    join(request_ready, bridge.request_ready, controller.request_ready);
    join(request_write, bridge.request_write, controller.request_write);
    join(request_word, bridge.request_word, controller.request_word);
    join(request_data, bridge.request_data, controller.request_data);
    join(request_strobe, bridge.request_strobe, controller.request_strobe);
    join(response_valid, bridge.response_valid, controller.response_valid);
    join(response_data, bridge.response_data, controller.response_data);
    join(enable, storage.enable, controller.storage_enable);
    join(write, storage.write, controller.storage_write);
    join(word, storage.word, controller.storage_word);
    join(data, storage.data, controller.storage_data);
    join(strobe, storage.strobe, controller.storage_strobe);
    join(read_data, storage.read_data, controller.storage_read_data);
    HEDDLE_HAS_PROCESS(rtl_memory);
    SC_THREAD(power_up);
  }

  void power_up() {
    reset.write(true);
    for (int i = 0; i < 4; ++i) wait(clk.posedge_event());
    reset.write(false);
  }
};

struct program : sc_core::sc_module {
  heddle::host_driver driver;
  std::string ptx;
  bool finished = false;
  bool right = false;

  program(sc_core::sc_module_name name, const heddle::gpu_config& config, const std::string& text)
      : sc_module(name), driver("driver", config), ptx(text) {
    HEDDLE_HAS_PROCESS(program);
    SC_THREAD(run);
  }

  void run() {
    wait(100, sc_core::SC_NS);  // the controller's reset
    const unsigned n = 512;
    const float a = 3.0f;
    std::vector<float> x(n), y(n);
    for (unsigned i = 0; i < n; ++i) x[i] = static_cast<float>(i), y[i] = static_cast<float>(i % 17);
    heddle::launch_request request;
    request.module = driver.load_module(ptx, "saxpy.ptx");
    request.kernel = "saxpy";
    request.grid[0] = 2;
    request.block[0] = 128;
    const std::uint64_t px = driver.allocate(n * 4), py = driver.allocate(n * 4);
    driver.write(px, x.data(), n * 4);
    driver.write(py, y.data(), n * 4);
    driver.wait_for(driver.launch(request.argument(n).argument(a).argument(px).argument(py)));
    std::vector<float> result(n);
    driver.read(py, result.data(), n * 4);
    right = driver.fault().empty();
    for (unsigned i = 0; i < n; ++i) right = right && result[i] == a * x[i] + y[i];
    finished = true;
  }
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: rtl_memory saxpy.ptx\n";
    return 2;
  }
  const heddle::gpu_config config = heddle::load_config(
      "gtx1080", {"gpu.sm_count=2", "memory.model=external", "memory.channels=1", "tlm.check=true"});
  heddle::gpu gpu("gpu", config);
  program host("host", config, cosim::text_file(argv[1]));
  rtl_memory memory("memory");
  sc_core::sc_clock clk("clk", 2.0, sc_core::SC_NS);
  sc_core::sc_signal<bool> irq("irq");
  memory.clk(clk);
  gpu.memory_socket[0].bind(memory.bridge.socket);
  host.driver.host_socket.bind(gpu.host_socket);
  gpu.irq(irq);
  host.driver.irq(irq);

  while (!host.finished && sc_core::sc_time_stamp() < sc_core::sc_time(1, sc_core::SC_MS))
    sc_core::sc_start(1, sc_core::SC_US);
  std::cout << (host.right ? "right" : "wrong") << " at " << sc_core::sc_time_stamp() << ", " << memory.bridge.beats()
            << " beats through the RTL\n";
  memory.controller.final();
  return host.right && memory.bridge.beats() > 0 ? 0 : 1;
}
