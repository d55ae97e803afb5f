// SPDX-License-Identifier: MIT
// heddle run --sanitize: each kernel of races.cu with a race is told from the one beside it that has none.
#include <gtest/gtest.h>

#include "tests/system/common/json_text.h"
#include "tests/system/sanitize/sanitize_fixture.h"

namespace sanitize_races_test {

using sanitize_runs::launch;
using sanitize_runs::outcome;
using sanitize_runs::run;

struct pair_of_kernels {
  const char* name;
  unsigned buffers;          // arguments
  const char* memory;        // in which they race
  const char* line;          // of races.cu; of the later access
  bool in_lock_step = true;  // also a race where the lanes of a warp run in lock step
};

constexpr pair_of_kernels pairs[] = {
    {"missing_barrier", 1, "shared", "races.cu:14"},
    {"tile_loop", 1, "shared", "races.cu:24"},
    {"reduction", 1, "shared", "races.cu:39", false},
    {"warp_programming", 1, "shared", "races.cu:55", false},
    {"partial_syncwarp", 1, "shared", "races.cu:69", false},
    {"shared_counter", 1, "shared", "races.cu:80"},
    {"bytes_of_a_word", 1, "shared", "races.cu:90"},
    {"named_barriers", 1, "shared", "races.cu:104"},
    {"arrive_and_sync", 1, "shared", "races.cu:120"},
    {"message", 3, "global", "races.cu:138"},
    {"narrow_fence", 3, "global", "races.cu:156"},
    {"last_block", 3, "global", "races.cu:173"},
    {"one_word", 1, "global", "races.cu:182"},
    {"block_atomics", 1, "global", "races.cu:189"},
    {"plain_read_of_a_counter", 2, "global", "races.cu:196"},
    {"grid_barrier", 3, "global", "races.cu:213"},
    {"stencil", 2, "global", "races.cu:222"},
    {"lock", 2, "global", "races.cu:235"},
    {"flag_in_block", 1, "shared", "races.cu:255"},
    {"lanes_of_an_instruction", 1, "shared", "races.cu:264"},
    {"transaction_barrier", 1, "shared", "races.cu:290"},
    {"copy_without_wait", 2, "shared", "races.cu:305"},
    {"relaxed_poll", 3, "global", "races.cu:339"},
    {"fence_of_reader", 3, "global", "races.cu:356"},
    {"copy_without_barrier", 2, "shared", "races.cu:315"},
};

launch launch_of(const std::string& kernel, unsigned buffers) {
  launch l;
  l.file = "races.ptx";
  l.kernel = kernel;
  l.arguments.emplace_back("out:1024:o.bin");
  for (unsigned k = 1; k < buffers; ++k) l.arguments.emplace_back("buf:1024");
  return l;
}

class sanitize_races : public testing::TestWithParam<pair_of_kernels> {};

TEST_P(sanitize_races, are_told_from_kernels_without) {
  const pair_of_kernels& p = GetParam();
  const outcome race = run(launch_of("race_" + std::string(p.name), p.buffers), "a100");
  EXPECT_EQ(race.code, 1) << race.err;
  EXPECT_NE(race.err.find("race: "), std::string::npos) << race.err;
  EXPECT_NE(race.err.find(" of " + std::string(p.memory) + " memory at 0x"), std::string::npos) << race.err;
  EXPECT_NE(race.err.find(p.line), std::string::npos) << race.err;
  const outcome none = run(launch_of("free_" + std::string(p.name), p.buffers), "a100");
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_EQ(none.err, "");
}

INSTANTIATE_TEST_SUITE_P(all, sanitize_races, testing::ValuesIn(pairs),
                         [](const auto& p) { return std::string(p.param.name); });

// However many have read a word, each read counts.
TEST(sanitize_many_reads, one_that_is_not_ordered_is_found) {
  const auto readers = [](const char* kind, unsigned silent) {
    return run({"races.ptx",
                kind + std::string("_many_readers"),
                20,
                64,
                {"buf:1024", "buf:1024", "buf:1024", "u32:" + std::to_string(silent)}},
               "v100");
  };
  for (const unsigned silent : {0u, 6u, 7u, 8u, 12u, 18u}) {
    const outcome race = readers("race", silent), none = readers("free", silent);
    EXPECT_EQ(race.code, 1) << silent << race.err;
    EXPECT_NE(race.err.find("block (" + std::to_string(silent) + ",0,0), thread (0,0,0): read"), std::string::npos)
        << race.err;
    EXPECT_EQ(none.code, 0) << silent << none.err;
  }
  const auto warps = [](const char* kind, unsigned silent) {
    return run({"races.ptx",
                kind + std::string("_many_warps"),
                1,
                512,
                {"buf:2048", "buf:1024", "u32:" + std::to_string(silent)}},
               "v100");
  };
  for (const unsigned silent : {1u, 8u, 15u}) {
    const outcome race = warps("race", silent), none = warps("free", silent);
    EXPECT_EQ(race.code, 1) << silent << race.err;
    EXPECT_NE(race.err.find("thread (" + std::to_string(32 * silent) + ",0,0): read"), std::string::npos) << race.err;
    EXPECT_EQ(none.code, 0) << silent << none.err;
  }
}

// A chip whose warps run in lock step orders the lanes of a warp.
TEST(sanitize_lock_step, lanes_of_a_warp_do_not_race) {
  for (const pair_of_kernels& p : pairs) {
    if (std::string(p.name).compare(0, 4, "copy") == 0 || std::string(p.name) == "transaction_barrier") continue;
    const outcome race = run(launch_of("race_" + std::string(p.name), p.buffers), "gtx1080");
    EXPECT_EQ(race.code, p.in_lock_step ? 1 : 0) << p.name << "\n" << race.err;
    const outcome none = run(launch_of("free_" + std::string(p.name), p.buffers), "gtx1080");
    EXPECT_EQ(none.code, 0) << p.name << "\n" << none.err;
  }
}

TEST(sanitize_message, names_places_threads_and_values) {
  const outcome o = run(launch_of("race_missing_barrier", 1), "a100", "--sanitize=races");
  const std::string in = " in void missing_barrier<false>(unsigned int*), called at races.cu:16";
  EXPECT_EQ(
      o.err.find(
          "heddle: error: races.cu:12" + in +
          ": race: write of shared memory at 0x80 and a read that nothing orders, in kernel 'race_missing_barrier'\n"
          "  block (0,0,0), thread (32,0,0): write of 4 bytes, value 0x61, at races.cu:12" +
          in + "\n  block (0,0,0), thread (31,0,0): read, value 0x0, at races.cu:14" + in +
          "\n  and 63 cases more at this place\n"),
      0u)
      << o.err;
  EXPECT_NE(o.err.find("\nheddle: sanitize: found 2 places (races 2) with 128 cases\n"), std::string::npos) << o.err;
}

// An unrolled loop is one place.
TEST(sanitize_message, joins_instructions_of_a_line) {
  const outcome o = run(launch_of("race_tile_loop", 1), "a100", "--sanitize=races");
  EXPECT_NE(o.err.find("heddle: sanitize: found 2 places (races 2)"), std::string::npos) << o.err;
}

}  // namespace sanitize_races_test
