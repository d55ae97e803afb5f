// SPDX-License-Identifier: MIT
// Every rule of docs/use/advice.md on three GPUs and with two sizes of each kernel: the estimate must be within a
// factor of 1.5 of what mending brings. Of kernels that are as they should be, nothing is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>
#include <tuple>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace advice_table_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using words = std::vector<std::string>;

std::string words_of(unsigned n) { return "buf:" + std::to_string(4 * n) + ":random:5"; }
std::string bytes_of(unsigned n) { return words_of(n / 4); }
std::string bytes(unsigned n) { return "buf:" + std::to_string(n); }
std::string number(unsigned n) { return "s32:" + std::to_string(n); }

/// A kernel and the same mended, with 256 threads a block, and how many blocks an SM has.
struct row {
  const char* rule;
  const char* file;  // below tests/system
  const char* kernel;
  const char* mended;
  words (*arguments)(unsigned threads);
  double blocks[2] = {1, 4};                         // a small grid and a large one
  words (*mended_arguments)(unsigned threads) = {};  // null: the same
  double mended_blocks = 1;                          // times as many
  bool is_placed = true;                             // the advice names a line
};

constexpr const char* first = "views/advice";
constexpr const char* waits = "views/advice_waits";
constexpr const char* more = "advice/more";
constexpr const char* serial = "advice/serial";
constexpr const char* one_wave = "advice/one_wave";
constexpr const char* bounds = "advice/bounds";

words values_and_turns(unsigned threads, unsigned turns) {
  return {words_of(threads + 4096), bytes(16 * threads), number(turns)};
}
words no_turns(unsigned threads) { return {words_of(threads + 4096), bytes(16 * threads)}; }
words chase(unsigned threads, unsigned turns) { return {bytes(4194304), bytes(4 * threads), number(turns)}; }
template <unsigned turns>
words values(unsigned threads) {
  return values_and_turns(threads, turns);
}
template <unsigned turns>
words streamed(unsigned threads) {
  return {words_of(turns * threads), bytes(4 * turns * threads), number(turns)};
}
template <unsigned turns>
words chased(unsigned threads) {
  return chase(threads, turns);
}

