// SPDX-License-Identifier: MIT
// heddle run --sanitize: threads that access the same words again and again. Each kernel of repeated.cu with a race is
// told from the one beside it that has none.
#include <gtest/gtest.h>

#include "tests/system/sanitize/sanitize_fixture.h"

namespace sanitize_repeated_test {

using sanitize_runs::outcome;
using sanitize_runs::run;

struct pair_of_kernels {
  const char* name;
  const char* race;  // where: of the later access
};

constexpr pair_of_kernels pairs[] = {
    {"volatile_then_read", "repeated.cu:18"},  {"volatile_then_write", "repeated.cu:32"},
    {"volatile_bytes", "repeated.cu:45"},      {"volatile_turns", "repeated.cu:57"},
    {"counted_then_reset", "repeated.cu:74"},  {"flag_among_words", "repeated.cu:95"},
    {"exchange_then_read", "repeated.cu:122"}, {"exchange_then_write", "repeated.cu:122"},
    {"table_then_write", "repeated.cu:156"},
};

class sanitize_repeated : public testing::TestWithParam<pair_of_kernels> {};

TEST_P(sanitize_repeated, races_are_told_from_kernels_without) {
  const pair_of_kernels& p = GetParam();
  for (const char* gpu : {"a100", "gtx1080"}) {
    const outcome race = run({"repeated/repeated.ptx", "race_" + std::string(p.name), 1, 64, {"buf:512"}}, gpu);
    EXPECT_EQ(race.code, 1) << gpu << "\n" << race.err;
    EXPECT_NE(race.err.find("race: "), std::string::npos) << race.err;
    EXPECT_NE(race.err.find(p.race), std::string::npos) << race.err;
    const outcome none = run({"repeated/repeated.ptx", "free_" + std::string(p.name), 1, 64, {"buf:512"}}, gpu);
    EXPECT_EQ(none.code, 0) << gpu << "\n" << none.err;
    EXPECT_EQ(none.err, "") << gpu;
  }
}

INSTANTIATE_TEST_SUITE_P(all, sanitize_repeated, testing::ValuesIn(pairs),
                         [](const auto& p) { return std::string(p.param.name); });

// In lock step nothing is missing.
TEST(sanitize_exchange, without_a_meeting_of_lanes_that_diverge_is_found) {
  for (const char* kernel : {"race_exchange_apart", "free_exchange_apart"}) {
    const bool races = kernel[0] == 'r';
    const outcome o = run({"repeated/repeated.ptx", kernel, 1, 64, {"buf:512"}}, "a100");
    EXPECT_EQ(o.code, races ? 1 : 0) << o.err;
    EXPECT_EQ(o.err.find("repeated.cu:172") != std::string::npos, races) << o.err;
    const outcome lock_step = run({"repeated/repeated.ptx", kernel, 1, 64, {"buf:512"}}, "gtx1080");
    EXPECT_EQ(lock_step.code, 0) << lock_step.err;
  }
}

// Instructions that have raced a thousand times are checked less often: counts say so, and later races are found.
TEST(sanitize_many_races, are_counted_in_part) {
  const outcome o = run({"repeated/repeated.ptx", "many_races", 64, 64, {"buf:32768"}}, "a100");
  EXPECT_EQ(o.code, 1) << o.err;
  for (const char* line : {"repeated.cu:108: race", "repeated.cu:109: race", "repeated.cu:112: race"})
    EXPECT_NE(o.err.find(line), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("\n  and at least "), std::string::npos) << o.err;
  EXPECT_NE(o.err.find("heddle: sanitize: found 3 places (races 3) with at least "), std::string::npos) << o.err;
}

}  // namespace sanitize_repeated_test
