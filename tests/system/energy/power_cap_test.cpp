// SPDX-License-Identifier: MIT
// The power cap as users see it, and the power of kernels that use a chip as much as they can.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace power_cap_program_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using words = std::vector<std::string>;
using heddle::test::content;

class power_cap_of_a_run : public ::testing::Test {
 protected:
  power_cap_of_a_run()
      : place_(fs::path(HEDDLE_SCRATCH "/power_cap") /
               ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  heddle::test::outcome start(const std::string& arguments) const {
    words command = {HEDDLE_PROGRAM, "run"};
    std::istringstream in(arguments);
    for (std::string word; in >> word;) command.push_back(word);
    command.insert(command.end(), {"--progress", "never", "--metrics", "m.json"});
    heddle::test::program_start how{place_};
    how.most_seconds = 0;
    return heddle::test::run_program(command, how);
  }
  [[nodiscard]] json metrics() const {
    json m = json::parse(content(place_ / "m.json"));
    m.erase("host");
    return m;
  }
  json run(const std::string& arguments) const {
    const heddle::test::outcome o = start(arguments + " --quiet");
    EXPECT_EQ(o.code, 0) << o.err;
    return o.code == 0 ? metrics() : json();
  }

  const fs::path place_;
};

const std::string job = HEDDLE_WORKLOADS "/sgemm/job.json --gpu v100";

TEST_F(power_cap_of_a_run, slows_it_down_and_shows_where) {
  const json free = run(job)["kernels"][0]["energy"];
  EXPECT_FALSE(free.contains("mean_clock_mhz"));
  const double cap = 0.9 * free["mean_watts"].get<double>();
  const std::string capped = job + " --set energy.power_cap_watts=" + std::to_string(cap);
  const heddle::test::outcome o =
      start(capped + " --vcd w.vcd --timeline t.json --trace-scope gpu.sm0*,gpu.l2_slice0,gpu.dram_channel0");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("power cap"), std::string::npos) << o.out;
  EXPECT_NE(o.out.find(" W on average, energy x delay "), std::string::npos) << o.out;
  const json m = metrics(), e = m["kernels"][0]["energy"];
  EXPECT_LT(e["mean_clock_mhz"].get<double>(), 1380);
  EXPECT_GT(e["throttled_cycles"].get<std::uint64_t>(), 0u);
  EXPECT_LT(e["mean_watts"].get<double>(), cap * 1.03);
  EXPECT_GT(e["seconds"].get<double>(), free["seconds"].get<double>());
  EXPECT_EQ(m["energy"]["clock_mhz_over_time"].size(), m["energy"]["milliwatts_over_time"].size());
  const std::string wave = content(place_ / "w.vcd"), timeline = content(place_ / "t.json");
  for (const char* signal : {"core_clock_mhz", "chip_mw", "l2_mw", "dram_mw"})
    EXPECT_NE(wave.find(signal), std::string::npos) << signal;
  EXPECT_NE(timeline.find("core clock (MHz)"), std::string::npos);
}

TEST_F(power_cap_of_a_run, is_the_same_on_any_number_of_threads) {
  const std::string capped = job + " --set energy.power_cap_watts=120 --threads ";
  const json one = run(capped + "1");
  EXPECT_GT(one["kernels"][0]["energy"]["throttled_cycles"].get<std::uint64_t>(), 0u);
  EXPECT_EQ(one, run(capped + "2"));
}

TEST_F(power_cap_of_a_run, is_refused_where_it_cannot_act) {
  for (const char* with : {"--set energy.account=false", "--set memory.model=fixed"}) {
    const heddle::test::outcome o = start(job + " --set energy.power_cap_watts=100 " + with);
    EXPECT_EQ(o.code, 2);
    EXPECT_NE(o.first_line().find("where there is a power cap"), std::string::npos) << o.first_line();
  }
}

// The peak of a chip, against the power that it is limited to and LBNL's formula: constant power, FLOPs and the bits
// of each level, counted by hand from the kernel's tiles and not taken from the model's counters.
struct peak {
  std::string gpu;
  double limit;                    // W: of the board
  double constant;                 // W
  double flop, l1, l2, dram;       // pJ per FLOP and per bit, as published
  std::string product;             // arguments of `heddle run`
  double rows, columns, depth;     // of the product
  double tile_rows, tile_columns;  // of a block
  bool through_l1;                 // tiles
  double clock_at_limit;           // MHz, published; 0: not known
};

