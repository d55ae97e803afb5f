// SPDX-License-Identifier: MIT
// Every rule of docs/use/advice.md on three GPUs and with two sizes of each kernel: the estimate must be within a
// factor of 1.5 of what mending brings. Of kernels that are as they should be, nothing is said. The suite takes one
// size of each kernel on one GPU; long_all and long_on take all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/system/advice/advice_rows.h"
#include "tests/system/advice/page_rows.h"
#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace advice_table_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

class advice_table : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  advice_table() : gpu_(std::get<0>(GetParam())), size_(std::get<1>(GetParam())) {
    place_ = fs::path(HEDDLE_SCRATCH "/advice_table") /
             ::testing::UnitTest::GetInstance()->current_test_info()->test_suite_name() /
             (gpu_ + std::to_string(size_));
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  // Grids of more than two blocks an SM are run on sixteen SMs of the large chips.
  unsigned grid_of(double blocks) {
    is_cut_ = gpu_ != "gtx1080" && blocks > 2;
    const unsigned sms = gpu_ == "gtx1080" ? 20 : is_cut_ ? 16 : gpu_ == "v100" ? 80 : 132;
    return static_cast<unsigned>(std::lround(blocks * sms));
  }

  void run(const std::string& file, const std::string& kernel, unsigned blocks, const words& arguments,
           const words& options = {}) {
    run(file, kernel, std::to_string(blocks), "256", arguments, options);
  }
  void run(const std::string& file, const std::string& kernel, const std::string& grid, const std::string& block,
           const words& arguments, const words& options) {
    words launch = {"--kernel", source_of(file) + ":" + kernel, "--grid", grid, "--block", block};
    launch.insert(launch.end(), options.begin(), options.end());
    for (const std::string& a : arguments) launch.insert(launch.end(), {"--arg", a});
    run(launch);
  }
  static std::string source_of(const std::string& file) { return HEDDLE_SOURCE "/tests/system/" + file + ".ptx"; }
  // `launch`: options that say what runs, or a job file.
  void run(const words& launch) {
    words command = {HEDDLE_PROGRAM, "run"};
    command.insert(command.end(), launch.begin(), launch.end());
    command.insert(command.end(),
                   {"--gpu", gpu_, "--report", "r.html", "--metrics", "m.json", "--progress", "never", "--quiet"});
    if (is_cut_) command.insert(command.end(), {"--set", "gpu.sm_count=16"});
    const heddle::test::outcome o = heddle::test::run_program(command, {place_});
    ASSERT_EQ(o.code, 0) << o.err;
    cycles_ = json::parse(heddle::test::content(place_ / "m.json"))["kernels"][0]["cycles"];
    const std::string page = heddle::test::content(place_ / "r.html");
    const std::size_t begin = page.find('>', page.find("id=\"heddle-data\"")) + 1;
    advice_ = json::parse(page.substr(begin, page.find("</script>", begin) - begin))["files"][0]["judged"][0]["advice"];
  }
  [[nodiscard]] double estimate_of(const std::string& rule) const {
    for (const json& a : advice_)
      if (a["rule"] == rule) return a["speedup"];
    return 1;  // nothing worth telling
  }
  [[nodiscard]] std::string place_of(const std::string& rule) const {
    for (const json& a : advice_)
      if (a["rule"] == rule) return a["place"];
    return "";
  }
  [[nodiscard]] std::string finding_of(const std::string& rule) const {
    for (const json& a : advice_)
      if (a["rule"] == rule) return a["finding"];
    return "";
  }
  void hold(const std::string& what, double now, double estimated) const {
    const double saved = now / cycles_;
    EXPECT_LE(std::max(saved / estimated, estimated / saved), 1.5)
        << what << " on " << gpu_ << ": " << now << " to " << cycles_ << " cycles, estimated " << estimated;
  }

  void hold_rows(bool all);

  std::string gpu_;
  int size_;
  fs::path place_;
  bool is_cut_ = false;
  double cycles_ = 0;
  json advice_;
};

