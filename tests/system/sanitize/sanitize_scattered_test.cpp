// SPDX-License-Identifier: MIT
// heddle run --sanitize: lanes that access words and bytes of global memory far apart; each kernel of scattered.cu with
// a race is told from the one beside it that has none.
#include <gtest/gtest.h>

#include "tests/system/sanitize/sanitize_fixture.h"

namespace sanitize_scattered_test {

using sanitize_runs::launch;
using sanitize_runs::outcome;
using sanitize_runs::run;

struct pair_of_kernels {
  const char* name;
  const char* line;          // of scattered.cu; of the later access
  bool in_lock_step = true;  // also a race where the lanes of a warp run in lock step
};

constexpr pair_of_kernels pairs[] = {
    {"words", "scattered.cu:16"},
    {"bytes", "scattered.cu:16"},
    {"halves", "scattered.cu:16"},
    {"doubles", "scattered.cu:16"},
    {"read_by_many", "scattered.cu:29"},
    {"permutation", "scattered.cu:35"},
    {"counters", "scattered.cu:44"},
    {"counters_of_block", "scattered.cu:51"},
    {"check_then_count", "scattered.cu:58"},
    {"exchange", "scattered.cu:70"},
    {"exchange_in_warp", "scattered.cu:84", false},
    {"row_then_far", "scattered.cu:93"},
    {"marked_words", "scattered.cu:130"},
    {"marked_bytes", "scattered.cu:130"},
    {"marked_twice", "scattered.cu:139", false},
};

outcome checked(const std::string& kernel, const std::string& gpu) {
  return run({"scattered.ptx", kernel, 4, 64, {"buf:2048"}}, gpu);
}

class sanitize_scattered : public testing::TestWithParam<pair_of_kernels> {};

TEST_P(sanitize_scattered, races_are_told_from_kernels_without) {
  const pair_of_kernels& p = GetParam();
  for (const char* gpu : {"a100", "gtx1080"}) {
    const bool races = p.in_lock_step || gpu == std::string("a100");
    const outcome race = checked("race_" + std::string(p.name), gpu);
    EXPECT_EQ(race.code, races ? 1 : 0) << gpu << "\n" << race.err;
    if (races) {
      EXPECT_NE(race.err.find("race: "), std::string::npos) << race.err;
      EXPECT_NE(race.err.find(" of global memory at 0x"), std::string::npos) << race.err;
      EXPECT_NE(race.err.find(p.line), std::string::npos) << race.err;
    }
    const outcome none = checked("free_" + std::string(p.name), gpu);
    EXPECT_EQ(none.code, 0) << gpu << "\n" << none.err;
    EXPECT_EQ(none.err, "") << gpu;
  }
}

INSTANTIATE_TEST_SUITE_P(all, sanitize_scattered, testing::ValuesIn(pairs),
                         [](const auto& p) { return std::string(p.param.name); });

TEST(sanitize_neighbours, are_told_from_those_a_barrier_orders) {
  const auto found = [](const std::string& kernel, unsigned blocks, unsigned threads, const std::string& gpu) {
    const outcome o = run({"scattered.ptx", kernel, blocks, threads, {"buf:4096", "buf:4096"}}, gpu);
    EXPECT_EQ(o.code == 1, o.err.find("race: ") != std::string::npos) << kernel << o.err;
    return o.code;
  };
  for (const std::string gpu : {"a100", "gtx1080"}) {
    for (const std::string size : {"", "wide_", "narrow_"}) {
      EXPECT_EQ(found("race_" + size + "neighbours", 2, 96, gpu), 1) << size << gpu;
      EXPECT_EQ(found("free_" + size + "neighbours", 2, 96, gpu), 0) << size << gpu;
    }
    EXPECT_EQ(found("race_row_of_neighbours", 1, 512, gpu), 1) << gpu;
    EXPECT_EQ(found("free_row_of_neighbours", 1, 512, gpu), 0) << gpu;
  }
}

}  // namespace sanitize_scattered_test
