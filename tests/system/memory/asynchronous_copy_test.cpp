// SPDX-License-Identifier: MIT
// Copies from global to shared memory that a warp does not wait for: asynchronous_copy.cu.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace asynchronous_copy_test {

namespace fs = std::filesystem;
using bytes = std::vector<std::uint8_t>;
using words = std::vector<std::uint32_t>;
using json = nlohmann::json;

constexpr std::size_t input_words = 1u << 16;

template <class T>
std::vector<T> as(const std::string& content) {
  std::vector<T> all(content.size() / sizeof(T));
  std::memcpy(all.data(), content.data(), all.size() * sizeof(T));
  return all;
}

class asynchronous_copy : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = test.name();
    for (char& c : name) c = c == '/' ? '_' : c;
    place_ = fs::path(HEDDLE_SCRATCH "/asynchronous_copy") / name;
    fs::create_directories(place_);
    for (std::uint32_t k = 0; k < input_words; ++k) in_.push_back(k * 2654435761u | 2);
    std::ofstream(place_ / "in.bin", std::ios::binary)
        .write(reinterpret_cast<const char*>(in_.data()), 4 * static_cast<std::streamsize>(input_words));
  }

  /// Runs a kernel. `options`: words of the command line, the input is the first argument.
  heddle::test::outcome run(const std::string& kernel, const std::string& options) const {
    std::vector<std::string> command{
        HEDDLE_PROGRAM, "run",      "--kernel", HEDDLE_SOURCE "/tests/system/memory/asynchronous_copy.ptx:" + kernel,
        "--gpu",        GetParam(), "--quiet",  "--arg",
        "in:in.bin"};
    std::istringstream text(options);
    for (std::string word; text >> word;) command.push_back(word);
    return heddle::test::run_program(command, {place_});
  }
  [[nodiscard]] std::string output() const { return heddle::test::content(place_ / "out.bin"); }

  fs::path place_;
  words in_;
};

// The published latency of a copy that hits the L1 is 39 cycles (Huerta et al. 2025, table 2). Here its data come as
// far as those of a load before they are written: 45, and two to read the clock.
TEST_P(asynchronous_copy, is_not_waited_for_until_its_group_is) {
  const auto o = run("cycles", "--grid 1 --block 32 --arg out:64:out.bin --metrics m.json");
  ASSERT_EQ(o.code, 0) << o.err;
  const words t = as<std::uint32_t>(output());
  EXPECT_LT(t[0], 20u) << "cycles to issue a copy";
  EXPECT_NEAR(t[1], t[2], 60) << "cycles until it is there, and of a load";
  EXPECT_GT(t[1], 300u);
  EXPECT_EQ(t[3], 45 + 2u) << "of a copy that hits the L1";
  EXPECT_LT(t[4], 60u) << "of two groups the older one, which hits the L1";
  EXPECT_GT(t[5], 300u) << "the newer one";
  const auto m = json::parse(heddle::test::content(place_ / "m.json"));
  const auto& states = m["kernels"][0]["warp_states"];
  EXPECT_GE(states["long_scoreboard"].get<unsigned>(), 0.9 * (t[1] + t[2] + t[5])) << states;
}

