// SPDX-License-Identifier: MIT
// Energies in each kind of run: they add up, no other metric depends on them, traces have those of the same kernel.
#include <filesystem>
#include <fstream>
#include <string>
#include <variant>
#include <vector>

#include "energy_fixture.h"
#include "heddle/config/parameter_table.h"
#include "tests/system/common/vcd_reader.h"
#include "tests/system/run/replay_fixture.h"

namespace energy_runs_test {

using namespace energy_fixture;
using energy_fixture::json;

const std::string workloads = HEDDLE_WORKLOADS;

// Each lane loads a word, computes 64 multiply-adds and stores it.
std::string straight_kernel() {
  std::string text = R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry straight(.param .u64 from, .param .u64 to) {
  .reg .f32 %f<4>;
  .reg .b64 %rd<8>;
  .reg .b32 %r<8>;
  ld.param.u64 %rd1, [from];
  ld.param.u64 %rd2, [to];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mov.u32 %r3, %ntid.x;
  mad.lo.u32 %r4, %r2, %r3, %r1;
  mul.wide.u32 %rd3, %r4, 4;
  add.s64 %rd4, %rd1, %rd3;
  add.s64 %rd5, %rd2, %rd3;
  ld.global.f32 %f1, [%rd4];
)";
  for (int n = 0; n < 64; ++n) text += "  fma.rn.f32 %f1, %f1, %f1, %f1;\n";
  return text + "  st.global.f32 [%rd5], %f1;\n  ret;\n}\n";
}

/// The same as a trace.
replay_fixture::kernel straight_trace(unsigned blocks) {
  replay_fixture::kernel k;
  k.blocks = blocks;
  k.shared = 0;
  for (unsigned b = 0; b < blocks; ++b) {
    std::vector<replay_fixture::warp_lines> warps;
    for (unsigned w = 0; w < 2; ++w) {
      const unsigned at = (2 * b + w) * 128;
      replay_fixture::warp_lines lines;
      lines.mem("LDG.E.SYS", 2, {4}, 4, "0x" + replay_fixture::hex(0x40000000 + at, 8), 4);
      for (int n = 0; n < 64; ++n) lines.alu("FFMA", 2, {2, 2, 2});
      lines.mem("STG.E.SYS", -1, {8, 2}, 4, "0x" + replay_fixture::hex(0x42000000 + at, 8), 4).exit();
      warps.push_back(lines);
    }
    k.block(warps);
  }
  return k;
}

class energy_of_runs : public replay_fixture::replay {
 protected:
  json metrics_of(const std::string& arguments, const words& settings = {}, int code = 0) {
    return energy_fixture::metrics_of(place_, arguments, settings, code);
  }
  void write_trace(unsigned blocks) {
    write("kernel-1.traceg", straight_trace(blocks).text());
    write("kernelslist.g", "kernel-1.traceg\n");
  }
};

// Another value for each figure of [energy].
words other_figures() {
  words all;
  double n = 0;
  for (const heddle::parameter& p : heddle::parameters()) {
    if (p.section != "energy" || !p.is_number() || p.key == "power_cap_watts") continue;
    heddle::gpu_config defaults;
    const heddle::value_pointer at = p.in(defaults);
    const auto* const real = std::get_if<double*>(&at);
    double value = real == nullptr ? 512 : **real / 2 + 1 + n / 64;
    if (!p.range.holds(value)) value = **real / 2;  // a share
    EXPECT_TRUE(p.range.holds(value)) << p.name() << " " << value;
    all.push_back(p.name() + "=" + (real == nullptr ? "512" : std::to_string(value)));
    ++n;
  }
  return all;
}

TEST_F(energy_of_runs, figures_of_energy_change_no_other_metric) {
  write_trace(40);
  write_loop_jobs(place_);
  const words figures = other_figures();
  EXPECT_GT(figures.size(), 40u);
  for (const std::string& how :
       {"run " + workloads + "/hotspot/job.json --gpu v100", "run " + workloads + "/wmma_gemm/job.json --gpu a100",
        std::string("run job.json --gpu gtx1080"), std::string("replay kernelslist.g --gpu h100")}) {
    SCOPED_TRACE(how);
    json usual = metrics_of(how), other = metrics_of(how, figures), none = metrics_of(how, {"energy.account=false"});
    ASSERT_TRUE(usual.contains("energy"));
    EXPECT_NE(usual["energy"]["total_joules"], other["energy"]["total_joules"]);
    for (json* m : {&usual, &other, &none}) drop_energies(*m);
    EXPECT_EQ(usual.dump(), other.dump());
    EXPECT_EQ(usual.dump(), none.dump());
    EXPECT_EQ(usual.dump().find("joules"), std::string::npos) << "energies elsewhere";
  }
}

TEST_F(energy_of_runs, add_up_in_each_of_them) {
  write_trace(40);
  write_loop_jobs(place_);
  const std::string hotspot = "run " + workloads + "/hotspot/job.json --gpu v100";
  check_energies(metrics_of(hotspot));
  check_energies(metrics_of(hotspot + " --threads 2"));
  check_energies(metrics_of(hotspot + " --cold"));
  check_energies(metrics_of(hotspot + " --max-cycles 9000", {}, 1));
  check_energies(metrics_of(hotspot + " --max-cycles 20", {}, 1));  // before the first block
  check_energies(metrics_of(hotspot, {"energy.power_cap_watts=90"}));
  check_energies(metrics_of(hotspot + " --max-cycles 9000", {"energy.power_cap_watts=90"}, 1));
  check_energies(metrics_of("run " + workloads + "/needleman_wunsch/job.json --gpu h100"));  // many launches
  const json switched = metrics_of("run job.json --gpu gtx1080");
  EXPECT_GT(switched["kernels"][0]["energy"]["by_unit"]["context"].get<double>(), 0);
  check_energies(switched);
  const json capped = metrics_of("run job.json --gpu gtx1080", {"energy.power_cap_watts=50"});
  EXPECT_GT(capped["kernels"][0]["energy"]["throttled_cycles"].get<std::uint64_t>(), 0u);
  EXPECT_GT(capped["kernels"][0]["energy"]["by_unit"]["context"].get<double>(), 0);
  check_energies(capped);
  const json recorded = metrics_of("replay kernelslist.g --gpu v100");
  check_energies(recorded);
  const json& k = recorded["kernels"][0];
  const std::uint64_t middle = (k["start_cycle"].get<std::uint64_t>() + k["end_cycle"].get<std::uint64_t>()) / 2;
  check_energies(metrics_of("replay kernelslist.g --gpu v100 --max-cycles " + std::to_string(middle), {}, 1));
  check_energies(metrics_of("replay kernelslist.g --gpu a100", {"energy.power_cap_watts=60"}));
}

// What a launch left dirty in the L2 costs it energy when another launch displaces it, but no power of its own time.
TEST_F(energy_of_runs, written_back_after_a_launch_are_not_in_its_power) {
  write("k.ptx", R"(.version 6.0
.target sm_50
.address_size 64
.visible .entry fill(.param .u64 p) {
  .reg .b32 %r<5>;
  .reg .b64 %rd<4>;
  ld.param.u64 %rd1, [p];
  mov.u32 %r1, %tid.x;
  mov.u32 %r2, %ctaid.x;
  mad.lo.u32 %r3, %r2, 256, %r1;
  mul.wide.u32 %rd2, %r3, 4;
  add.s64 %rd3, %rd1, %rd2;
  st.global.u32 [%rd3], %r3;
  ret;
}
)");
  json job = json::parse(R"({"module": "k.ptx", "buffers": {"a": {"bytes": 65536}, "b": {"bytes": 4194304}},
    "launches": [{"kernel": "fill", "grid": [64, 1, 1], "block": [256, 1, 1], "args": [{"buffer": "a"}]}]})");
  write("alone.json", job.dump());
  job["launches"].push_back(json::parse(R"({"kernel": "fill", "grid": [4096, 1, 1], "block": [256, 1, 1],
    "args": [{"buffer": "b"}]})"));
  write("both.json", job.dump());
  for (const words& settings : {words{}, words{"energy.power_cap_watts=75"}}) {
    const json alone = metrics_of("run alone.json --gpu gtx480", settings),
               both = metrics_of("run both.json --gpu gtx480", settings);
    check_energies(alone);
    check_energies(both);
    const json &before = alone["kernels"][0]["energy"], &after = both["kernels"][0]["energy"];
    EXPECT_EQ(before["after_end_joules"], 0);
    const double written = 65536 / 32 * both["gpu"]["config"]["energy.dram_write_pj"].get<double>() * 1e-12;
    EXPECT_NEAR(after["after_end_joules"].get<double>(), written, 1e-9 * written);
    EXPECT_NEAR(after["mean_watts"].get<double>() / before["mean_watts"].get<double>(), 1, 1e-9);
    EXPECT_NEAR(after["total_joules"].get<double>(), before["total_joules"].get<double>() + written, 1e-9 * written);
  }
}

