// SPDX-License-Identifier: MIT
// The power cap: a clock that changes its frequency, and a kernel that keeps to a power.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/energy/power_cap.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/metrics/collect.h"
#include "heddle/metrics/interval_sampler.h"
#include "heddle/metrics/json.h"
#include "heddle/tlm/kernel/clock_timing.h"
#include "heddle/tlm/kernel/state_image.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace power_cap_test {

using settings = std::vector<std::string>;

TEST(clock_timing_change, keeps_the_edges_before_it) {
  const clock_timing steady(1410);
  clock_timing c(1410);
  c.change(1000, 705);
  c.change(5000, 2820);
  EXPECT_EQ(c.frequency_mhz(), 2820);
  for (const cycle_t k : {cycle_t{0}, cycle_t{1}, cycle_t{999}, cycle_t{1000}})
    EXPECT_EQ(c.ticks_at(k), steady.ticks_at(k)) << k;
  // Twice as long, then half as long.
  EXPECT_EQ(c.ticks_at(1100), steady.ticks_at(1000) + clock_timing(705).ticks_at(100));
  EXPECT_EQ(c.ticks_at(5000), steady.ticks_at(1000) + clock_timing(705).ticks_at(4000));
  EXPECT_EQ(c.ticks_at(5003), c.ticks_at(5000) + clock_timing(2820).ticks_at(3));
}

TEST(clock_timing_change, finds_the_edge_at_or_before_any_time) {
  clock_timing c(1410);
  c.change(7, 333);
  c.change(12, 1989);
  c.change(12, 877);
  for (cycle_t k = 0; k < 40; ++k) {
    EXPECT_EQ(c.cycle_at(c.ticks_at(k)), k);
    EXPECT_EQ(c.cycle_at(c.ticks_at(k + 1) - 1), k);
    EXPECT_LT(c.ticks_at(k), c.ticks_at(k + 1));
  }
}

// Multiply-adds in a loop, and a load and a store for each iteration.
constexpr const char* busy_kernel = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry busy(.param .u64 p, .param .u32 turns) {
  .reg .f32 %f<6>;
  .reg .b64 %rd<4>;
  .reg .b32 %r<6>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  ld.param.u32 %r4, [turns];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r1, %r2, %r3, %r1;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  mov.f32 %f1, 0f3f800000;
  mov.f32 %f2, 0f3f800000;
  mov.f32 %f3, 0f3f800000;
turn:
  fma.rn.f32 %f1, %f1, %f1, %f1;
  fma.rn.f32 %f2, %f2, %f2, %f2;
  fma.rn.f32 %f3, %f3, %f3, %f3;
  fma.rn.f32 %f1, %f1, %f2, %f1;
  fma.rn.f32 %f2, %f2, %f3, %f2;
  fma.rn.f32 %f3, %f3, %f1, %f3;
  sub.u32 %r4, %r4, 1;
  setp.ne.u32 %p1, %r4, 0;
  @%p1 bra turn;
  ld.global.f32 %f4, [%rd3];
  add.f32 %f4, %f4, %f1;
  st.global.f32 [%rd3], %f4;
  ret;
}
)";

