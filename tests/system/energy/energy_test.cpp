// SPDX-License-Identifier: MIT
// Energies as users see them: published figures come out of microbenchmarks, sums add up, nothing else changes.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <utility>

#include "energy_fixture.h"

namespace energy_test {

namespace fs = std::filesystem;
using energy_fixture::dynamic;
using energy_fixture::json;
using energy_fixture::sum;
using energy_fixture::sum_by_sm;

class energy : public ::testing::Test {
 protected:
  energy()
      : place_(fs::path(HEDDLE_SCRATCH "/energy") / ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  /// The metrics of `heddle run` with these arguments.
  json run(const std::string& arguments) { return energy_fixture::metrics_of(place_, "run " + arguments); }

  const fs::path place_;
};

const std::string workloads = HEDDLE_WORKLOADS;

/// What LBNL published for a chip: pJ per FLOP and per bit, and the power that it takes as constant, W.
struct published {
  std::string gpu;
  double fp64, f16, l1, l2, dram, constant;
  double matrix_activity;  // of the operands of its matrix multiply-adds
};

/// LBNL's method: all energy but that of the constant power belongs to what the kernel does.
class published_energies : public energy, public ::testing::WithParamInterface<published> {
 protected:
  static constexpr unsigned sms = 7, channels = 4;  // about as many SMs a channel as the whole chip has
  /// The first kernel's metrics, with `joules` beyond the constant power.
  json kernel(const std::string& name, const std::string& launch) {
    const json m = run("--kernel " HEDDLE_SOURCE "/tests/hardware/energy/energy.ptx:" + name + " " + launch +
                       " --gpu " + GetParam().gpu + " --set gpu.sm_count=" + std::to_string(sms) +
                       " --set memory.channels=" + std::to_string(channels));
    json k = m["kernels"][0];
    const json& config = m["gpu"]["config"];
    const double all = whole_chip();
    const double chip_watts =
        config["energy.constant_watts"].get<double>() + all * config["energy.active_sm_watts"].get<double>();
    k["joules"] = dynamic(k) + (chip_watts - GetParam().constant) * sms / all * k["energy"]["seconds"].get<double>();
    return k;
  }
  double whole_chip() {
    if (whole_chip_ == 0)
      whole_chip_ = run(workloads + "/saxpy/job.json --gpu " + GetParam().gpu)["gpu"]["config"]["gpu.sm_count"];
    return whole_chip_;
  }
  /// pJ for each bit that a level delivers.
  double per_bit(const std::string& name, const std::string& launch, const char* level) {
    const json k = kernel(name, launch);
    return k["joules"].get<double>() * 1e12 / (k["memory"][level]["read_bytes"].get<double>() * 8);
  }