TEST_F(energy_of_runs, add_up_in_cuda_programs) {
  const std::string program = " -- " HEDDLE_CUDA_PROGRAMS " " HEDDLE_SOURCE "/tests/system/cuda/kernels.fatbin threads";
  const json all = metrics_of("exec --gpu v100" + program),
             some = metrics_of("exec --gpu v100 --launches 1,3-4" + program),
             none = metrics_of("exec --gpu v100 --skip-functional" + program);
  check_energies(all);
  check_energies(some);
  EXPECT_EQ(some["kernels"].size(), 3u);
  EXPECT_LT(dynamic(some), dynamic(all));
  EXPECT_EQ(none["kernels"].size(), 0u);
  EXPECT_EQ(dynamic(none), 0) << "nothing was simulated";
}

// What a recorded kernel costs is what the same kernel costs from PTX; the compiler's addresses come on top there. They
// make its code longer, so reads of code are left out.
TEST_F(energy_of_runs, of_a_trace_are_those_of_the_same_kernel_in_ptx) {
  constexpr unsigned blocks = 40;
  write_trace(blocks);
  write("straight.ptx", straight_kernel());
  for (const char* gpu : {"v100", "a100", "h100"}) {
    SCOPED_TRACE(gpu);
    const std::string machine = std::string("--gpu ") + gpu + " --set instruction_cache.second_level_misses=fixed";
    const json recorded = metrics_of("replay kernelslist.g " + machine),
               compiled = metrics_of("run --kernel straight.ptx --grid 40 --block 64 --arg buf:10240 --arg buf:10240 " +
                                     machine);
    check_energies(recorded);
    check_energies(compiled);
    const json &r = recorded["kernels"][0]["energy"], &c = compiled["kernels"][0]["energy"];
    const auto figure = [&recorded](const char* key) { return recorded["gpu"]["config"][key].get<double>(); };
    const double volts = r["volts"].get<double>() / figure("energy.reference_volts"),
                 fp32 = 64.0 * 64 * blocks * figure("energy.fp32_pj") * 1e-12 * volts * volts;
    EXPECT_NEAR(r["by_unit"]["fp32"].get<double>() / fp32, 1, 1e-9);
    for (const char* unit : {"l1", "interconnect", "l2", "dram"})
      EXPECT_NEAR(r["by_unit"][unit].get<double>(), c["by_unit"][unit].get<double>(), 1e-18) << unit;
    EXPECT_NEAR(dynamic(recorded["kernels"][0]) / dynamic(compiled["kernels"][0]), 0.95, 0.05);
    EXPECT_EQ(r["by_line"].size(), recorded["kernels"][0]["lines"].size());
  }
}