class power_cap_of_a_chip : public fresh_simulation {
 protected:
  static gpu_config chip(const settings& more) {
    settings all = {"gpu.sm_count=4", "memory.channels=2", "l2.size_bytes=65536", "energy.constant_watts=2"};
    all.insert(all.end(), more.begin(), more.end());
    return load_config("a100", all);
  }
  /// `state`: becomes that of the cap and the sampler, null: of no interest.
  static run_metrics run(const settings& more, bool ahead = true, unsigned threads = 1,
                         std::vector<std::uint8_t>* state = nullptr) {
    restart();
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
    const gpu_config config = chip(more);
    gpu g("gpu", config);
    const auto cap = config.energy.power_cap_watts > 0 ? std::make_unique<power_cap>(g) : nullptr;
    const power_ledger* ledger = cap != nullptr ? &cap->ledger() : nullptr;
    interval_sampler intervals(g, ledger);
    host_driver driver("driver", config);
    driver.host_socket.bind(g.host_socket);
    if (ahead) g.simulate_ahead(never >> 1, false);
    g.use_threads(threads);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    launch_request r;
    r.module = driver.load_module(busy_kernel, "busy.ptx");
    r.kernel = "busy";
    r.grid[0] = 32;
    r.block[0] = 256;
    r.argument(driver.allocate(65536));
    r.argument(std::uint32_t{400});
    driver.check(r);
    driver.launch(r);
    sc_core::sc_start();
    EXPECT_EQ(driver.fault(), "");
    g.check_invariants();
    if (state != nullptr) {
      state_image image;
      cap->exchange(image);
      intervals.exchange(image);
      *state = image.take();
    }
    run_metrics m = collect(g, ledger);
    intervals.fill(m);
    return m;
  }
  static const energy_metrics& of(const run_metrics& m) { return m.kernels.at(0).energy; }
  static std::string text(run_metrics m) {
    m.config = {};
    return to_json(m);
  }
};

TEST_F(power_cap_of_a_chip, limits_a_kernel_to_its_power) {
  const run_metrics free = run({});
  const double watts = of(free).mean_watts();
  EXPECT_FALSE(of(free).capped());
  const double cap = 2 + (watts - 2) * 0.6;
  const run_metrics m = run({"energy.power_cap_watts=" + std::to_string(cap)});
  EXPECT_TRUE(of(m).capped());
  // Once the first interval is over; the last ones have SMs that have ended. The kernel has bursts of its own.
  const std::size_t n = m.power.watts.size();
  ASSERT_GT(n, 40u);
  double joules = 0, seconds = 0;
  std::size_t over = 0;
  for (std::size_t i = 8; i < n - 6; ++i) {
    EXPECT_LT(m.power.clock_mhz[i], 1410);
    joules += m.power.joules[i];
    seconds += m.power.joules[i] / m.power.watts[i];
    over += m.power.watts[i] > cap * 1.02;
  }
  EXPECT_NEAR(joules / seconds / cap, 1, 0.02);
  EXPECT_LT(over, n / 4);
  EXPECT_LT(of(m).mean_clock_mhz, 1410);
  EXPECT_GT(of(m).throttled_cycles, m.kernels[0].cycles / 2);
  EXPECT_GT(of(m).seconds, of(free).seconds * 1.1);
  // The same work at a lower voltage.
  EXPECT_LT(of(m).total_joules - of(m).static_joules, of(free).total_joules - of(free).static_joules);
}

TEST_F(power_cap_of_a_chip, that_is_not_reached_changes_nothing) {
  const run_metrics free = run({}), m = run({"energy.power_cap_watts=1000"});
  EXPECT_EQ(m.kernels[0].cycles, free.kernels[0].cycles);
  EXPECT_EQ(of(m).throttled_cycles, 0u);
  EXPECT_EQ(of(m).mean_clock_mhz, 1410);
  EXPECT_DOUBLE_EQ(of(m).total_joules, of(free).total_joules);
  EXPECT_DOUBLE_EQ(of(m).seconds, of(free).seconds);
}

TEST_F(power_cap_of_a_chip, is_the_same_in_step_in_windows_and_on_threads) {
  const settings capped = {"energy.power_cap_watts=6", "energy.active_sm_watts=0.3", "energy.idle_sm_watts=0.1"};
  const std::string ahead = text(run(capped));
  EXPECT_NE(ahead.find("throttled_cycles"), std::string::npos);
  EXPECT_EQ(ahead, text(run(capped, false)));
  EXPECT_EQ(ahead, text(run(capped, true, 2)));
}

