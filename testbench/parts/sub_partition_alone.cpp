// SPDX-License-Identifier: MIT
// One sub-partition without the SM around it: a supervisor places the warps and is notified of their end, and a custom
// load/store unit serves its memory instructions.
//
//   supervisor --calls--> partition --lsu_protocol--> own_load_store_unit
#include <heddle/heddle.h>
#include <heddle/sub_partition/sub_partition.h>

#include <iostream>
#include <vector>

#include "testbench/cosim/text_file.h"
#include "testbench/parts/own_load_store_unit.h"
#include "testbench/parts/saxpy_launch.h"

namespace {

using parts::x_array;
using parts::y_array;

/// Stands for the SM. Kernels without barriers and device runtime calls need no more of it.
struct supervisor : heddle::warp_supervisor {
  unsigned finished = 0;
  std::string fault;

  std::uint64_t warp_finished(unsigned, bool, std::uint64_t, heddle::cycle_t) override { return ++finished, 0; }
  void stores_settled(std::uint64_t, heddle::cycle_t) override {}
  void lanes_exited(unsigned, heddle::simt::lane_mask, heddle::cycle_t) override {}
  bool barrier_arrive(unsigned, const heddle::isa::instruction&, heddle::simt::lane_mask, heddle::cycle_t) override {
    program_fault("this testbench has no barriers");
    return false;
  }
  void warp_quiet(unsigned) override {}
  void program_fault(const std::string& text) override { fault = text; }
};

}  // namespace

int sc_main(int argc, char* argv[]) {
  if (argc != 2) {
    std::cerr << "usage: sub_partition_alone saxpy.ptx\n";
    return 2;
  }
  const heddle::gpu_config config = heddle::load_config("gtx1080", {"gpu.sm_count=1"});
  heddle::clock_domain clock("clock", config.gpu.core_clock_mhz);
  heddle::instruction_cache instructions({"instruction_cache"},
                                         heddle::instruction_cache::first_level(config.instruction_cache));
  supervisor warps;
  parts::own_load_store_unit memory("memory", clock, 200);
  heddle::sub_partition partition("partition", clock, config, 0, 0, instructions, warps);
  partition.lsu_socket.bind(memory.socket);

  // One block of eight warps, one for each of the first warp slots; every thread works on several elements.
  const std::uint32_t n = 3000, block_warps = 8;
  const float a = 2.5f;
  std::vector<float> x(n), y(n), result(n);
  for (std::uint32_t i = 0; i < n; ++i) x[i] = static_cast<float>(i), y[i] = static_cast<float>(n - i);
  memory.bytes.write(x_array, reinterpret_cast<const std::uint8_t*>(x.data()), n * 4);
  memory.bytes.write(y_array, reinterpret_cast<const std::uint8_t*>(y.data()), n * 4);
  const auto launch =
      parts::saxpy_launch(config, cosim::text_file(argv[1]), 1, block_warps * heddle::isa::warp_size, n, a);
  heddle::simt::block_context block;
  block.launch = launch.get();
  block.index = {0, 0, 0};
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  for (unsigned w = 0; w < block_warps; ++w) partition.place_warp(w, *launch, block, w, launch->program->registers, 1);
  sc_core::sc_start();

  memory.bytes.read(y_array, reinterpret_cast<std::uint8_t*>(result.data()), n * 4);
  bool right = warps.fault.empty() && warps.finished == block_warps && partition.idle();
  for (std::uint32_t i = 0; i < n; ++i) right = right && result[i] == a * x[i] + y[i];
  partition.check_invariants();
  const heddle::issue_counters& count = partition.account.counters.at(0);
  std::cout << (right ? "right" : "wrong") << " after " << clock.cycle() << " cycles, " << count.inst_executed
            << " instructions, " << memory.loads << " loads and " << memory.stores << " stores " << warps.fault << "\n";
  return right ? 0 : 1;
}