 private:
  double whole_chip_ = 0;
};

TEST_P(published_energies, come_out_of_microbenchmarks) {
  const published& p = GetParam();
  const auto within = [](double got, double wanted) { EXPECT_NEAR(got / wanted, 1, 0.1) << got << " " << wanted; };
  // 14 blocks of 256 threads, 20 turns of 128 FMAs; 8 warps a block, 20 turns of 32 m16n8k16.
  within(kernel("fp64_fma", "--grid 14 --block 256 --arg buf:28672 --arg u32:20")["joules"].get<double>() * 1e12 /
             (14 * 256 * 20 * 128 * 2.0),
         p.fp64);
  within(kernel("f16_mma", "--grid 14 --block 256 --arg buf:14336 --arg u32:20 --set energy.operand_activity=" +
                               std::to_string(p.matrix_activity))["joules"]
                 .get<double>() *
             1e12 / (14 * 8 * 20 * 32 * 2048 * 2.0),
         p.f16);
  // The figures of the levels add up: each is what the next level costs more.
  const std::string launch = "--grid 14 --block 512 --arg buf:57344 ";
  const double l1 = per_bit("near_loads", launch + "--arg buf:458752 --arg u32:200 --arg u32:32768 --arg u32:0", "l1");
  const double l2 = per_bit("far_loads", launch + "--arg buf:458752 --arg u32:100 --arg u32:32768 --arg u32:0", "l2");
  const double dram =
      per_bit("far_loads", launch + "--arg buf:14680064 --arg u32:30 --arg u32:1048576 --arg u32:32768", "dram");
  within(l1, p.l1);
  within(l2 - l1, p.l2);
  within(dram - l2, p.dram);
}

// The A100's figures are LBNL's own. The H100's are of a chip that we measured with random operands; with constant ones
// its matrix multiply-adds take LBNL's energy, on the chip (0.47 to 0.55 pJ/FLOP by LBNL's method) and here.
INSTANTIATE_TEST_SUITE_P(lbnl, published_energies,
                         ::testing::Values(published{"a100", 28.5, 0.70, 1.59, 4.71, 13.11, 54, 1},
                                           published{"h100", 23.6, 0.52, 1.45, 4.87, 11.68, 88, 0}),
                         [](const auto& info) { return info.param.gpu; });

// Measured on an H100 (tests/hardware/energy/h100_operands.csv): constant operands take half of the power.
TEST_F(energy, falls_with_the_activity_of_operands) {
  const auto watts = [&](const std::string& gpu, const char* activity) {
    const json m = run(workloads + "/sgemm/job.json --gpu " + gpu + " --set energy.operand_activity=" + activity);
    return m["kernels"][0]["energy"];
  };
  const std::initializer_list<std::pair<const char*, double>> shares = {
      {"fp32", 0.25}, {"registers", 0.25}, {"shared_memory", 0.33}, {"l2", 0.33},
      {"dram", 0.66}, {"control", 1},      {"constant", 1}};
  for (const char* gpu : {"h100", "gtx480"}) {
    const json random = watts(gpu, "1"), half = watts(gpu, "0.5"), still = watts(gpu, "0");
    const auto of = [](const json& e, const char* unit) { return e["by_unit"][unit].get<double>(); };
    for (const auto& [unit, share] : shares) {
      EXPECT_NEAR(of(still, unit), share * of(random, unit), 1e-9 * of(random, unit)) << gpu << " " << unit;
      EXPECT_NEAR(of(half, unit), (1 + share) / 2 * of(random, unit), 1e-9 * of(random, unit)) << gpu << " " << unit;
    }
  }
}

TEST_F(energy, adds_up_in_the_file) {
  const json m = run(workloads + "/hotspot/job.json --gpu v100");
  for (const json& k : m["kernels"]) {
    const json& e = k["energy"];
    const double total = e["total_joules"];
    EXPECT_GT(total, 0);
    EXPECT_NEAR(sum(e["by_unit"]) / total, 1, 1e-9);
    EXPECT_NEAR((sum(e["by_class"]) + e["static_joules"].get<double>()) / total, 1, 1e-9);
    EXPECT_NEAR(sum(e["by_line"]) / dynamic(k), 1, 1e-9);
    EXPECT_EQ(e["by_line"].size(), k["lines"].size());
    double shared = sum_by_sm(e, m["sms"].size());
    for (const char* unit : {"interconnect", "l2", "dram", "context", "constant"})
      shared += e["by_unit"][unit].get<double>();
    EXPECT_NEAR(shared / total, 1, 1e-9);
    EXPECT_NEAR((total - e["after_end_joules"].get<double>()) / total,
                e["mean_watts"].get<double>() * e["seconds"].get<double>() / total, 1e-9);
  }
  const json& run_energy = m["energy"];
  for (const json& k : m["kernels"]) EXPECT_GE(run_energy["seconds"], k["energy"]["seconds"]);
  EXPECT_NEAR(sum(run_energy["joules_over_time"]) / run_energy["total_joules"].get<double>(), 1, 1e-9);
  for (const std::string part : {"unit", "class", "sm"}) {
    const json &watts = run_energy["watts_by_" + part], &joules = run_energy["by_" + part];
    ASSERT_EQ(watts.size(), joules.size()) << part;
    EXPECT_NEAR(sum(watts) * run_energy["seconds"].get<double>() / sum(joules), 1, 1e-9) << part;
  }
  EXPECT_EQ(run_energy["milliwatts_over_time"].size(), m["intervals"]["end_cycles"].size());
  EXPECT_EQ(run_energy["sm_milliwatts_over_time"].size(), m["sms"].size());
}

// Shapes of one size in bytes: narrower types have more elements and cost as much.
TEST_F(energy, of_matrix_products_is_by_the_bytes_of_their_elements) {
  const auto pj = [&](const std::string& types, const std::string& shape, const char* sum) {
    const std::string registers = sum == std::string("s32") ? "r" : "f";
    std::string text =
        ".version 8.4\n.target sm_90\n.address_size 64\n.visible .entry product(.param .u64 p) {\n"
        "  .reg .f32 %f<4>;\n  .reg .b32 %r<12>;\n  .reg .b64 %rd<2>;\n  ld.param.u64 %rd1, [p];\n";
    for (int i = 0; i < 4; ++i) text += "  mov.b32 %" + registers + std::to_string(i) + ", 0;\n";
    for (int i = 4; i < 10; ++i) text += "  mov.b32 %r" + std::to_string(i) + ", %tid.x;\n";
    const std::string d = "{%" + registers + "0, %" + registers + "1, %" + registers + "2, %" + registers + "3}";
    text += "  mma.sync.aligned." + shape + ".row.col." + sum + "." + types + "." + sum;
    if (types == "b1.b1") text += ".and.popc";
    text += " " + d + ", {%r4, %r5, %r6, %r7}, {%r8, %r9}, " + d + ";\n  st.global.b32 [%rd1], %" + registers +
            "0;\n  ret;\n}\n";
    std::ofstream(place_ / "product.ptx") << text;
    const json e = run("--kernel product.ptx:product --grid 1 --block 32 --arg buf:128 --gpu h100")["kernels"][0];
    return e["energy"]["by_unit"]["tensor"].get<double>() * 1e12;
  };
  const double bytes = 16 * 8 * 32 * 0.723;  // tensor_int8_pj
  EXPECT_NEAR(pj("s8.s8", "m16n8k32", "s32"), bytes, 1e-6 * bytes);
  for (const char* types : {"e4m3.e4m3", "e5m2.e5m2", "e5m2.e4m3"})
    EXPECT_NEAR(pj(types, "m16n8k32", "f32"), bytes, 1e-6 * bytes) << types;
  EXPECT_NEAR(pj("s4.s4", "m16n8k64", "s32"), bytes, 1e-6 * bytes);
  EXPECT_NEAR(pj("u4.s4", "m16n8k64", "s32"), bytes, 1e-6 * bytes);
  EXPECT_NEAR(pj("b1.b1", "m16n8k256", "s32"), bytes, 1e-6 * bytes);
  const double halves = 16 * 8 * 16 * 1.762;
  EXPECT_NEAR(pj("f16.f16", "m16n8k16", "f32"), halves, 1e-6 * halves);
}

// An integer multiplication executes on the FP32 pipe of an A100.
TEST_F(energy, of_integers_is_of_their_class_on_whatever_pipe) {
  std::ofstream(place_ / "products.ptx") << R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry products(.param .u64 p)
{
  .reg .b32 %r<4>;
  .reg .b64 %rd<2>;
  ld.param.u64 %rd1, [p];
  ld.global.u32 %r1, [%rd1];
  mul.lo.u32 %r2, %r1, %r1;
  mad.lo.u32 %r3, %r2, %r1, %r2;
  st.global.u32 [%rd1], %r3;
  ret;
}
)";
  const json e =
      run("--kernel products.ptx:products --grid 1 --block 32 --arg buf:128 --gpu a100")["kernels"][0]["energy"];
  EXPECT_GT(e["by_unit"]["fp32"].get<double>(), 0);
  EXPECT_EQ(e["by_class"]["fp32"].get<double>(), 0);
  EXPECT_GT(e["by_class"]["int"].get<double>(), e["by_unit"]["fp32"].get<double>());
}

TEST_F(energy, changes_nothing_else_and_can_be_switched_off) {
  const std::string job = workloads + "/saxpy/job.json --gpu a100";
  json with = run(job), without = run(job + " --set energy.account=false");
  EXPECT_TRUE(with.contains("energy"));
  EXPECT_EQ(without.dump().find("\"energy\""), std::string::npos);
  with.erase("energy");
  for (json& k : with["kernels"]) {
    k.erase("energy");
    for (json& instruction : k["code"]) instruction.erase("joules");
  }
  for (json* m : {&with, &without}) {
    m->erase("host");
    (*m)["gpu"].erase("config");
  }
  EXPECT_EQ(with, without);
}

TEST_F(energy, is_absent_for_a_chip_without_energies) {
  std::ofstream(place_ / "own.ini") << "[gpu]\nname = own\n";
  EXPECT_FALSE(run(workloads + "/saxpy/job.json --gpu ./own.ini").contains("energy"));
  std::ofstream(place_ / "based.ini") << "base = gtx1080\n[gpu]\nname = based\n";
  EXPECT_TRUE(run(workloads + "/saxpy/job.json --gpu ./based.ini").contains("energy"));
  std::ofstream(place_ / "own.ini") << "[gpu]\nname = own\n[energy]\nconstant_watts = 10\n";
  EXPECT_TRUE(run(workloads + "/saxpy/job.json --gpu ./own.ini").contains("energy"));
}

TEST_F(energy, of_a_context_switch_is_that_of_its_bytes) {
  energy_fixture::write_loop_jobs(place_);
  const json m = run("job.json --gpu gtx1080");
  ASSERT_FALSE(m["context_switches"].empty());
  for (const json& s : m["context_switches"]) {
    const json& e = s["energy"];
    const double lines = (s["bytes_saved"].get<double>() + s["bytes_restored"].get<double>()) / 128;
    ASSERT_GT(lines, 0);
    const json& c = m["gpu"]["config"];
    const auto price = [&c](const std::string& key) { return c["energy." + key].get<double>(); };
    const double on_chip = price("context_line_pj") + 5 * price("flit_pj") + 4 * price("l1_write_miss_pj") +
                           4 * price("l2_write_miss_pj");  // reads cost the same on this chip
    // A line of 128 bytes goes to memory and back, or stays in the L2.
    EXPECT_GE(e["transfer_joules"].get<double>() / (lines * on_chip * 1e-12), 1 - 1e-9);
    EXPECT_LE(e["transfer_joules"].get<double>() / (lines * (on_chip + 4 * price("dram_write_pj")) * 1e-12), 1 + 1e-9);
    EXPECT_GT(e["static_joules"].get<double>(), 0);
    EXPECT_EQ(e["repeated_joules"], 0);
    EXPECT_DOUBLE_EQ(e["total_joules"].get<double>(),
                     e["transfer_joules"].get<double>() + e["static_joules"].get<double>());
  }

  // Transfers are what the switches add to the kernel's dynamic energy, but for what its caches have forgotten.
  for (const std::string gpu : {"gtx1080", "v100", "h100"}) {
    const json with = run("job.json --gpu " + gpu), without = run("alone.json --gpu " + gpu);
    double transfers = 0;
    for (const json& s : with["context_switches"]) transfers += s["energy"]["transfer_joules"].get<double>();
    const double added = dynamic(with["kernels"][0]) - dynamic(without["kernels"][0]);
    EXPECT_GT(added, 0) << gpu;
    EXPECT_NEAR(transfers / added, 1, 0.05) << gpu;
  }
}

// Flushed blocks repeat their work; blocks that drain do not, and kernels that leave an SM together share its time.
TEST_F(energy, of_a_preemption_is_what_it_adds) {
  energy_fixture::write_loop_jobs(place_);
  json job = json::parse(std::ifstream(place_ / "alone.json"));
  job["launches"][0]["grid"] = {640, 1, 1};
  const auto run_with = [&](const std::string& mode, std::size_t launches) {
    json with = job;
    for (std::size_t n = 1; n < launches; ++n) {
      with["launches"].push_back(job["launches"][0]);
      with["launches"][n]["stream"] = n;
    }
    if (!mode.empty()) with["preempt"] = {{{"at_cycle", 9000}, {"sm", "all"}, {"mode", mode}, {"resume_after", 1000}}};
    std::ofstream(place_ / "with.json") << with.dump();
    return run("with.json --gpu v100");
  };
  const auto sum_of = [](const json& m, const char* what) {
    double all = 0;
    for (const json& s : m["context_switches"]) all += s["energy"][what].get<double>();
    return all;
  };
  const json alone = run_with("", 1), flushed = run_with("flush", 1), drained = run_with("drain", 1);
  ASSERT_FALSE(flushed["context_switches"].empty());
  ASSERT_FALSE(drained["context_switches"].empty());
  const double added = dynamic(flushed) - dynamic(alone);
  EXPECT_GT(added, 0.1 * dynamic(alone));
  EXPECT_NEAR(sum_of(flushed, "repeated_joules") / added, 1, 0.005);
  EXPECT_GT(sum_of(flushed, "static_joules"), 0);
  EXPECT_EQ(sum_of(drained, "total_joules"), 0);
  const json two = run_with("switch", 2);
  std::map<unsigned, std::pair<double, double>> of_sm;  // cycles of a switch, joules of both kernels
  for (const json& s : two["context_switches"]) {
    auto& [cycles, joules] = of_sm[s["sm"].get<unsigned>()];
    const auto at = [&s](const char* what) { return s[what].get<double>(); };
    cycles = std::max(cycles, at("saved_cycle") - at("request_cycle") + at("resumed_cycle") - at("restore_cycle"));
    joules += s["energy"]["static_joules"].get<double>();
  }
  EXPECT_EQ(2 * of_sm.size(), two["context_switches"].size());
  const json& c = two["gpu"]["config"];
  const double cycle_joules = c["energy.active_sm_watts"].get<double>() / (c["gpu.core_clock_mhz"].get<double>() * 1e6);
  for (const auto& [sm, s] : of_sm) EXPECT_LE(s.second, s.first * cycle_joules * (1 + 1e-9)) << sm;
}

// Blocks compute first and store last, at hundreds of times the energy. What a flush repeats is what its blocks had
// executed: not what others had that have ended, nor the traffic of contexts.
TEST_F(energy, of_a_flush_is_that_of_what_had_executed) {
  json job = energy_fixture::write_uneven_job(place_);
  for (const std::string gpu : {"gtx1080", "v100"}) {
    const auto run_with = [&](const std::vector<std::pair<std::uint64_t, std::string>>& preemptions) {
      job["preempt"] = json::array();
      for (const auto& [cycle, mode] : preemptions)
        job["preempt"].push_back({{"at_cycle", cycle}, {"sm", "all"}, {"mode", mode}, {"resume_after", 500}});
      std::ofstream(place_ / "job.json") << job.dump();
      return energy_fixture::metrics_of(place_, "run job.json --gpu " + gpu, {"gpu.sm_count=2"});
    };
    const json alone = run_with({});
    const std::uint64_t start = alone["kernels"][0]["start_cycle"], end = alone["kernels"][0]["end_cycle"];
    const auto part = [&](double of) {
      return start + static_cast<std::uint64_t>(of * static_cast<double>(end - start));
    };
    const auto check = [&](const json& without, const std::vector<std::pair<std::uint64_t, std::string>>& preemptions) {
      const json flushed = run_with(preemptions);
      double repeated = 0;
      for (const json& s : flushed["context_switches"]) repeated += s["energy"]["repeated_joules"].get<double>();
      const double added = dynamic(flushed) - dynamic(without);
      EXPECT_GT(added, 0) << gpu;
      EXPECT_NEAR(repeated / added, 1, 0.01) << gpu << " at " << preemptions.back().first;
    };
    check(alone, {{part(0.4), "flush"}});
    if (gpu != "gtx1080") continue;
    check(alone, {{part(0.05), "flush"}});
    const std::pair<std::uint64_t, std::string> leave = {part(0.1), "switch"};
    check(run_with({leave}), {leave, {part(0.9), "flush"}});
  }
}

// Flushed blocks do other work than those that have ended: all modes that may flush count it by block.
TEST_F(energy, of_a_flush_is_that_of_its_own_blocks) {
  json job = energy_fixture::write_uneven_job(place_);
  job["launches"][0]["kernel"] = "mixed";
  const auto run_with = [&](const std::vector<std::uint64_t>& cycles, const std::string& mode) {
    job["preempt"] = json::array();
    for (const std::uint64_t cycle : cycles)
      job["preempt"].push_back({{"at_cycle", cycle}, {"sm", "all"}, {"mode", mode}, {"resume_after", 500}});
    std::ofstream(place_ / "job.json") << job.dump();
    return energy_fixture::metrics_of(place_, "run job.json --gpu v100", {"gpu.sm_count=2"});
  };
  const json alone = run_with({}, "");
  const std::uint64_t start = alone["kernels"][0]["start_cycle"], end = alone["kernels"][0]["end_cycle"];
  for (const auto& [mode, parts] :
       std::map<std::string, std::vector<std::uint64_t>>{{"flush", {15, 60}}, {"auto", {6}}}) {
    std::vector<std::uint64_t> cycles;
    for (const std::uint64_t part : parts) cycles.push_back(start + (end - start) * part / 100);
    const json flushed = run_with(cycles, mode);
    double repeated = 0;
    for (const json& s : flushed["context_switches"]) repeated += s["energy"]["repeated_joules"].get<double>();
    const double added = dynamic(flushed) - dynamic(alone);
    EXPECT_GT(added, 0) << mode;
    EXPECT_NEAR(repeated / added, 1, 0.001) << mode;
  }
}

}  // namespace energy_test
