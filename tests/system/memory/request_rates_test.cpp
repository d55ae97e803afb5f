// SPDX-License-Identifier: MIT
// Sectors a cycle between the SMs and the L2 of an H100, and atomics of one SM on one word:
// tests/hardware/h100/requests.csv and atomics.csv. The kernels are those of requests_kernels.cu.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace request_rates_test {

namespace fs = std::filesystem;
using words = std::vector<std::string>;

double cycles_of(const std::string& kernel, unsigned blocks, unsigned threads, const words& arguments,
                 const words& options) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/request_rates");
  fs::create_directories(place);
  const std::string metrics = std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + ".json";
  words command{HEDDLE_PROGRAM, "run",
                "--kernel",     HEDDLE_SOURCE "/tests/hardware/h100/requests_kernels.ptx:" + kernel,
                "--gpu",        "h100",
                "--grid",       std::to_string(blocks),
                "--block",      std::to_string(threads),
                "--metrics",    metrics,
                "--quiet"};
  for (const std::string& a : arguments) command.insert(command.end(), {"--arg", a});
  command.insert(command.end(), options.begin(), options.end());
  const heddle::test::outcome o = heddle::test::run_program(command, {place, "stdout", "stderr", 600});
  EXPECT_EQ(o.code, 0) << o.err;
  if (o.code != 0) return 1;
  const auto k = nlohmann::json::parse(heddle::test::content(place / metrics))["kernels"][0];
  return k["end_cycle"].get<double>() - k["start_cycle"].get<double>();
}

struct pattern {
  const char* kernel;
  unsigned pitch;    // bytes from lane to lane
  unsigned step;     // bytes from access to access
  unsigned sectors;  // of an access
};

/// Sectors a cycle once the SMs are busy: of the accesses by which a longer run exceeds a shorter one.
double rate_of(const pattern& p, unsigned sms, const words& options = {}) {
  const unsigned few = sms == 1 ? 8 : 2, many = sms == 1 ? 24 : 8;
  const auto cycles = [&](unsigned rounds) {
    const auto word = [](unsigned n) { return "u32:" + std::to_string(n); };
    return cycles_of(p.kernel, sms, 1024, {"buf:2097152", word(rounds), word(p.pitch), word(p.step), word(2097152)},
                     options);
  };
  return sms * 32.0 * (many - few) * p.sectors / (cycles(many) - cycles(few));
}

constexpr pattern whole{"store_16", 16, 512, 16}, four_parts{"store_4", 32, 1024, 32},
    two_parts{"store_4", 64, 2048, 32}, one_part{"store_4", 128, 4096, 32};

TEST(request_rates, one_sm_sends_a_sector_a_cycle_and_a_mask_for_parts) {
  EXPECT_NEAR(rate_of(whole, 1) / 1.0, 1, 0.03);
  EXPECT_NEAR(rate_of(four_parts, 1) / 0.8, 1, 0.03);
  EXPECT_NEAR(rate_of(two_parts, 1) / 0.667, 1, 0.03);
  EXPECT_NEAR(rate_of(one_part, 1) / 0.5, 1, 0.03);
  EXPECT_GT(rate_of(one_part, 1, {"--set", "interconnect.mask_bytes=0"}), 0.85);
}

TEST(request_rates, slices_take_a_flit_in_each_of_their_cycles) {
  EXPECT_NEAR(rate_of(whole, 132) / 63.6, 1, 0.1);
  EXPECT_NEAR(rate_of(four_parts, 132) / 52.3, 1, 0.1);
  EXPECT_NEAR(rate_of(two_parts, 132) / 44.1, 1, 0.13);
  EXPECT_NEAR(rate_of(one_part, 132) / 32.9, 1, 0.1);
}

}  // namespace request_rates_test
