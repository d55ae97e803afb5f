// SPDX-License-Identifier: MIT
// The CWD between a custom host and stand-ins for three SMs. The host submits a long grid and, while it runs, a grid
// of higher priority that has to overtake it, and is notified of the end of each grid.
//
//   host --calls--> cwd.cta_socket[i] ==cta_protocol==> own_sm[i]
#include <heddle/gpu/cwd/compute_work_distributor.h>
#include <heddle/heddle.h>

#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "testbench/cosim/text_file.h"
#include "testbench/parts/own_sm.h"
#include "testbench/parts/saxpy_launch.h"

namespace {

struct host : heddle::grid_observer {
  std::vector<std::uint32_t> finished;
  std::string fault;
  void grid_finished(const heddle::grid_record& grid, heddle::cycle_t) override {
    finished.push_back(grid.launch->launch_id);
  }
  void program_fault(const std::string& text) override { fault = text; }
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: cwd_alone saxpy.ptx\n";
    return 2;
  }
  const unsigned sms = 3, threads = 256;
  const heddle::gpu_config config = heddle::load_config("gtx1080", {"gpu.sm_count=" + std::to_string(sms)});
  heddle::clock_domain clock("clock", config.gpu.core_clock_mhz);
  host observer;
  heddle::compute_work_distributor cwd("cwd", clock, config, observer);
  // Blocks stay between 2 and 4 us, depending on their number.
  const auto stay = [](const heddle::cta_transaction& block) {
    return sc_core::sc_time(2.0 + block.block * 7 % 5 * 0.5, sc_core::SC_US);
  };
  std::vector<std::unique_ptr<parts::own_sm>> on;
  for (unsigned i = 0; i < sms; ++i) {
    on.push_back(std::make_unique<parts::own_sm>(("sm" + std::to_string(i)).c_str(), stay,
                                                 clock.time_of(config.cwd.dispatch_latency_cycles)));
    cwd.cta_socket[i].bind(on[i]->cta_socket);
  }

  const std::string ptx = cosim::text_file(argv[1]);
  const auto grid = [&](std::uint32_t id, std::uint32_t blocks, std::int32_t priority) {
    auto launch = parts::saxpy_launch(config, ptx, blocks, threads, 0, 0.0f);
    launch->launch_id = launch->stream = id;
    launch->priority = priority;
    return launch;
  };
  const std::uint32_t long_grid = 100, urgent_grid = 12;
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  cwd.submit(grid(0, long_grid, 0));
  sc_core::sc_start(3, sc_core::SC_US);
  cwd.submit(grid(1, urgent_grid, 5));
  sc_core::sc_start();

  cwd.check_invariants();
  unsigned blocks = 0, most = 0;
  bool right = observer.fault.empty() && cwd.idle();
  for (const auto& s : on) {
    for (const auto& block : s->ended) right = right && block.second == 1;
    blocks += static_cast<unsigned>(s->ended.size());
    most = std::max(most, s->most_resident);
    right = right && s->resident == 0 && s->misunderstood == 0;
  }
  // Registers and shared memory do not limit the blocks of an SM; its threads do.
  right = right && blocks == long_grid + urgent_grid && most == config.sm.max_threads / threads;
  right = right && observer.finished == std::vector<std::uint32_t>{1, 0};
  std::cout << (right ? "right" : "wrong") << ", " << blocks << " blocks, at most " << most
            << " on an SM, the urgent grid from " << cwd.grids()[1].start_cycle << " to " << cwd.grids()[1].end_cycle
            << ", the other one from " << cwd.grids()[0].start_cycle << " to " << cwd.grids()[0].end_cycle << "\n";
  return right ? 0 : 1;
}