// Signals are whole mW: what rounding leaves of one window is in the next, so that units of less than 1 mW show theirs.
TEST_F(energy_of_runs, is_the_same_in_the_waveform) {
  write_loop_jobs(place_);
  const json m = metrics_of("run alone.json --gpu gtx1080 --vcd w.vcd --trace-scope gpu.sm0*",
                            {"gpu.sm_count=1", "gpu.core_clock_mhz=1000"});
  const heddle::test::vcd_reader wave(place_ / "w.vcd", 1000);
  unsigned shown = 0;
  for (const char* unit : {"control", "registers", "int", "branch"}) {
    const double joules = m["energy"]["by_unit"][unit];
    const double seen = 1e-12 * static_cast<double>(wave.sum(std::string("gpu.sm0.power.") + unit + "_mw"));
    EXPECT_NEAR(seen, joules, 0.01 * joules) << unit;
    if (joules > 0) ++shown;
  }
  EXPECT_EQ(shown, 4u);
}

// A long window leaves more energy over than a short one takes at a low power; no signal shows it as a peak.
TEST_F(energy_of_runs, has_no_peak_in_the_waveform_after_a_pause) {
  write_loop_jobs(place_);
  json job = json::parse(heddle::test::content(place_ / "alone.json"));
  job["launches"].push_back(job["launches"][0]);
  job["launches"][1]["at_cycle"] = 2000000;
  write("pause.json", job.dump());
  const json m = metrics_of("run pause.json --gpu gtx1080 --vcd w.vcd --trace-scope gpu.sm0",
                            {"gpu.sm_count=1", "gpu.core_clock_mhz=1000"});
  const heddle::test::vcd_reader wave(place_ / "w.vcd", 1000);
  double most = 0;
  for (const json& mw : m["energy"]["sm_milliwatts_over_time"][0]) most = std::max(most, mw.get<double>());
  ASSERT_GT(most, 0);
  EXPECT_LT(static_cast<double>(wave["gpu.sm0.power.sm_mw"].rbegin()->first), 2 * most);
}

// The largest figures that a file may have give more mW than a signal can hold.
TEST_F(energy_of_runs, the_waveform_holds_the_largest_power) {
  write_loop_jobs(place_);
  metrics_of("run alone.json --gpu gtx1080 --vcd w.vcd --trace-scope gpu.sm0", {"energy.int_pj=1000000000"});
  const heddle::test::vcd_reader wave(place_ / "w.vcd", 1000);
  EXPECT_EQ(4294967295u, wave["gpu.sm0.power.sm_mw"].rbegin()->first);
}

}  // namespace energy_runs_test
