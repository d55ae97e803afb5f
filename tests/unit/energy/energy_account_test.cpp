// SPDX-License-Identifier: MIT
// Energies of small kernels against joules computed by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/error.h"
#include "heddle/config/parameter_table.h"
#include "heddle/energy/energy_account.h"
#include "heddle/energy/energy_prices.h"
#include "heddle/gpu/gpu.h"
#include "heddle/gpu/host/host_driver.h"
#include "heddle/isa/instruction.h"
#include "heddle/metrics/collect.h"
#include "heddle/metrics/interval_sampler.h"
#include "heddle/metrics/json.h"
#include "tests/unit/common/fresh_simulation.h"

namespace heddle::test {
namespace energy_account_test {

constexpr const char* fused_kernel = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry fused(.param .u64 p) {
  .reg .f32 %f<4>;
  .reg .b64 %rd<4>;
  .reg .b32 %r<2>;
  .reg .pred %p<2>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 4;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.f32 %f1, [%rd3];
  fma.rn.f32 %f2, %f1, %f1, %f1;
  setp.lt.u32 %p1, %r1, 8;
  @%p1 fma.rn.f32 %f2, %f2, %f2, %f1;
  st.global.f32 [%rd3], %f2;
  ret;
}
)";
constexpr unsigned first_fma = 14, second_fma = 16;

// Loads a byte of 32 sectors in 8 lines, the same bytes again, which are zero, and one byte for all lanes.
constexpr const char* bytes_kernel = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry bytes(.param .u64 p) {
  .reg .b64 %rd<7>;
  .reg .b32 %r<6>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mul.wide.u32 %rd2, %r1, 32;
  add.s64 %rd3, %rd1, %rd2;
  ld.global.u8 %r2, [%rd3];
  cvt.u64.u32 %rd4, %r2;
  add.s64 %rd5, %rd3, %rd4;
  ld.global.u8 %r3, [%rd5];
  add.s64 %rd6, %rd1, %rd4;
  ld.global.u8 %r4, [%rd6];
  add.u32 %r5, %r3, %r4;
  st.global.u32 [%rd3], %r5;
  ret;
}
)";

using settings = std::vector<std::string>;

/// A small A100 whose energies are all zero but these.
settings only(const settings& energies) {
  // Integer multiplications are counted apart from FP32 operations.
  settings all = {"gpu.sm_count=2", "memory.channels=2", "l2.size_bytes=65536", "int.multiply_on_fp32=false"};
  for (const parameter& p : parameters())
    if (p.section == "energy" && (p.unit == parameter_unit::pj || p.unit == parameter_unit::watts))
      all.push_back(p.name() + "=0");
  all.insert(all.end(), energies.begin(), energies.end());
  return all;
}

class energy_of_a_kernel : public fresh_simulation {
 protected:
  /// The metrics of one block of 32 threads.
  static run_metrics run(const settings& all, unsigned blocks = 1, const char* text = fused_kernel,
                         const char* kernel = "fused") {
    restart();
    sc_core::sc_report_handler::set_actions(sc_core::SC_ID_NO_SC_START_ACTIVITY_, sc_core::SC_DO_NOTHING);
    const gpu_config config = load_config("a100", all);
    gpu g("gpu", config);
    interval_sampler intervals(g);
    host_driver driver("driver", config);
    driver.host_socket.bind(g.host_socket);
    sc_core::sc_start(sc_core::SC_ZERO_TIME);
    launch_request r;
    r.module = driver.load_module(text, "kernel.ptx");
    r.kernel = kernel;
    r.grid[0] = blocks;
    r.block[0] = 32;
    r.argument(driver.allocate(4096));
    driver.check(r);
    driver.launch(r);
    sc_core::sc_start();
    EXPECT_EQ(driver.fault(), "");
    run_metrics m = collect(g);
    intervals.fill(m);
    return m;
  }
  static const energy_metrics& of(const run_metrics& m) { return m.kernels.at(0).energy; }
};