TEST_F(power_cap_of_a_chip, writes_the_state_that_it_has_read) {
  const settings capped = {"energy.power_cap_watts=6"};
  std::vector<std::uint8_t> state;
  run(capped, true, 1, &state);
  restart();
  const gpu_config config = chip(capped);
  gpu g("gpu", config);
  power_cap cap(g);
  interval_sampler intervals(g, &cap.ledger());
  state_image read(state), written;
  for (state_image* image : {&read, &written}) {
    cap.exchange(*image);
    intervals.exchange(*image);
  }
  EXPECT_TRUE(read.at_end());
  EXPECT_TRUE(written.take() == state);
  EXPECT_LT(cap.ledger().least_clock_mhz(0, 1'000'000), config.gpu.core_clock_mhz);
}

// At a steady clock: as long, and as many joules, as a chip whose clocks are that low from the start.
TEST_F(power_cap_of_a_chip, slows_all_but_the_device_memory) {
  const auto with = [](settings all, const settings& more) {
    all.insert(all.end(), more.begin(), more.end());
    return run(all);
  };
  // SMs that spend most at rest: nothing of it leaks, a part, all.
  for (const char* share : {"0", "0.3", "1"}) {
    const settings chip = {"energy.active_sm_watts=4", "energy.idle_sm_watts=1",
                           std::string("energy.leakage_share=") + share};
    // A cap that no clock keeps to: the least clock from the first decision on.
    const run_metrics m = with(
        chip, {"energy.power_cap_watts=2.01", "energy.least_clock_mhz=705", "energy.power_cap_interval_cycles=256"});
    const run_metrics low = with(chip, {"gpu.core_clock_mhz=705", "interconnect.clock_mhz=705"});
    EXPECT_NEAR(of(m).mean_clock_mhz, 705, 25);
    EXPECT_NEAR(of(m).seconds / of(low).seconds, 1, 0.03);
    EXPECT_NEAR(of(m).total_joules / of(low).total_joules, 1, 0.03);
    EXPECT_NEAR(of(m).static_joules / of(low).static_joules, 1, 0.03);
    EXPECT_NEAR(static_cast<double>(m.kernels[0].cycles) / static_cast<double>(low.kernels[0].cycles), 1, 0.01);
  }
}

TEST_F(power_cap_of_a_chip, adds_up) {
  const run_metrics m = run({"energy.power_cap_watts=6", "energy.active_sm_watts=0.3", "energy.idle_sm_watts=0.1"});
  double over_time = 0, lines = 0;
  for (const double j : m.power.joules) over_time += j;
  EXPECT_NEAR(over_time / m.energy.total_joules, 1, 1e-9);
  for (const line_metrics& l : m.kernels[0].lines) lines += l.joules;
  EXPECT_NEAR(lines / (of(m).total_joules - of(m).static_joules), 1, 1e-9);
}

TEST_F(power_cap_of_a_chip, needs_energies_and_the_dram_model) {
  const auto refusal = [](const settings& all) -> std::string {
    try {
      load_config("a100", all);
    } catch (const input_error& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_NE(refusal({"energy.power_cap_watts=100", "energy.account=false"}).find("expected energy.account = true"),
            std::string::npos);
  EXPECT_NE(refusal({"energy.power_cap_watts=54", "energy.constant_watts=54"}).find("more than energy.constant_watts"),
            std::string::npos);
  EXPECT_NE(refusal({"energy.power_cap_watts=100", "energy.least_clock_mhz=1411"})
                .find("expected energy.least_clock_mhz to be at most gpu.core_clock_mhz where there is a power cap"),
            std::string::npos);
  EXPECT_EQ(refusal({"energy.power_cap_watts=100", "energy.least_clock_mhz=1410"}), "");
  EXPECT_EQ(refusal({"gpu.core_clock_mhz=100"}), "") << "no cap";
  EXPECT_NE(refusal({"memory.model=fixed", "energy.power_cap_watts=100"}).find("expected memory.model = dram"),
            std::string::npos);
}

}  // namespace power_cap_test
}  // namespace heddle::test