class long_peak_power : public power_cap_of_a_run, public ::testing::WithParamInterface<peak> {
 protected:
  json limited(const std::string& what, double watts) const {
    return run(what + " --gpu " + GetParam().gpu + " --set energy.power_cap_watts=" + std::to_string(watts));
  }
  /// Mean of the middle half of the run, without its beginning and end.
  static double steady(const json& over_time) {
    double sum = 0;
    const std::size_t n = over_time.size();
    for (std::size_t i = n / 4; i < 3 * n / 4; ++i) sum += over_time[i].get<double>();
    return sum / static_cast<double>(3 * n / 4 - n / 4);
  }
  static double mean_watts(const json& m) { return m["kernels"][0]["energy"]["mean_watts"]; }
};

TEST_P(long_peak_power, of_a_matrix_product_without_a_limit_is_that_of_its_work) {
  const peak& p = GetParam();
  const json m = limited(p.product, 0);
  const double flops = 2 * p.rows * p.columns * p.depth;
  const double blocks = p.rows / p.tile_rows * p.columns / p.tile_columns;
  const double tiles = 16 * blocks * (p.tile_rows + p.tile_columns) * p.depth, result = 32 * p.rows * p.columns;
  const double operands = 16 * (p.rows + p.columns) * p.depth;
  const double picojoules =
      flops * p.flop + (tiles + result) * p.l2 + ((p.through_l1 ? tiles : 0) + result) * p.l1 + operands * p.dram;
  const double published = p.constant + picojoules * 1e-12 / m["kernels"][0]["energy"]["seconds"].get<double>();
  EXPECT_NEAR(mean_watts(m) / published, 1, 0.1) << published;
  EXPECT_GT(steady(m["energy"]["milliwatts_over_time"]) / 1000, p.limit);
}

// Both chips are throttled by their limit.
TEST_P(long_peak_power, of_a_matrix_product_is_the_boards_limit) {
  const peak& p = GetParam();
  const json m = limited(p.product, p.limit);
  EXPECT_NEAR(steady(m["energy"]["milliwatts_over_time"]) / 1000 / p.limit, 1, 0.1);
  EXPECT_GT(m["kernels"][0]["energy"]["throttled_cycles"].get<double>(), 0);
  if (p.clock_at_limit > 0) {
    EXPECT_NEAR(steady(m["energy"]["clock_mhz_over_time"]) / p.clock_at_limit, 1, 0.1);
  }
}

TEST_P(long_peak_power, of_a_copy_is_that_of_its_bytes) {
  const peak& p = GetParam();
  const json m =
      limited("--kernel " HEDDLE_SOURCE
              "/tests/hardware/energy/peak.ptx:stream_copy --grid 16384 --block 256 --arg buf:67108864 --arg "
              "buf:67108864",
              p.limit);
  const json& k = m["kernels"][0];
  const double seconds = k["energy"]["seconds"], bits = 8 * 2 * 67108864.0 / seconds;
  // Part of what was written is still in the L2.
  const json& moved = k["memory"]["dram"];
  const double dram = 8 * (moved["read_bytes"].get<double>() + moved["write_bytes"].get<double>()) / seconds;
  const double published = std::min(p.limit, p.constant + (bits * (p.l1 + p.l2) + dram * p.dram) * 1e-12);
  EXPECT_NEAR(k["energy"]["mean_watts"].get<double>() / published, 1, 0.1) << published;
}

// A100: HPL runs at 1,305 MHz at the board's limit (NVIDIA's peak in the TOP500, by Lockwood's notes).
INSTANTIATE_TEST_SUITE_P(
    long_published, long_peak_power,
    ::testing::Values(
        peak{"a100", 400, 54, 0.70, 1.59, 4.71, 13.11,
             "--kernel " HEDDLE_SOURCE
             "/tests/hardware/energy/peak.ptx:matrix_product --grid 18,6 --block 256 --shared-bytes 147456 "
             "--arg buf:16777216:random:1 --arg buf:16777216:random:2 --arg buf:33554432 --arg s32:2304 "
             "--arg s32:1024",
             1536, 2304, 1024, 256, 128, true, 1305},
        peak{"h100", 700, 88, 0.52, 1.45, 4.87, 11.68, HEDDLE_SOURCE "/tests/hardware/energy/peak_h100.json", 1536,
             2816, 4096, 128, 256, false, 0}),
    [](const auto& info) { return info.param.gpu; });

}  // namespace power_cap_program_test