TEST_F(energy_of_a_kernel, counts_active_lanes_of_a_class) {
  const run_metrics m = run(only({"energy.fp32_pj=2"}));
  // 32 lanes in the first FFMA, 8 in the second.
  EXPECT_NEAR(of(m).by_unit[energy_unit::fp32], 80e-12, 1e-24);
  EXPECT_NEAR(of(m).total_joules, 80e-12, 1e-24);
  EXPECT_NEAR(of(m).by_class[energy_class::fp32], 80e-12, 1e-24);
  EXPECT_EQ(of(m).static_joules, 0);
  for (const line_metrics& l : m.kernels[0].lines)
    EXPECT_NEAR(l.joules, l.line == first_fma ? 64e-12 : l.line == second_fma ? 16e-12 : 0, 1e-24) << l.line;
}

TEST_F(energy_of_a_kernel, counts_warp_instructions_and_registers) {
  const run_metrics m = run(only({"energy.instruction_pj=3", "energy.register_write_pj=1"}));
  const auto executed = static_cast<double>(m.kernels[0].metrics.inst_executed);
  EXPECT_NEAR(of(m).by_unit[energy_unit::control], executed * 3e-12, 1e-24);
  EXPECT_GT(of(m).by_unit[energy_unit::registers], 0);
  // An FFMA that all lanes execute writes 32 registers, and costs its part of control.
  const run_metrics fp32 = run(only({"energy.instruction_pj=3", "energy.register_write_pj=1"}));
  EXPECT_NEAR(of(fp32).by_class[energy_class::fp32], (2 * 3 + 32 + 8) * 1e-12, 1e-24);
}

TEST_F(energy_of_a_kernel, reads_the_registers_of_each_operand) {
  isa::instruction i;
  i.dst = 4;
  i.dst_count = 2;
  i.src[0].kind = isa::operand_kind::reg;
  i.src[0].reg = 8;
  i.src[0].count = 2;
  i.src[1].kind = isa::operand_kind::reg;
  i.src[1].reg = isa::rz;
  i.src[2].kind = isa::operand_kind::constant;
  const register_use use = registers_of(i);
  EXPECT_EQ(use.reads, 2u);
  EXPECT_EQ(use.writes, 2u);
}

TEST_F(energy_of_a_kernel, counts_sectors_by_hit_and_miss) {
  const run_metrics m =
      run(only({"energy.l1_read_miss_pj=100", "energy.l1_write_hit_pj=1", "energy.l1_write_miss_pj=1"}));
  EXPECT_NEAR(of(m).by_unit[energy_unit::l1], 404e-12, 1e-24);  // 128 bytes loaded, 128 stored
  EXPECT_NEAR(of(m).by_class[energy_class::memory], 404e-12, 1e-24);
  const run_metrics far = run(only({"energy.dram_read_pj=7"}));
  EXPECT_NEAR(of(far).total_joules, static_cast<double>(far.kernels[0].memory.dram.read_bytes) / 32 * 7e-12, 1e-24);
  // The load's four sectors come back, the store's four go out, a header each.
  const run_metrics near = run(only({"energy.flit_pj=1", "instruction_cache.second_level_misses=fixed"}));
  EXPECT_NEAR(of(near).by_unit[energy_unit::interconnect], 10e-12, 1e-24);
}

TEST_F(energy_of_a_kernel, counts_flits_of_code) {
  const run_metrics m = run(only({"energy.flit_pj=1"}));
  const cache_counts& l2 = m.kernels[0].memory.l2;
  EXPECT_GT(l2.requests, 2u);  // code beside the load and the store
  const auto flits = static_cast<double>(l2.requests + (l2.read_bytes + l2.write_bytes) / 32);
  EXPECT_NEAR(of(m).by_unit[energy_unit::interconnect], flits * 1e-12, 1e-24);
}

