// SPDX-License-Identifier: MIT
// A custom machine of Heddle's modules and others: two SMs, the crossbar and two L2 slices are Heddle's; the CWDs (one
// for each SM, with half of the grid each) and the DRAM are not.
//
//   own_cwd[i] ==cta_protocol==> sm[i] ==AT==> interconnect ==AT==> l2_slice[m] ==AT==> dram.port[m]
#include <heddle/gpu/path_latency.h>
#include <heddle/heddle.h>
#include <heddle/memory/common/address_ranges.h>
#include <heddle/memory/l2/l2_slice.h>
#include <heddle/memory/noc/interconnect.h>
#include <heddle/memory/protocol/protocol_monitor.h>
#include <heddle/sm/sm.h>

#include <iostream>
#include <vector>

#include "testbench/cosim/at_dram.h"
#include "testbench/cosim/text_file.h"
#include "testbench/parts/own_cwd.h"
#include "testbench/parts/saxpy_launch.h"

namespace {

using parts::x_array;
using parts::y_array;

constexpr unsigned sms = 2, channels = 2;

struct machine : sc_core::sc_module, heddle::flush_observer {
  heddle::clock_domain core, l2_clock;
  heddle::address_ranges mapped;
  sc_core::sc_vector<parts::own_cwd> cwd{"cwd"};
  sc_core::sc_vector<heddle::sm> sm{"sm"};
  heddle::interconnect crossbar;
  sc_core::sc_vector<heddle::l2_slice> l2{"l2"};
  sc_core::sc_vector<heddle::protocol_monitor> monitor{"monitor", channels};
  cosim::at_dram dram{"dram", channels};
  unsigned flushed_slices = 0;

  void flushed() override { ++flushed_slices; }

  machine(sc_core::sc_module_name name, const heddle::gpu_config& c)
      : sc_module(name),
        core("core_clock", c.gpu.core_clock_mhz),
        l2_clock("l2_clock", c.interconnect.clock_mhz),
        crossbar("crossbar", l2_clock, c) {
    mapped.add(x_array, 0x2'0000);
    cwd.init(sms, [&](const char* n, std::size_t) {
      return new parts::own_cwd(n, 3, core.time_of(c.cwd.dispatch_latency_cycles));
    });
    sm.init(sms,
            [&](const char* n, std::size_t i) { return new heddle::sm(n, core, c, static_cast<unsigned>(i), mapped); });
    l2.init(channels, [&](const char* n, std::size_t m) {
      return new heddle::l2_slice(n, l2_clock, c, static_cast<unsigned>(m), heddle::l2_hit_cycles(c),
                                  heddle::l2_code_hit_cycles(c));
    });
    for (unsigned i = 0; i < sms; ++i) {
      cwd[i].cta_socket.bind(sm[i].resource_manager.cta_socket);
      sm[i].l1.memory_socket.bind(crossbar.sm_socket[i]);
    }
    for (unsigned m = 0; m < channels; ++m) {
      crossbar.slice_socket[m].bind(l2[m].request_socket);
      l2[m].memory_socket.bind(monitor[m].target_socket);
      monitor[m].initiator_socket.bind(dram.port[m].socket);
    }
  }
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: own_machine saxpy.ptx\n";
    return 2;
  }
  const heddle::gpu_config config = heddle::load_config(
      "gtx1080", {"gpu.sm_count=2", "memory.channels=2", "l2.size_bytes=262144", "memory.model=external"});
  machine top("top", config);
  const std::uint32_t n = 6000, blocks = 16;
  const float a = -2.0f;
  std::vector<float> x(n), y(n), result(n);
  for (std::uint32_t i = 0; i < n; ++i) x[i] = static_cast<float>(i % 50), y[i] = static_cast<float>(i);
  top.dram.bytes.write(x_array, reinterpret_cast<const std::uint8_t*>(x.data()), n * 4);
  top.dram.bytes.write(y_array, reinterpret_cast<const std::uint8_t*>(y.data()), n * 4);
  const auto launch = parts::saxpy_launch(config, cosim::text_file(argv[1]), blocks, 128, n, a);
  for (unsigned i = 0; i < sms; ++i) top.cwd[i].launch(launch, i * blocks / sms, blocks / sms);
  sc_core::sc_start();
  // Results stay in the L2 until it is flushed to the DRAM.
  for (auto& slice : top.l2) slice.flush(top);
  sc_core::sc_start();

  top.dram.bytes.read(y_array, reinterpret_cast<std::uint8_t*>(result.data()), n * 4);
  bool right = top.flushed_slices == channels;
  for (std::uint32_t i = 0; i < n; ++i) right = right && result[i] == a * x[i] + y[i];
  for (unsigned i = 0; i < sms; ++i) {
    right = right && top.cwd[i].completed() == blocks / sms && top.cwd[i].fault().empty() && top.sm[i].idle();
    top.sm[i].check_invariants();
  }
  for (unsigned m = 0; m < channels; ++m) {
    right = right && !top.monitor[m].violated() && top.monitor[m].transactions() > 0;
    top.l2[m].check_invariants();
  }
  top.crossbar.check_invariants();
  std::cout << (right ? "right" : "wrong") << " after " << top.core.cycle() << " cycles, " << top.dram.accesses()
            << " accesses of the DRAM\n";
  return right ? 0 : 1;
}