void advice_table::hold_rows(bool all) {
  for (const row& r : rows) {
    if (!all && (&r - rows) % 2 != size_) continue;
    const unsigned blocks = grid_of(r.blocks[size_]);
    const unsigned threads = 256 * blocks;
    run(r.file, r.kernel, blocks, r.arguments(threads));
    const double now = cycles_, estimated = estimate_of(r.rule);
    if (estimated > 1) {
      EXPECT_EQ(place_of(r.rule).find(".cu:") != std::string::npos, r.is_placed) << r.kernel << place_of(r.rule);
    }
    const auto mended = static_cast<unsigned>(std::lround(r.mended_blocks * blocks));
    run(r.file, r.mended, mended, (r.mended_arguments != nullptr ? r.mended_arguments : r.arguments)(256 * mended));
    hold(std::string(r.rule) + ", " + r.kernel, now, estimated);
    hold_page({r.rule, r.kernel, r.note, is_cut_ ? gpu_ + ", 16 SMs" : gpu_, blocks, now, cycles_, estimated});
  }
}

TEST_P(advice_table, estimates_hold) { hold_rows(gpu_ != "v100"); }

class whole_advice_table : public advice_table {};

TEST_P(whole_advice_table, estimates_hold) { hold_rows(true); }

// As many bytes of shared memory as let one block more on an SM.
TEST_P(advice_table, a_block_more_by_shared_memory) {
  const unsigned blocks = grid_of(size_ == 0 ? 20 : 40);
  const bool hopper = gpu_ == "h100";
  run(more, "with_tile", blocks, chase(256 * blocks, 8), {"--shared-bytes", hopper ? "47104" : "28672"});
  const double now = cycles_, estimated = estimate_of("occupancy");
  EXPECT_GT(estimated, 1);
  run(more, "with_tile", blocks, chase(256 * blocks, 8), {"--shared-bytes", hopper ? "43008" : "22528"});
  hold("occupancy, with_tile", now, estimated);
}

// A second block where one alone waits for memory most of the time. A block of GTX 1080 may have half of its memory.
TEST_P(advice_table, a_second_block_by_shared_memory) {
  if (gpu_ == "gtx1080") return;
  const unsigned blocks = grid_of(size_ == 0 ? 4 : 8);
  const bool hopper = gpu_ == "h100";
  run(more, "with_tile", blocks, chase(256 * blocks, 24), {"--shared-bytes", hopper ? "131072" : "61440"});
  const double now = cycles_, estimated = estimate_of("occupancy");
  EXPECT_GT(estimated, 1.3);
  run(more, "with_tile", blocks, chase(256 * blocks, 24), {"--shared-bytes", hopper ? "110592" : "49152"});
  EXPECT_GT(now / cycles_, 1.3);
  hold("occupancy, with_tile for one block", now, estimated);
}

TEST_P(advice_table, registers_that_the_job_gives) {
  const unsigned blocks = grid_of(size_ == 0 ? 1 : 4);
  const auto run_with = [&](const json& registers) {
    json job;
    job["module"] = source_of(more);
    job["buffers"]["in"] = {{"bytes", 4 * (256 * blocks + 4096)}, {"fill", "random:5"}};
    job["buffers"]["out"]["bytes"] = 1024 * blocks;
    json launch = {{"kernel", "unlimited"}, {"grid", {blocks, 1, 1}}, {"block", {256, 1, 1}}};
    launch["registers_per_thread"] = registers;
    launch["args"] = json::array({{{"buffer", "in"}}, {{"buffer", "out"}}, {{"s32", 16}}});
    job["launches"] = json::array({launch});
    std::ofstream(place_ / "job.json") << job;
    run({"job.json"});
  };
  run_with(32);
  const double now = cycles_, estimated = estimate_of("register spills");
  EXPECT_GT(estimated, 1.3);
  EXPECT_NE(finding_of("register spills").find("the job's registers_per_thread (32)"), std::string::npos);
  run_with(nullptr);
  hold("register spills by a job's limit", now, estimated);
}

