// SPDX-License-Identifier: MIT
// --cold: each launch finds empty caches and an idle GPU, as under a profiler; without it launches find what earlier
// ones left.
#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace cold_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
namespace test = heddle::test;

// y[i] += x[i] over 32 KiB each: four launches, two of them in a second stream.
const char* const module = R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry add(.param .u64 x, .param .u64 y)
{
  .reg .u64 %d<5>;
  .reg .u32 %r<6>;
  ld.param.u64 %d0, [x];
  ld.param.u64 %d1, [y];
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %tid.x;
  mad.lo.u32 %r2, %r0, 256, %r1;
  mul.wide.u32 %d2, %r2, 4;
  add.u64 %d3, %d0, %d2;
  add.u64 %d4, %d1, %d2;
  ld.global.u32 %r3, [%d3];
  ld.global.u32 %r4, [%d4];
  add.u32 %r5, %r3, %r4;
  st.global.u32 [%d4], %r5;
  ret;
}
)";

class cold : public ::testing::Test {
 protected:
  cold() : place_(fs::path(HEDDLE_SCRATCH "/cold") / ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(place_);
    std::ofstream(place_ / "add.ptx") << module;
    json launches = json::array();
    for (const unsigned stream : {0u, 0u, 1u, 1u})
      launches.push_back({{"kernel", "add"},
                          {"grid", {32}},
                          {"block", {256}},
                          {"stream", stream},
                          {"args", {{{"buffer", "x"}}, {{"buffer", stream == 0 ? "y" : "z"}}}}});
    const json job = {{"module", "add.ptx"},
                      {"buffers",
                       {{"x", {{"bytes", 32768}, {"fill", "iota32"}}},
                        {"y", {{"bytes", 32768}, {"fill", "iota32"}}},
                        {"z", {{"bytes", 32768}, {"fill", "iota32"}}}}},
                      {"launches", launches},
                      {"outputs", {{{"buffer", "y"}, {"file", "y.bin"}}, {{"buffer", "z"}, {"file", "z.bin"}}}}};
    std::ofstream(place_ / "job.json") << job.dump();
  }
  test::outcome run(const std::vector<std::string>& options) {
    std::vector<std::string> command{HEDDLE_PROGRAM, "run",  "job.json",  "--quiet",
                                     "--gpu",        "v100", "--metrics", "m.json"};
    command.insert(command.end(), options.begin(), options.end());
    return test::run_program(command, {place_});
  }
  json kernels(const std::vector<std::string>& options) {
    const test::outcome o = run(options);
    EXPECT_EQ(0, o.code) << o.err;
    for (const char* file : {"y.bin", "z.bin"}) {
      const std::string data = test::content(place_ / file);
      EXPECT_EQ(32768u, data.size());
      for (std::uint32_t i = 0; i < data.size() / 4; ++i) {
        std::uint32_t word = 0;
        std::memcpy(&word, &data[i * 4], 4);
        if (word == 3 * i) continue;
        ADD_FAILURE() << file << "[" << i << "] is " << word;
        break;
      }
    }
    return json::parse(test::content(place_ / "m.json"))["kernels"];
  }

  static unsigned read_by(const json& kernel) { return kernel["memory"]["dram"]["read_bytes"].get<unsigned>(); }
  /// Bytes of code that a cold launch reads from memory, beside x and y: whole lines.
  static unsigned code_of(const json& kernel) {
    const unsigned code = read_by(kernel) - 65536;
    EXPECT_GE(code, 2u * 128);
    EXPECT_LE(code, 12u * 128);
    EXPECT_EQ(code % 128, 0u);
    return code;
  }

  const fs::path place_;
};

TEST_F(cold, each_launch_reads_from_memory_and_runs_alone) {
  const json k = kernels({"--cold"});
  ASSERT_EQ(4u, k.size());
  const unsigned code = code_of(k[0]);
  for (std::size_t n = 0; n < k.size(); ++n) {
    EXPECT_EQ(n, k[n]["launch"].get<unsigned>());
    EXPECT_EQ(65536 + code, read_by(k[n])) << n;
    EXPECT_EQ(k[0]["memory"]["l2"]["misses"], k[n]["memory"]["l2"]["misses"]) << n;
    EXPECT_EQ(k[0]["warp_cycles"]["inst_fetch"].get<unsigned>() > 0, k[n]["warp_cycles"]["inst_fetch"] > 0) << n;
    if (n != 0) {
      EXPECT_GT(k[n]["start_cycle"].get<unsigned>(), k[n - 1]["end_cycle"].get<unsigned>());
    }
  }
}

TEST_F(cold, the_default_is_warm) {
  const json k = kernels({});
  ASSERT_EQ(4u, k.size());
  unsigned read = 0;
  for (const json& kernel : k) read += read_by(kernel);
  EXPECT_EQ(3u * 32768 + code_of(kernels({"--cold"})[0]), read);  // x, y, z and the code, once each
  EXPECT_NE(k[0]["stream"], k[1]["stream"]);
  EXPECT_LT(k[1]["start_cycle"].get<unsigned>(), k[0]["end_cycle"].get<unsigned>());  // streams overlap
  EXPECT_EQ(k, kernels({"--warm"}));
  EXPECT_EQ(2, run({"--warm", "--cold"}).code);
}

// Cold, each launch reads its code from memory, once for all SMs. The SMs' reads of it are the L2's, not the L1s'. With
// second_level_misses = fixed it takes a latency and no traffic.
TEST_F(cold, code_is_read_through_the_l2) {
  const json fixed = kernels({"--cold", "--set", "instruction_cache.second_level_misses=fixed"});
  const json k = kernels({"--cold"});
  ASSERT_EQ(4u, k.size());
  const unsigned code = code_of(k[0]);
  for (std::size_t n = 0; n < k.size(); ++n) {
    EXPECT_EQ(65536u, read_by(fixed[n])) << n;
    EXPECT_EQ(fixed[n]["memory"]["l1"], k[n]["memory"]["l1"]);
    // 32 blocks on as many SMs
    EXPECT_EQ(fixed[n]["memory"]["l2"]["read_bytes"].get<unsigned>() + 32 * code, k[n]["memory"]["l2"]["read_bytes"]);
    EXPECT_GT(k[n]["warp_cycles"]["inst_fetch"], fixed[n]["warp_cycles"]["inst_fetch"]);
  }
}

}  // namespace cold_test
