// SPDX-License-Identifier: MIT
// Three hosts behind AXI buses of 32, 64 and 128 bits, each with a GPU: all registers and all of device memory are
// accessed in beats of the bus, narrower ones too, through bridges that drop the response status. At the end a reset by
// the pin takes the hosts' kernels, and they begin anew.
//
//   driver --> width_adapter --> axi_path --> width_adapter --> gpu.host_socket
#include <heddle/heddle.h>
#include <heddle/tlm/kernel/has_process.h>
#include <heddle/tlm/port/width_adapter.h>

#include <iostream>
#include <string>

#include "testbench/cosim/text_file.h"
#include "testbench/standards/axi_path.h"
#include "testbench/standards/saxpy_host.h"

namespace {

template <unsigned bits>
struct host : sc_core::sc_module {
  heddle::gpu gpu;
  heddle::host_driver driver;
  heddle::width_adapter<32, bits> to_bus{"to_bus"};
  standards::axi_path<bits> bus{"bus"};
  heddle::width_adapter<bits, 32> from_bus{"from_bus"};
  sc_core::sc_signal<bool> irq{"irq"};
  sc_core::sc_signal<bool> reset{"reset"};
  std::string ptx;
  unsigned right = 0;
  bool was_lost = false;

  host(sc_core::sc_module_name name, const heddle::gpu_config& config, std::string text)
      : sc_module(name), gpu("gpu", config), driver("driver", config), ptx(std::move(text)) {
    driver.host_socket.bind(to_bus.target_socket);
    to_bus.initiator_socket.bind(bus.target);
    bus.initiator.bind(from_bus.target_socket);
    from_bus.initiator_socket.bind(gpu.host_socket);
    gpu.irq(irq);
    driver.irq(irq);
    gpu.reset(reset);
    bus.beat_time = sc_core::sc_time(2, sc_core::SC_NS);
    HEDDLE_HAS_PROCESS(host);
    SC_THREAD(run);
    SC_THREAD(reset_gpu);
  }

  // Beats as wide as the bus, then narrower ones, down to single bytes.
  void run() {
    driver.load_module(ptx, "saxpy.ptx");
    for (unsigned beat = bits / 8; beat != 0; beat /= 2) {
      bus.beat_bytes = beat;
      right += standards::saxpy_is_right(driver, 1001, static_cast<float>(beat));
    }
    reset_is_due.notify(sc_core::SC_ZERO_TIME);
    bus.beat_bytes = bits / 8;
    try {
      for (;;) static_cast<void>(standards::saxpy_is_right(driver, 1001, 1.0f));
    } catch (const heddle::context_lost&) {
      was_lost = true;
    }
    recover(driver);
    driver.load_module(ptx, "saxpy.ptx");
    right += standards::saxpy_is_right(driver, 1001, 3.0f);
  }
  void reset_gpu() {
    wait(reset_is_due);
    wait(10, sc_core::SC_US);
    reset.write(true);
    wait(1, sc_core::SC_US);
    reset.write(false);
  }
  sc_core::sc_event reset_is_due;

  /// Whether all runs gave the right bytes.
  [[nodiscard]] bool report() const {
    unsigned runs = 1;  // that after the reset
    for (unsigned beat = bits / 8; beat != 0; beat /= 2) ++runs;
    std::cout << bits << " bits: " << right << " of " << runs << " runs right, " << bus.beats << " beats, "
              << bus.refused << " refused, " << (was_lost ? "the reset was noticed\n" : "the reset was not noticed\n");
    return right == runs && was_lost && bus.refused == 0;
  }
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: axi_host saxpy.ptx\n";
    return 2;
  }
  const heddle::gpu_config config = heddle::load_config("gtx1080", {"gpu.sm_count=2", "memory.model=fixed"});
  const std::string ptx = cosim::text_file(argv[1]);
  host<32> narrow("narrow", config, ptx);
  host<64> middle("middle", config, ptx);
  host<128> wide("wide", config, ptx);
  sc_core::sc_start();
  const bool good[] = {narrow.report(), middle.report(), wide.report()};
  return good[0] && good[1] && good[2] ? 0 : 1;
}