/// A kernel as it should be, with its grid and arguments on a chip of so many threads; and what may be said of it.
struct sound_kernel {
  const char* name;
  const char* block;
  std::string (*grid)(unsigned threads);
  words (*arguments)(unsigned threads);
  std::vector<std::string> harmless = {};
  const char* file = more;
};

std::string of_threads(unsigned threads) { return std::to_string(threads / 256); }
// A square matrix of so many threads at most has tiles of 32 x 32 elements, with 256 threads each.
unsigned tiles(unsigned threads) { return static_cast<unsigned>(std::sqrt(threads / 256)); }

const sound_kernel sound_kernels[] = {
    {"plain_copy", "256", of_threads,
     [](unsigned n) {
       return words{words_of(4 * n), bytes(16 * n), number(n - 100)};
     }},
    {"plain_sum", "256", of_threads,
     [](unsigned n) {
       return words{words_of(64 * n), bytes(16), number(16 * n - 100)};
     }},
    // The matrix has as many tiles as it has: a grid of whole waves would be of another matrix. Its barrier is needed,
    // which no count can tell.
    {"plain_transpose",
     "32,8",
     [](unsigned n) { return std::to_string(tiles(n)) + "," + std::to_string(tiles(n)); },
     [](unsigned n) {
       const unsigned side = 32 * tiles(n);
       return words{words_of(side * side), bytes(4 * side * side), number(side)};
     },
     {"partial last wave", "barriers"}},
    {"own_counters", "256", of_threads,
     [](unsigned n) {
       return words{words_of(n), bytes(4 * n), number(16)};
     }},
    // One thread works while others wait, but no other could: the barrier behind it is all that is seen.
    {"searched",
     "256",
     of_threads,
     [](unsigned n) {
       return words{bytes(262144), bytes(4 * n), number(65536)};
     },
     {"barriers"},
     serial},
    {"walked",
     "256",
     of_threads,
     [](unsigned n) {
       return words{words_of(65536), bytes(4 * n), number(64)};
     },
     {"barriers"},
     serial},
    {"told_sum", "256", of_threads, values<8>, {"barriers"}, serial},
    {"bordered", "256", of_threads, values<8>, {"barriers"}, serial},
    // Equal blocks, eight an SM, end one after another.
    {"eighth_is_long_mended",
     "256",
     [](unsigned threads) { return of_threads(8 * threads); },
     [](unsigned n) { return values_and_turns(8 * n, 64); },
     {},
     serial},
    // Blocks of equal work end apart: some read what no other has read before, others find it in the L2.
    {"odd_and_even",
     "256",
     [](unsigned threads) { return of_threads(2 * threads); },
     [](unsigned n) { return values_and_turns(2 * n + 4096, 32); },
     {"divergence", "prefetch distance"},
     bounds},
    // Needs no barrier, and its loads might begin earlier. But its blocks have equal work.
    {"needless_barriers", "256", of_threads, values<16>, {"barriers", "prefetch distance"}, serial},
};

TEST_P(advice_table, nothing_is_said_of_sound_kernels) {
  for (const sound_kernel& k : sound_kernels) {
    const unsigned threads = 256 * grid_of(size_ == 0 ? 1 : 4);
    run(k.file, k.name, k.grid(threads), k.block, k.arguments(threads), {});
    for (const json& a : advice_)
      EXPECT_EQ(std::count(k.harmless.begin(), k.harmless.end(), a["rule"].get<std::string>()), 1)
          << k.name << " on " << gpu_ << ": " << a.dump();
  }
}

INSTANTIATE_TEST_SUITE_P(on, advice_table, ::testing::Combine(::testing::Values("v100"), ::testing::Values(0, 1)));
INSTANTIATE_TEST_SUITE_P(long_all, whole_advice_table,
                         ::testing::Combine(::testing::Values("v100"), ::testing::Values(0, 1)));
INSTANTIATE_TEST_SUITE_P(long_on, advice_table,
                         ::testing::Combine(::testing::Values("gtx1080", "h100"), ::testing::Values(0, 1)));

}  // namespace advice_table_test