const row rows[] = {
    {"uncoalesced access", first, "strided", "strided_mended",
     [](unsigned n) {
       return words{words_of(16 * n), bytes(16 * n)};
     }},
    {"uncoalesced access", one_wave, "row_of_thread", "row_of_thread_mended",
     [](unsigned n) {
       return words{words_of(16 * n), bytes(4 * n), number(16)};
     }},
    {"uncoalesced access", bounds, "transposed", "transposed_mended",
     [](unsigned n) {
       return words{words_of(4 * n), bytes(16 * n), number(n / 32)};
     }},
    {"uncoalesced access", bounds, "gathered", "gathered_mended",
     [](unsigned n) {
       return words{words_of(262144), bytes(4 * n), number(16)};
     }},
    {"unused vector width", bounds, "row_by_words", "row_by_words_mended",
     [](unsigned n) {
       return words{words_of(64 * n), bytes(4 * n), number(64)};
     }},
    {"unused vector width", first, "quads", "quads_mended",
     [](unsigned n) {
       return words{words_of(8 * n), bytes(16 * n), number(16), number(0)};
     }},
    {"unused vector width", bounds, "cut_bytes", "cut_bytes_mended",
     [](unsigned n) {
       return words{bytes_of(32 * n), bytes(32 * n), number(32), number(200)};
     }},
    {"unused vector width", bounds, "sum_of_halves", "sum_of_halves_mended",
     [](unsigned n) {
       return words{bytes_of(128 * n), bytes(4 * n), number(64)};
     }},
    {"unused vector width", bounds, "axpy_of_halves", "axpy_of_halves_mended",
     [](unsigned n) {
       return words{bytes_of(64 * n), bytes(64 * n), number(32)};
     }},
    {"misaligned access", first, "shifted", "shifted_mended",
     [](unsigned n) {
       return words{words_of(2 * n + 4096), bytes(16 * n), number(32), number(32)};
     }},
    {"bank conflicts", first, "columns", "columns_mended", values<64>},
    {"constants by lane", first, "looked_up", "looked_up_mended", values<64>},
    {"constants by lane", serial, "looked_up_at_random", "looked_up_at_random_mended", values<64>},
    {"local memory", first, "indexed", "indexed_mended", values<64>},
    {"register spills", more, "spilled", "spilled_mended", values<16>},
    {"register spills", more, "by_maxnreg", "unlimited", values<16>},
    {"register spills", one_wave, "spilled_weights", "spilled_weights_mended", values<8>},
    {"divergence", first, "by_thread", "by_thread_mended", values<100>},
    {"divergence", more, "even_and_odd", "even_and_odd_mended", values<100>},
    {"divergence", more, "one_side_long", "one_side_long_mended", values<100>},
    {"divergence", more, "unlike_turns", "unlike_turns_mended", values<96>, {16, 32}},
    {"divergence", bounds, "ways_in_a_loop", "ways_in_a_loop_mended", values<48>},
    {"double precision", first, "widened", "widened_mended", values<100>},
    {"double precision", one_wave, "double_literals", "double_literals_mended", values<16>},
    {"double precision", bounds, "scaled_stream", "scaled_stream_mended", streamed<8>},
    {"double precision", bounds, "deviation", "deviation_mended", values<16>},
    {"barriers", waits, "uneven", "uneven_mended", values<8>},
    {"serial work", serial, "one_sums", "one_sums_mended", values<8>},
    {"serial work", serial, "four_sum", "one_sums_mended", values<8>},
    {"serial work", serial, "one_computes", "one_computes_mended", values<8>},
    {"serial work", serial, "one_reads", "one_reads_mended", values<8>},
    {"steps in shared memory", waits, "step_by_step", "step_by_step_mended", values<8>},
    {"steps in shared memory", serial, "unrolled_steps", "steps_mended", no_turns, {1, 8}},
    {"steps in shared memory", serial, "spread_steps", "steps_mended", no_turns, {1, 8}},
    {"atomics by address", waits, "one_counter", "one_counter_mended",
     [](unsigned n) {
       return words{words_of(64 * n), bytes(16 * n), number(16)};
     }},
    {"atomics by address", waits, "few_bins", "few_bins_mended", values<64>},
    {"atomics by address", more, "apart", "apart_mended", values<16>},
    {"atomics by address", more, "histogram_of_few", "histogram_of_few_mended", values<16>},
    {"atomics by address", one_wave, "sums_of_blocks", "sums_of_blocks_mended", values<4>},
    {"atomics by address", bounds, "sums_by_key", "sums_by_key_mended",
     [](unsigned n) {
       return words{words_of(8 * n), bytes(1024), number(8)};
     }},
    {"atomics by address", bounds, "counted", "counted_mended", values<16>},
    {"prefetch distance", one_wave, "between_barriers", "between_barriers_mended",
     [](unsigned n) {
       return words{words_of(n + 8192), bytes(4 * n), number(32)};
     }},
    {"prefetch distance", waits, "used_at_once", "used_at_once_mended",
     [](unsigned n) {
       return words{words_of(33 * n), bytes(16 * n), number(32), number(n)};
     }},
    {"prefetch distance", bounds, "two_sums", "two_sums_mended",
     [](unsigned n) {
       return words{words_of(32 * n), bytes(4 * n), number(32)};
     }},
    {"imbalance within blocks", more, "one_warp_works", "one_warp_works_mended", values<320>},
    {"imbalance between blocks", first, "one_is_long", "one_is_long_mended", values<100>, {2, 8}, {}, 1, false},
    {"imbalance between blocks", first, "one_is_long", "one_is_long_mended", values<100>, {9.6, 17.6}, {}, 1, false},
    {"imbalance between blocks", serial, "eighth_is_long", "eighth_is_long_mended", values<64>, {8, 16}, {}, 1, false},
    {"imbalance between blocks",
     serial,
     "longer_and_longer",
     "longer_and_longer_mended",
     values<32>,
     {8, 16},
     {},
     1,
     false},
    {"partial last wave", first, "walk", "walk", chased<64>, {8.8, 17.6}, chased<16>, 4, false},
    {"occupancy", more, "many_registers", "many_registers_mended", chased<24>, {12, 24}, {}, 1, false},
    {"occupancy", more, "many_registers", "many_registers_mended", chased<192>, {12, 24}, {}, 1, false},
};

class advice_table : public ::testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  advice_table() : gpu_(std::get<0>(GetParam())), size_(std::get<1>(GetParam())) {
    place_ = fs::path(HEDDLE_SCRATCH "/advice_table") / (gpu_ + std::to_string(size_));
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

  std::string gpu_;
  int size_;
  fs::path place_;
  bool is_cut_ = false;
  double cycles_ = 0;
  json advice_;
};

TEST_P(advice_table, estimates_hold) {
  for (const row& r : rows) {
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
  }
}

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
INSTANTIATE_TEST_SUITE_P(long_on, advice_table,
                         ::testing::Combine(::testing::Values("gtx1080", "h100"), ::testing::Values(0, 1)));

}  // namespace advice_table_test
