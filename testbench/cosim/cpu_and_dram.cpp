// SPDX-License-Identifier: MIT
// A GPU in a platform: it shares a third-party DRAM model with a CPU. The CPU's software launches kernels through the
// registers and sleeps until the interrupt.
//
//   cpu --> lt_bus --> gpu.host_socket
//              \--> dram.port[0]          gpu.memory_socket[i] --> dram.port[1 + i]
#include <heddle/heddle.h>

#include <iostream>

#include "testbench/cosim/at_dram.h"
#include "testbench/cosim/cpu.h"
#include "testbench/cosim/lt_bus.h"
#include "testbench/cosim/text_file.h"

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: cpu_and_dram saxpy.ptx\n";
    return 2;
  }
  const heddle::gpu_config config = heddle::load_config("gtx1080", {"memory.model=external", "tlm.check=true"});
  heddle::gpu gpu("gpu", config);
  cosim::at_dram dram("dram", 1 + config.memory.channels);
  cosim::lt_bus bus("bus", 0x1000'0000);
  cosim::cpu cpu("cpu", cosim::text_file(argv[1]));
  sc_core::sc_signal<bool> irq("irq");

  cpu.bus.bind(bus.cpu);
  bus.gpu.bind(gpu.host_socket);
  bus.memory.bind(dram.port[0].socket);
  for (unsigned i = 0; i < config.memory.channels; ++i) gpu.memory_socket[i].bind(dram.port[1 + i].socket);
  gpu.irq(irq);
  cpu.irq(irq);

  sc_core::sc_start();
  std::cout << (cpu.finished() ? "finished" : "stuck") << " at " << sc_core::sc_time_stamp() << ", "
            << cpu.wrong_values() << " wrong values, " << dram.accesses() << " accesses of the DRAM, "
            << dram.row_hits() << " to open rows\n";
  return cpu.finished() && cpu.wrong_values() == 0 ? 0 : 1;
}
