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
  power_cap_of_a_run()  // suites that have tests of one name may run at the same time
      : place_(fs::path(HEDDLE_SCRATCH "/power_cap") /
               ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() /
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
  EXPECT_GE(m["energy"]["seconds"].get<double>(), e["seconds"].get<double>()) << "the run ends before its kernel";
  EXPECT_GE(m["energy"]["total_joules"].get<double>(), e["total_joules"].get<double>());
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
  const std::string above = job + " --set energy.least_clock_mhz=2000";
  const heddle::test::outcome o = start(above + " --set energy.power_cap_watts=100");
  EXPECT_EQ(o.code, 2);
  EXPECT_NE(o.first_line().find("expected energy.least_clock_mhz to be at most gpu.core_clock_mhz"), std::string::npos)
      << o.first_line();
  EXPECT_EQ(start(above).code, 0) << "without a cap it has no effect";
}

// Of a chip whose least clock is the full one, so that it exceeds a cap by as much as we say.
TEST_F(power_cap_of_a_run, that_is_exceeded_by_more_than_rounding_is_named) {
  const double watts = run(job)["kernels"][0]["energy"]["mean_watts"];
  const auto named = [this, watts](double excess) {
    const heddle::test::outcome o = start(
        job + " --set energy.least_clock_mhz=1380 --set energy.power_cap_watts=" + std::to_string(watts / excess));
    EXPECT_EQ(o.code, 0) << o.err;
    return o.out.find("W are not held with the least clock") != std::string::npos;
  };
  EXPECT_TRUE(named(1.01));
  EXPECT_TRUE(named(1.002));
  EXPECT_FALSE(named(1.0005));
}

TEST_F(power_cap_of_a_run, that_does_not_hold_is_named_and_times_are_those_of_the_slower_clock) {
  const heddle::test::outcome o = start(job + " --set energy.power_cap_watts=40");
  ASSERT_EQ(o.code, 0) << o.err;
  EXPECT_NE(o.out.find("40 W are not held with the least clock"), std::string::npos) << o.out;
  const json m = metrics();
  const double us = m["cycles"].get<double>() / m["energy"]["mean_clock_mhz"].get<double>();
  const std::size_t at = o.out.find("= ", o.out.find("job cycles")) + 2;
  EXPECT_NEAR(std::stod(o.out.substr(at)) / us, 1, 0.001) << o.out;
  EXPECT_EQ(o.out.find(" us, ", at) - at, o.out.find(' ', at) - at) << "in microseconds";
}

