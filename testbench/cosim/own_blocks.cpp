// SPDX-License-Identifier: MIT
// GPUs with custom blocks inside, without a change of the library: the CWD, the L2, the DRAM or only its scheduler,
// the warp scheduler, and all of them together. All must compute the same product, each in its own number of cycles.
#include <heddle/gpu/gpu_blocks.h>
#include <heddle/heddle.h>

#include <deque>
#include <iostream>
#include <set>

#include "testbench/cosim/backwards_cwd.h"
#include "testbench/cosim/bank_after_bank.h"
#include "testbench/cosim/even_memory.h"
#include "testbench/cosim/least_issued.h"
#include "testbench/cosim/matrix_product.h"
#include "testbench/cosim/text_file.h"
#include "testbench/cosim/transparent_l2.h"

namespace {

/// The factories of the blocks, as gpu_blocks takes them.
heddle::gpu_blocks all_own() {
  heddle::gpu_blocks own;
  own.cwd = [](const char* name, heddle::clock_domain& clock, const heddle::gpu_config& config,
               heddle::grid_observer& observer) {
    return std::make_unique<cosim::backwards_cwd>(name, clock, config, observer);
  };
  own.l2_slice = [](const char* name, heddle::clock_domain&, const heddle::gpu_config&, unsigned) {
    return std::make_unique<cosim::transparent_l2>(name);
  };
  own.memory_channel = [](const char* name, heddle::clock_domain& clock, const heddle::gpu_config& config,
                          unsigned index) {
    return std::make_unique<cosim::even_memory>(name, clock, config, index, 400, 20);
  };
  own.channel_scheduler = [](const heddle::gpu_config&) { return std::make_unique<cosim::bank_after_bank>(); };
  own.scheduler = [](const heddle::gpu_config&, const heddle::scheduler_place&) {
    return std::make_unique<cosim::least_issued>();
  };
  return own;
}

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: own_blocks sgemm.ptx\n";
    return 2;
  }
  const std::string ptx = cosim::text_file(argv[1]);
  const heddle::gpu_config config = heddle::load_config("gtx1080", {"gpu.sm_count=2", "tlm.check=true"});
  const heddle::gpu_blocks all = all_own();
  heddle::gpu_blocks cwd, l2, dram, channel_scheduler, scheduler;
  cwd.cwd = all.cwd;
  l2.l2_slice = all.l2_slice;
  dram.memory_channel = all.memory_channel;
  channel_scheduler.channel_scheduler = all.channel_scheduler;
  scheduler.scheduler = all.scheduler;

  // All GPUs are in one simulation, so one run compares them.
  std::deque<cosim::matrix_product> gpus;
  gpus.emplace_back("plain", config, ptx);
  gpus.emplace_back("own_cwd", config, ptx, cwd);
  gpus.emplace_back("own_l2", config, ptx, l2);
  gpus.emplace_back("own_dram", config, ptx, dram);
  gpus.emplace_back("own_dram_scheduler", config, ptx, channel_scheduler);
  gpus.emplace_back("own_scheduler", config, ptx, scheduler);
  gpus.emplace_back("all_own", config, ptx, all);
  sc_core::sc_start();

  bool right = true;
  std::set<sc_core::sc_time> times;
  for (const cosim::matrix_product& g : gpus) {
    g.gpu.check_invariants();
    std::cout << g.basename() << ": " << (g.right ? "right" : "wrong") << " after " << g.ended << "\n";
    right = right && g.right && g.gpu.idle();
    times.insert(g.ended);
  }
  return right && times.size() == gpus.size() ? 0 : 1;
}
