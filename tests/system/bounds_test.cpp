// SPDX-License-Identifier: MIT
// How much memory the program takes: it follows what is resident on the GPU, not the length of a program or of a trace.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/bench/bench_traces.h"

namespace {

namespace fs = std::filesystem;

// Bytes at most in use at one time, as the metrics tell.
double peak_bytes(const std::string& arguments) {
  fs::create_directories(HEDDLE_SCRATCH);
  const std::string metrics = HEDDLE_SCRATCH "/metrics.json";
  const std::string line = "'" HEDDLE_PROGRAM "' " + arguments + " --quiet --progress never --metrics '" + metrics + "'";
  EXPECT_EQ(std::system(line.c_str()), 0) << line;
  std::ifstream in(metrics);
  return nlohmann::json::parse(in)["host"]["peak_rss_bytes"].get<double>();
}

double peak_of_trace(unsigned blocks) {
  const fs::path folder = fs::path(HEDDLE_SCRATCH) / std::to_string(blocks);
  fs::create_directories(folder);
  const double bytes = peak_bytes("replay '" + bench::write_trace(bench::trace_kind::streaming, folder, blocks) + "' --gpu v100");
  fs::remove_all(folder);
  return bytes;
}

// The sanitizers keep books of their own.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool own_memory = false;
#else
constexpr bool own_memory = true;
#endif

TEST(memory_bounds, a_v100_with_all_its_warps_resident_takes_less_than_500_megabytes) {
  if (!own_memory) GTEST_SKIP();
  EXPECT_LT(peak_bytes("run '" HEDDLE_WORKLOADS "/sgemm/job.json' --gpu v100"), 500e6);
}

TEST(memory_bounds, a_trace_takes_what_its_resident_blocks_take) {
  if (!own_memory) GTEST_SKIP();
  const double filled = peak_of_trace(1280);   // twice what fits the chip at one time
  const double long_one = peak_of_trace(25600);   // more than is ever kept of what was read
  EXPECT_LT(long_one, 1.05 * filled);
  EXPECT_LT(long_one, 1e9);
}

}  // namespace