// Power of kernels that use a chip as much as they can.
class peak_power : public power_cap_of_a_run {
 protected:
  json limited(const std::string& what, double watts) const {
    return run(what + " --set energy.power_cap_watts=" + std::to_string(watts));
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

// The A100, against its board's limit and LBNL's formula: constant power, FLOPs and the bits of each level, counted by
// hand from the kernel's tiles and not taken from the model's counters.
class long_published_power : public peak_power {
 protected:
  static constexpr double limit = 400, constant = 54;                       // W
  static constexpr double flop = 0.70, l1 = 1.59, l2 = 4.71, dram = 13.11;  // pJ per FLOP and per bit
  static constexpr double rows = 1536, columns = 2304, depth = 1024, tile_rows = 256, tile_columns = 128;
  const std::string product =
      "--kernel " HEDDLE_SOURCE
      "/tests/hardware/energy/peak.ptx:matrix_product --grid 18,6 --block 256 --shared-bytes 147456 "
      "--arg buf:16777216:random:1 --arg buf:16777216:random:2 --arg buf:33554432 --arg s32:2304 --arg s32:1024 "
      "--gpu a100";
};

TEST_F(long_published_power, of_a_matrix_product_without_a_limit_is_that_of_its_work) {
  const json m = limited(product, 0);
  const double flops = 2 * rows * columns * depth;
  const double blocks = rows / tile_rows * columns / tile_columns;
  const double tiles = 16 * blocks * (tile_rows + tile_columns) * depth, result = 32 * rows * columns;
  const double operands = 16 * (rows + columns) * depth;
  const double picojoules = flops * flop + (tiles + result) * (l1 + l2) + operands * dram;
  const double published = constant + picojoules * 1e-12 / m["kernels"][0]["energy"]["seconds"].get<double>();
  EXPECT_NEAR(mean_watts(m) / published, 1, 0.1) << published;
  EXPECT_GT(steady(m["energy"]["milliwatts_over_time"]) / 1000, limit);
}

// HPL runs at 1,305 MHz at the board's limit (NVIDIA's peak in the TOP500, by Lockwood's notes).
TEST_F(long_published_power, of_a_matrix_product_is_the_boards_limit) {
  const json m = limited(product, limit);
  EXPECT_NEAR(steady(m["energy"]["milliwatts_over_time"]) / 1000 / limit, 1, 0.1);
  EXPECT_GT(m["kernels"][0]["energy"]["throttled_cycles"].get<double>(), 0);
  EXPECT_NEAR(steady(m["energy"]["clock_mhz_over_time"]) / 1305, 1, 0.1);
}

TEST_F(long_published_power, of_a_copy_is_that_of_its_bytes) {
  const json m =
      limited("--kernel " HEDDLE_SOURCE
              "/tests/hardware/energy/peak.ptx:stream_copy --grid 16384 --block 256 --arg buf:67108864 --arg "
              "buf:67108864 --gpu a100",
              limit);
  const json& k = m["kernels"][0];
  const double seconds = k["energy"]["seconds"], bits = 8 * 2 * 67108864.0 / seconds;
  // Part of what was written is still in the L2.
  const json& moved = k["memory"]["dram"];
  const double from_dram = 8 * (moved["read_bytes"].get<double>() + moved["write_bytes"].get<double>()) / seconds;
  const double published = std::min(limit, constant + (bits * (l1 + l2) + from_dram * dram) * 1e-12);
  EXPECT_NEAR(mean_watts(m) / published, 1, 0.1) << published;
}

// The H100, against what the same kernels took on one (tests/hardware/energy/README.md): 698 W, its limit, and 1,583
// MHz with random operands, 406 W with zeros; a copy 525 W.
class long_measured_power : public peak_power {
 protected:
  const std::string product = HEDDLE_SOURCE "/tests/hardware/energy/peak_h100.json --gpu h100";
};

TEST_F(long_measured_power, of_a_matrix_product_is_the_boards_limit) {
  const json m = limited(product, 700);
  EXPECT_NEAR(steady(m["energy"]["milliwatts_over_time"]) / 1000 / 698, 1, 0.1);
  EXPECT_NEAR(steady(m["energy"]["clock_mhz_over_time"]) / 1583, 1, 0.1);
  EXPECT_NEAR(m["kernels"][0]["energy"]["seconds"].get<double>() / 76.3e-6, 1, 0.1);
}

// Without the 0.9 us to the next launch of the graph at the power of an idle chip, 129 W. The product takes less time
// here (docs/model/energy.md), so its energy is compared.
TEST_F(long_measured_power, of_a_matrix_product_of_zeros_is_below_it) {
  const json e = limited(product + " --set energy.operand_activity=0", 700)["kernels"][0]["energy"];
  EXPECT_EQ(e["throttled_cycles"].get<std::uint64_t>(), 0u);
  EXPECT_NEAR(e["total_joules"].get<double>() / (406 * 70.9e-6 - 129 * 0.9e-6), 1, 0.1);
}

TEST_F(long_measured_power, of_a_copy) {
  const json m =
      limited("--kernel " HEDDLE_SOURCE
              "/tests/hardware/energy/peak.ptx:stream_copy --grid 16384 --block 256 --arg buf:67108864 --arg "
              "buf:67108864 --gpu h100",
              700);
  EXPECT_NEAR(mean_watts(m) / 525, 1, 0.1);
}

}  // namespace power_cap_program_test
