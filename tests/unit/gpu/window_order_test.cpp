// SPDX-License-Identifier: MIT
// A whole GPU whose SMs are simulated ahead: no metric and no byte depends on windows, on the order in which outboxes
// are applied, or on the number of host threads.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/metrics/collect.h"
#include "heddle/metrics/json.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace window_order_test {

// Loads that miss, atomics on words that all SMs share, stores: the time of each access depends on those of other SMs.
constexpr const char* contended = R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry contended(.param .u64 p, .param .u64 q) {
  .reg .pred %more;
  .reg .b32 %r<12>;
  .reg .b64 %d<8>;
  ld.param.u64 %d1, [p];
  ld.param.u64 %d2, [q];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  mad.lo.u32 %r3, %r1, 96, %r2;
  mov.u32 %r4, 0;
again:
  mad.lo.u32 %r3, %r3, 1664525, 1013904223;
  shr.u32 %r5, %r3, 20;
  mul.wide.u32 %d3, %r5, 32;
  add.u64 %d4, %d1, %d3;
  ld.global.u32 %r6, [%d4];
  and.b32 %r7, %r5, 15;
  mul.wide.u32 %d5, %r7, 128;
  add.u64 %d6, %d2, %d5;
  atom.global.add.u32 %r8, [%d6], %r6;
  and.b32 %r9, %r8, 1;
  add.u32 %r3, %r3, %r9;
  st.global.u32 [%d4+4], %r1;
  add.u32 %r4, %r4, 1;
  setp.lt.u32 %more, %r4, 4;
  @%more bra again;
  ret;
}
)";
constexpr std::uint64_t table_bytes = 4096 * 32;

struct way_to_run {
  bool ahead = true;
  std::uint64_t seed = 0;  // 0: outboxes are not shuffled
  unsigned threads = 1;
};

class window_order : public fresh_simulation {
 protected:
  /// The metrics and the bytes of memory after the kernel.
  static std::string results(const std::string& gpu_name, const std::vector<std::string>& settings,
                             const way_to_run& w) {
    restart();
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
    const gpu_config config = load_config(gpu_name, settings);
    gpu g("gpu", config);
    host_driver driver("driver", config);
    driver.host_socket.bind(g.host_socket);
    if (w.ahead) g.simulate_ahead(~std::uint64_t{0} >> 1, false);
    EXPECT_EQ(simulates_ahead(g), w.ahead);
    g.use_threads(w.threads);
    if (w.seed != 0) g.core_clock().shuffle_outboxes(w.seed);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    launch_request r;
    r.module = driver.load_module(contended, "contended.ptx");
    r.kernel = "contended";
    r.grid[0] = 60;
    r.block[0] = 96;
    const std::uint64_t table = driver.allocate(table_bytes), sums = driver.allocate(4096);
    driver.fill(table, 3, table_bytes);
    driver.fill(sums, 0, 4096);
    r.argument(table).argument(sums);
    driver.check(r);
    driver.launch(r);
    sc_core::sc_start();
    g.check_invariants();
    EXPECT_EQ(driver.fault(), "");
    EXPECT_TRUE(driver.finished(0));
    std::string all = to_json(collect(g));
    std::vector<char> bytes(table_bytes);
    driver.read(table, bytes.data(), table_bytes);
    all.append(bytes.begin(), bytes.end());
    driver.read(sums, bytes.data(), 4096);
    return all.append(bytes.begin(), bytes.begin() + 4096);
  }
};

// The second chip has full queues, so that requests wait in front of the interconnect.
const std::vector<std::pair<std::string, std::vector<std::string>>> chips = {
    {"v100", {"gpu.sm_count=10"}},
    {"gtx1080", {"gpu.sm_count=6", "interconnect.input_queue_entries=1", "memory.channels=2", "l2.size_bytes=262144"}}};

TEST_F(window_order, outboxes_in_another_order_change_no_result) {
  for (const auto& [name, settings] : chips) {
    const std::string in_step = results(name, settings, {false, 0, 1});
    EXPECT_TRUE(in_step == results(name, settings, {true, 0, 1})) << name;
    for (const std::uint64_t seed : {1u, 5u, 9u})
      for (const bool ahead : {false, true})
        EXPECT_TRUE(in_step == results(name, settings, {ahead, seed, 1})) << name << ", seed " << seed;
  }
}

TEST_F(window_order, threads_change_no_result) {
  for (const auto& [name, settings] : chips) {
    const std::string alone = results(name, settings, {true, 0, 1});
    for (const unsigned threads : {2u, 3u, 5u, 8u})
      EXPECT_TRUE(alone == results(name, settings, {true, threads, threads})) << name << ", " << threads << " threads";
  }
}

}  // namespace window_order_test
}  // namespace heddle::test