TEST_F(energy_of_a_kernel, counts_words_that_loads_read_of_sectors_that_are_present) {
  const auto joules = [](const char* price) {
    return of(run(only({price}), 1, bytes_kernel, "bytes")).by_unit[energy_unit::l1];
  };
  EXPECT_NEAR(joules("energy.l1_read_miss_pj=1"), 32e-12, 1e-24);  // whole sectors are fetched
  // 32 words of 32 sectors are four sectors' worth; one word for all counts as a sector.
  EXPECT_NEAR(joules("energy.l1_read_hit_pj=1"), 5e-12, 1e-24);
  EXPECT_NEAR(joules("energy.l1_write_hit_pj=1"), 32e-12, 1e-24);
}

TEST_F(energy_of_a_kernel, spends_static_energy_by_time) {
  const run_metrics m = run(only({"energy.constant_watts=10", "energy.active_sm_watts=2", "energy.idle_sm_watts=1"}));
  const double seconds = static_cast<double>(m.kernels[0].cycles) / 1410e6;
  EXPECT_NEAR(of(m).seconds, seconds, 1e-15);
  EXPECT_NEAR(of(m).by_unit[energy_unit::constant], 10 * seconds, 1e-15);
  const double active = m.kernels[0].metrics.sm_efficiency * 2 * seconds;  // of two SMs
  EXPECT_NEAR(of(m).by_unit[energy_unit::active_sms], 2 * active, 1e-12);
  EXPECT_NEAR(of(m).by_unit[energy_unit::idle_sms], 2 * seconds - active, 1e-12);
  EXPECT_EQ(of(m).static_joules, of(m).total_joules);
  EXPECT_DOUBLE_EQ(of(m).energy_delay_product(), of(m).total_joules * seconds);
}

TEST_F(energy_of_a_kernel, goes_with_the_square_of_the_voltage) {
  const run_metrics m = run(only({"energy.fp32_pj=2", "energy.volts=3", "energy.reference_volts=1.5"}));
  EXPECT_NEAR(of(m).total_joules, 4 * 80e-12, 1e-24);
  const run_metrics memory = run(only({"energy.dram_read_pj=7", "energy.volts=3"}));
  EXPECT_NEAR(of(memory).total_joules, static_cast<double>(memory.kernels[0].memory.dram.read_bytes) / 32 * 7e-12,
              1e-24);
}

TEST_F(energy_of_a_kernel, takes_the_voltage_from_the_clock) {
  gpu_config c = load_config("a100");
  c.energy.reference_clock_mhz = 1000;
  c.energy.reference_volts = 1;
  c.energy.volts_per_ghz = 0.5;
  c.energy.least_volts = 0.8;
  c.gpu.core_clock_mhz = 1400;
  EXPECT_DOUBLE_EQ(core_volts(c), 1.2);
  c.gpu.core_clock_mhz = 300;
  EXPECT_DOUBLE_EQ(core_volts(c), 0.8);
  c.energy.volts = 0.75;
  EXPECT_DOUBLE_EQ(core_volts(c), 0.75);
}

TEST_F(energy_of_a_kernel, has_leakage_by_the_voltage_and_the_clock_of_sms_by_frequency_too) {
  const auto watts = [](const char* share, const char* mhz, const char* volts) {
    return prices_of(load_config(
        "a100", {"energy.active_sm_watts=3", "energy.idle_sm_watts=2", std::string("energy.leakage_share=") + share,
                 std::string("gpu.core_clock_mhz=") + mhz, std::string("energy.volts=") + volts}));
  };
  EXPECT_NEAR(watts("1", "705", "0.8").idle_sm_watts, 2 * 0.8, 1e-12);
  EXPECT_NEAR(watts("0", "705", "0.8").idle_sm_watts, 2 * 0.5 * 0.64, 1e-12);
  EXPECT_NEAR(watts("0.25", "705", "0.8").idle_sm_watts, 2 * (0.25 * 0.8 + 0.75 * 0.5 * 0.64), 1e-12);
  EXPECT_NEAR(watts("0.25", "705", "0.8").active_sm_watts, 3 * (0.25 * 0.8 + 0.75 * 0.5 * 0.64), 1e-12);
  for (const char* share : {"0", "0.1", "0.3", "0.7", "1"})
    EXPECT_EQ(watts(share, "1410", "0").active_sm_watts, 3) << "at the reference clock";
}

