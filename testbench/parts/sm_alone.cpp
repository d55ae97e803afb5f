// SPDX-License-Identifier: MIT
// One SM without the rest of a GPU: a custom CWD and a custom L2 at its two sockets.
//
//   own_cwd ==cta_protocol==> sm.resource_manager          sm.l1.memory_socket ==AT==> own_l2
#include <heddle/heddle.h>
#include <heddle/memory/common/address_ranges.h>
#include <heddle/sm/sm.h>

#include <iostream>
#include <vector>

#include "testbench/cosim/text_file.h"
#include "testbench/parts/own_cwd.h"
#include "testbench/parts/own_l2.h"
#include "testbench/parts/saxpy_launch.h"

using parts::x_array;
using parts::y_array;

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: sm_alone saxpy.ptx\n";
    return 2;
  }
  const heddle::gpu_config config = heddle::load_config("gtx1080", {"gpu.sm_count=1"});
  heddle::clock_domain clock("clock", config.gpu.core_clock_mhz);
  heddle::address_ranges mapped;
  mapped.add(x_array, 0x2'0000);
  heddle::sm sm("sm", clock, config, 0, mapped);
  parts::own_cwd cwd("cwd", 4, clock.time_of(config.cwd.dispatch_latency_cycles));
  parts::own_l2 l2("l2", clock, 240);
  cwd.cta_socket.bind(sm.resource_manager.cta_socket);
  sm.l1.memory_socket.bind(l2.socket);

  const std::uint32_t n = 5000;
  const float a = 1.5f;
  std::vector<float> x(n), y(n), result(n);
  for (std::uint32_t i = 0; i < n; ++i) x[i] = static_cast<float>(i), y[i] = static_cast<float>(n - i);
  l2.bytes.write(x_array, reinterpret_cast<const std::uint8_t*>(x.data()), n * 4);
  l2.bytes.write(y_array, reinterpret_cast<const std::uint8_t*>(y.data()), n * 4);
  const auto launch = parts::saxpy_launch(config, cosim::text_file(argv[1]), 12, 96, n, a);
  cwd.launch(launch);
  sc_core::sc_start();

  l2.bytes.read(y_array, reinterpret_cast<std::uint8_t*>(result.data()), n * 4);
  bool right = cwd.fault().empty() && cwd.completed() == launch->grid.count() && sm.idle();
  for (std::uint32_t i = 0; i < n; ++i) right = right && result[i] == a * x[i] + y[i];
  sm.check_invariants();
  std::cout << (right ? "right" : "wrong") << " after " << clock.cycle() << " cycles, " << cwd.completed()
            << " blocks, " << l2.reads << " reads and " << l2.writes << " writes of the L2 " << cwd.fault() << "\n";
  return right ? 0 : 1;
}