TEST_P(asynchronous_copy, of_a_ring_of_tiles_gives_what_the_cpu_gives) {
  constexpr unsigned blocks = 12, tiles = 23, threads = 128;
  words expected;
  for (unsigned b = 0; b < blocks; ++b)
    for (unsigned t = 0; t < threads; ++t) {
      std::uint32_t sum = 0;
      for (unsigned k = 0; k < tiles; ++k) sum += in_[(b * tiles + k) * threads + (t + k * 37) % threads] * (k + 1);
      expected.push_back(sum);
    }
  json job = {{"module", HEDDLE_SOURCE "/tests/system/memory/asynchronous_copy.ptx"},
              {"buffers", {{"in", {{"file", "in.bin"}}}, {"out", {{"bytes", 4 * expected.size()}}}}},
              {"launches",
               {{{"kernel", "tiles"},
                 {"grid", {blocks}},
                 {"block", {threads}},
                 {"args", {{{"buffer", "in"}}, {{"buffer", "out"}}, {{"u32", tiles}}}}}}},
              {"outputs", {{{"buffer", "out"}, {"file", "out.bin"}}}}};
  const auto execute = [&] {
    std::ofstream(place_ / "job.json") << job;
    const auto o = heddle::test::run_program({HEDDLE_PROGRAM, "run", "job.json", "--gpu", GetParam(), "--set",
                                              "gpu.sm_count=2", "--quiet", "--metrics", "m.json"},
                                             {place_});
    EXPECT_EQ(o.code, 0) << o.err;
    EXPECT_EQ(as<std::uint32_t>(output()), expected) << job["preempt"];
    return json::parse(heddle::test::content(place_ / "m.json"));
  };
  const auto cycles = execute()["kernels"][0]["cycles"].get<unsigned>();
  // Stopped with copies in flight, in different phases of the loop.
  for (unsigned k = 1; k < 12; ++k) {
    job["preempt"] = {{{"at_cycle", cycles * k / 14 + 7 * k}, {"resume_after", 100}}};
    EXPECT_EQ(execute()["context_switches"].size(), 2u) << job["preempt"];
  }
}

TEST_P(asynchronous_copy, fills_with_zeros_what_it_does_not_copy) {
  ASSERT_EQ(run("parts", "--grid 1 --block 128 --arg out:6144:out.bin").code, 0);
  const bytes out = as<std::uint8_t>(output());
  const auto* const in = reinterpret_cast<const std::uint8_t*>(in_.data());
  for (unsigned thread = 0; thread < 128; ++thread)
    for (unsigned i = 0; i < 16; ++i) {
      const unsigned t = thread ^ 5;  // that has copied
      const std::uint8_t counted = i < t % 17 ? in[t * 16 + i] : 0;
      const bool half = i < 8 && t % 3 != 0;
      const std::uint8_t chosen = !half ? 0xee : (t & 2) != 0 ? 0 : in[t * 16 + 8 + i];
      const std::uint8_t nothing = i < 4 ? 0 : 0xee;
      EXPECT_EQ(out[thread * 16 + i], counted) << thread << ' ' << i;
      EXPECT_EQ(out[2048 + thread * 16 + i], chosen) << thread << ' ' << i;
      EXPECT_EQ(out[4096 + thread * 16 + i], nothing) << thread << ' ' << i;
    }
}

TEST_P(asynchronous_copy, of_a_warp_that_has_left_does_not_reach_the_next_block) {
  // One block at a time: its shared memory is all of the SM's.
  const auto o = run("leaves", "--grid 64 --block 32 --shared-bytes 90000 --arg out:8192:out.bin --set gpu.sm_count=1");
  ASSERT_EQ(o.code, 0) << o.err;
  const words out = as<std::uint32_t>(output());
  for (unsigned k = 0; k < out.size(); ++k) EXPECT_EQ(out[k], k / 32 % 2 == 0 ? 0u : 7u) << k;
}

TEST_P(asynchronous_copy, to_or_from_an_illegal_address_is_a_fault_with_its_place) {
  const auto to = run("outside", "--grid 1 --block 32 --arg buf:256 --arg u32:49152 --arg u64:0");
  EXPECT_EQ(to.code, 1);
  EXPECT_NE(to.err.find("shared memory write of 4 bytes at 0xc000 is outside the block's 128 bytes"), std::string::npos)
      << to.err;
  const auto from = run("outside", "--grid 1 --block 32 --arg buf:256 --arg u32:0 --arg u64:4096");
  EXPECT_EQ(from.code, 1);
  EXPECT_NE(from.err.find("illegal address 0x00001000 (4-byte load)"), std::string::npos) << from.err;
}

INSTANTIATE_TEST_SUITE_P(on, asynchronous_copy, ::testing::Values("a100", "rtx3070", "h100"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace asynchronous_copy_test