// A board idles at 129 W, at 345 MHz at 73 W (tests/hardware/energy/README.md).
TEST_F(energy_of_a_kernel, of_an_idle_h100_falls_with_its_clock) {
  const auto watts = [](const std::vector<std::string>& settings) {
    const gpu_config c = load_config("h100", settings);
    return c.energy.constant_watts + c.gpu.sm_count * prices_of(c).idle_sm_watts;
  };
  EXPECT_NEAR(watts({}) / 129, 1, 0.01);
  EXPECT_NEAR(watts({"gpu.core_clock_mhz=345"}) / 73, 1, 0.15);
}

TEST_F(energy_of_a_kernel, takes_the_voltage_from_points) {
  gpu_config c = load_config("rtx2060");
  const auto at = [&c](double mhz) { return core_volts(c, mhz); };
  EXPECT_DOUBLE_EQ(at(100), 0.718);
  EXPECT_DOUBLE_EQ(at(300), 0.718);
  EXPECT_DOUBLE_EQ(at(960), 0.79);  // halfway to 0.862 V at 1,620 MHz
  EXPECT_DOUBLE_EQ(at(1620), 0.862);
  EXPECT_DOUBLE_EQ(at(1920), 1.068);
  EXPECT_NEAR(at(2070), 1.171, 1e-12);
  EXPECT_DOUBLE_EQ(reference_volts(c.energy), at(1365));
  EXPECT_DOUBLE_EQ(prices_of(c).fp32_pj, c.energy.fp32_pj) << "at the reference clock";
  c.gpu.core_clock_mhz = 1920;
  EXPECT_NEAR(prices_of(c).fp32_pj, c.energy.fp32_pj * std::pow(1.068 / at(1365), 2), 1e-9);
  c = load_config("rtx2060", {"energy.voltage_curve=line"});
  EXPECT_DOUBLE_EQ(core_volts(c), 1);
}

TEST_F(energy_of_a_kernel, adds_up_over_units_classes_sms_lines_and_intervals) {
  const run_metrics m = run({"gpu.sm_count=2", "memory.channels=2"}, 9);
  ASSERT_TRUE(of(m).known);
  const auto sum = [](const std::vector<double>& all) {
    double s = 0;
    for (const double v : all) s += v;
    return s;
  };
  const energy_metrics& e = of(m);
  EXPECT_NEAR(e.by_unit.sum() / e.total_joules, 1, 1e-9);
  EXPECT_NEAR((e.by_class.sum() + e.static_joules) / e.total_joules, 1, 1e-9);
  double lines = 0;
  for (const line_metrics& l : m.kernels[0].lines) lines += l.joules;
  EXPECT_NEAR(lines / (e.total_joules - e.static_joules), 1, 1e-9);
  EXPECT_NEAR(sum(m.power.joules) / m.energy.total_joules, 1, 1e-9);
  // One launch: the run's dynamic energy is its.
  EXPECT_NEAR((m.energy.total_joules - m.energy.static_joules) / (e.total_joules - e.static_joules), 1, 1e-9);
}

TEST_F(energy_of_a_kernel, is_refused_when_its_sums_differ) {
  energy_metrics e;
  e.by_unit[energy_unit::constant] = e.total_joules = e.static_joules = 1;
  EXPECT_NO_THROW(check_sums(e));
  e.by_class[energy_class::fp32] = 0.1;
  EXPECT_THROW(check_sums(e), internal_error);
  e.by_class[energy_class::fp32] = 0;
  e.active_sms = {{0, 0.1, 0, 0.1}};
  e.sms = 1;
  EXPECT_THROW(check_sums(e), internal_error);
}

TEST_F(energy_of_a_kernel, is_absent_when_switched_off) {
  const run_metrics m = run({"gpu.sm_count=2", "memory.channels=2", "energy.account=false"});
  EXPECT_FALSE(of(m).known);
  EXPECT_EQ(to_json(m).find("\"energy\""), std::string::npos);
}

}  // namespace energy_account_test
}  // namespace heddle::test
