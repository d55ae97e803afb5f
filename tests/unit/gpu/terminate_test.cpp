// SPDX-License-Identifier: MIT
// Launches that the host ends at any time: what else runs or comes later gives the right bytes.
#include <algorithm>
#include <iterator>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/gpu/cwd/grid_distributor.h"
#include "heddle/metrics/collect.h"
#include "tests/unit/common/fresh_simulation.h"
#include "tests/unit/memory/memory_stress.h"

namespace heddle::test {
namespace terminate_test {

// Never ends; with barriers and accesses on the way.
constexpr const char* endless_ptx = R"(
.version 7.0
.target sm_50
.address_size 64
.visible .entry endless(.param .u64 a)
{
  .reg .u64 %a, %at;
  .reg .u32 %v, %t;
  .shared .align 4 .b8 s[512];
  ld.param.u64 %a, [a];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %at, %t, 4;
  add.u64 %at, %at, %a;
again:
  ld.global.u32 %v, [%at];
  add.u32 %v, %v, 1;
  st.global.u32 [%at], %v;
  st.shared.u32 [s], %v;
  bar.sync 0;
  bra again;
}
)";

// The same in clusters, whose blocks wait for each other and write to each other's shared memory.
constexpr const char* endless_cluster_ptx = R"(
.version 7.8
.target sm_90
.address_size 64
.visible .entry endless(.param .u64 a)
{
  .reg .u64 %a, %at;
  .reg .u32 %v, %t, %to, %rank;
  .shared .align 4 .b8 s[512];
  ld.param.u64 %a, [a];
  mov.u32 %t, %tid.x;
  mul.wide.u32 %at, %t, 4;
  add.u64 %at, %at, %a;
  mov.u32 %rank, %cluster_ctarank;
  xor.b32 %rank, %rank, 1;
  mov.u32 %to, s;
  mapa.shared::cluster.u32 %to, %to, %rank;
again:
  ld.global.u32 %v, [%at];
  add.u32 %v, %v, 1;
  st.global.u32 [%at], %v;
  st.shared::cluster.u32 [%to], %v;
  atom.shared::cluster.add.u32 %v, [%to+4], 1;
  barrier.cluster.arrive;
  barrier.cluster.wait;
  bra again;
}
)";

gpu_config small(const std::string& chip, std::vector<std::string> more = {}) {
  std::vector<std::string> settings{"gpu.sm_count=2", "memory.channels=2", "l2.size_bytes=61440"};
  settings.insert(settings.end(), more.begin(), more.end());
  return load_config(chip, settings);
}

class end_of_a_launch_by_the_host : public fresh_simulation {
 protected:
  /// An endless launch of so many blocks.
  static unsigned begin_endless(stressed_gpu& g, unsigned blocks, std::uint32_t stream, unsigned cluster = 1) {
    launch_request r;
    r.module = g.driver.load_module(cluster == 1 ? endless_ptx : endless_cluster_ptx, "endless.ptx");
    r.kernel = "endless";
    r.grid[0] = blocks;
    r.block[0] = 64;
    r.stream = stream;
    if (cluster != 1) std::fill_n(std::begin(r.cluster.blocks), 3, 1), r.cluster.blocks[0] = cluster;
    r.argument(g.driver.allocate(256));
    return g.driver.launch(r);
  }
  static void run_for_cycles(stressed_gpu& g, cycle_t cycles) {
    sc_core::sc_start(g.gpu.core_clock().time_of(g.gpu.cycle() + cycles) - sc_core::sc_time_stamp());
  }
  static void at_random_cycles(stressed_gpu& g, unsigned cluster = 1) {
    constexpr stress_size size{6, 64, 3};
    const stress_result right = stress_expected(size);
    std::mt19937 random(7);
    for (unsigned turn = 0; turn < 25; ++turn) {
      // More blocks than fit, beside the other kernel or before it in its stream.
      const unsigned blocks = turn % 3 == 0 ? 1000 : 1 + random() % 20;
      const unsigned endless = begin_endless(g, blocks * cluster, turn % 2, cluster);
      run_for_cycles(g, 1 + random() % 3000);
      g.start(size);
      run_for_cycles(g, 1 + random() % 3000);
      if (turn % 5 == 2) g.driver.preempt({}, preemption_mode::context_switch, random() % 2000);
      run_for_cycles(g, 1 + random() % 500);
      EXPECT_FALSE(g.driver.finished(endless));
      terminate(g.driver, endless);
      terminate(g.driver, endless);  // once more has no effect
      sc_core::sc_start();
      ASSERT_EQ(g.driver.fault(), "") << turn;
      EXPECT_TRUE(g.driver.finished(endless)) << turn;
      EXPECT_TRUE(g.finished()) << turn;
      EXPECT_TRUE(g.result() == right) << turn;
      EXPECT_TRUE(g.gpu.idle()) << turn;
      EXPECT_TRUE(g.gpu.cwd().grids()[endless].abandoned) << turn;
      EXPECT_FALSE(g.gpu.cwd().grids().back().abandoned) << turn;
      g.gpu.check_invariants();
    }
    EXPECT_EQ(g.gpu.cwd().blocks_completed(), g.gpu.cwd().blocks_submitted());
    const run_metrics m = collect(g.gpu);
    EXPECT_EQ(m.kernels[0].failed, "the host has ended it");
    std::set<std::uint64_t> launches;
    for (const kernel_metrics& k : m.kernels) launches.insert(k.launch);
    EXPECT_EQ(launches.size(), m.kernels.size()) << "each once";
  }
};

TEST_F(end_of_a_launch_by_the_host, at_random_cycles_harms_no_other) {
  stressed_gpu g("gpu", small("gtx1080"));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  at_random_cycles(g);
}

TEST_F(end_of_a_launch_by_the_host, while_sms_are_simulated_ahead) {
  stressed_gpu g("gpu", small("v100"));
  g.gpu.simulate_ahead(~cycle_t{0} >> 1, true);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  at_random_cycles(g);
}

// All blocks of a cluster leave in one cycle, when none accesses another one's memory.
TEST_F(end_of_a_launch_by_the_host, of_clusters_at_random_cycles) {
  stressed_gpu g("gpu", small("h100"));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  at_random_cycles(g, 2);
}

TEST_F(end_of_a_launch_by_the_host, of_clusters_while_sms_are_simulated_ahead) {
  stressed_gpu g("gpu", small("h100"));
  g.gpu.simulate_ahead(~cycle_t{0} >> 1, true);
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  at_random_cycles(g, 2);
}

TEST_F(end_of_a_launch_by_the_host, needs_the_number_of_a_launch) {
  stressed_gpu g("gpu", small("gtx1080"));
  sc_core::sc_start(sc_core::SC_ZERO_TIME);
  try {
    terminate(g.driver, 3);
    ADD_FAILURE() << "a launch that has not begun was ended";
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find("launch 3 cannot be ended: 0 have begun"), std::string::npos) << e.what();
  }
  g.start({2, 64, 2});
  sc_core::sc_start();
  terminate(g.driver, 0);  // it has ended: no effect
  sc_core::sc_start();
  EXPECT_TRUE(g.finished());
  EXPECT_FALSE(g.gpu.cwd().grids()[0].abandoned);
}

}  // namespace terminate_test
}  // namespace heddle::test
