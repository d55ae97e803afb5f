// SPDX-License-Identifier: MIT
// What to change in a kernel: the pairs of docs/use/advice.md, as they are and mended. The estimate must be within a
// factor of 1.5 of what mending brings.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace advice_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;
using words = std::vector<std::string>;

/// A kernel of advice.cu, and the same mended.
struct advised_pair {
  std::string rule;
  bool has_place = true;  // the advice names a line
  std::string kernel, mended;
  unsigned blocks = 0, threads = 256;
  words arguments;
  unsigned mended_blocks = 0;  // 0: as before
  words mended_arguments{};    // none: as before
};

class advice : public ::testing::TestWithParam<std::string> {
 protected:
  advice() : place_(fs::path(HEDDLE_SCRATCH "/advice") / GetParam()) {
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  /// Runs a kernel. Fills in cycles_, what the report advises, and the summary.
  void run(const std::string& kernel, unsigned blocks, unsigned threads, const words& arguments) {
    words command = {HEDDLE_PROGRAM,
                     "run",
                     "--kernel",
                     (module_.empty() ? HEDDLE_SOURCE "/tests/system/views/" + file_ + ".ptx" : module_) + ":" + kernel,
                     "--grid",
                     std::to_string(blocks),
                     "--block",
                     std::to_string(threads),
                     "--gpu",
                     GetParam(),
                     "--report",
                     "r.html",
                     "--metrics",
                     "m.json",
                     "--progress",
                     "never"};
    for (const std::string& a : arguments) command.insert(command.end(), {"--arg", a});
    const heddle::test::outcome o = heddle::test::run_program(command, {place_});
    ASSERT_EQ(o.code, 0) << o.err;
    summary_ = o.out;
    metrics_ = json::parse(heddle::test::content(place_ / "m.json"));
    cycles_ = metrics_["kernels"][0]["cycles"];
    const std::string page = heddle::test::content(place_ / "r.html");
    const std::size_t begin = page.find('>', page.find("id=\"heddle-data\"")) + 1;
    advice_ = json::parse(page.substr(begin, page.find("</script>", begin) - begin))["files"][0]["judged"][0]["advice"];
  }
  /// Runs a kernel, and mended, and holds what that brings against the estimate.
  void compare(const advised_pair& p) {
    run(p.kernel, p.blocks, p.threads, p.arguments);
    const json a = advised(p.rule);
    ASSERT_FALSE(a.is_null()) << p.kernel << ": " << advice_;
    EXPECT_EQ(a["place"].get<std::string>().rfind(file_ + ".cu:", 0) == 0, p.has_place) << a;
    if (advice_[0]["rule"] == p.rule) {
      EXPECT_NE(summary_.find("  in the kernel"), std::string::npos) << summary_;
      EXPECT_NE(summary_.find(p.rule), std::string::npos) << summary_;
    }
    const double now = cycles_, estimated = a["speedup"];
    run(p.mended, p.mended_blocks != 0 ? p.mended_blocks : p.blocks, p.threads,
        p.mended_arguments.empty() ? p.arguments : p.mended_arguments);
    const double saved = now / cycles_;
    EXPECT_GT(saved, 1) << p.kernel;
    EXPECT_LE(std::max(saved / estimated, estimated / saved), 1.5)
        << p.kernel << ": " << now << " to " << cycles_ << " cycles, estimated " << estimated;
    if (p.has_place) {
      EXPECT_TRUE(advised(p.rule).is_null()) << p.mended << ": " << advice_;
    }
  }
  /// The report's advice by a rule; null: none.
  [[nodiscard]] json advised(const std::string& rule) const {
    for (const json& a : advice_)
      if (a["rule"] == rule) return a;
    return nullptr;
  }

  const fs::path place_;
  std::string file_ = "advice";
  std::string module_;  // empty: file_
  double cycles_ = 0;
  json metrics_;
  json advice_;
  std::string summary_;
};

TEST_P(advice, is_worth_what_it_says) {
  const bool turing = GetParam() == "rtx2060";
  const unsigned sms = turing ? 30 : 20, wave = sms * (turing ? 4 : 8);  // of 256 threads
  const auto buffer = [](unsigned words_in) { return "buf:" + std::to_string(4 * words_in) + ":random:5"; };
  const std::string zeros = "buf:4194304", out = "buf:" + std::to_string(4 * 256 * 16 * wave);
  const unsigned four = 4 * sms, threads = four * 256, eight = 8 * sms;
  const words of_tile = {buffer(1024), out, "s32:64"}, of_threads = {buffer(threads), out, "s32:200"};
  const advised_pair pairs[] = {
      {"uncoalesced access", true, "strided", "strided_mended", eight, 256, {buffer(16 * threads), out}},
      {"unused vector width", true, "quads", "quads_mended", four, 256, {buffer(8 * threads), out, "s32:16", "s32:0"}},
      {"misaligned access",
       true,
       "shifted",
       "shifted_mended",
       four,
       256,
       {buffer(2 * threads), out, "s32:32", "s32:32"}},
      {"bank conflicts", true, "columns", "columns_mended", four, 256, of_tile},
      {"constants by lane", true, "looked_up", "looked_up_mended", four, 256, of_tile},
      {"local memory", true, "indexed", "indexed_mended", four, 256, of_tile},
      {"divergence", true, "by_thread", "by_thread_mended", four, 256, of_threads},
      {"double precision", true, "widened", "widened_mended", four, 256, {buffer(threads), out, "s32:100"}},
      {"occupancy", false, "large_tile", "large_tile_mended", 12 * sms, 256, {zeros, out, "s32:8"}},
      {"partial last wave",
       false,
       "walk",
       "walk",
       wave + wave / 10,
       256,
       {zeros, out, "s32:64"},
       4 * wave + wave * 4 / 10,
       {zeros, out, "s32:16"}},
      {"imbalance between blocks",
       false,
       "one_is_long",
       "one_is_long_mended",
       16 * sms,
       256,
       {buffer(4 * threads), out, "s32:200"}},
  };
  for (const advised_pair& p : pairs) compare(p);
}

TEST_P(advice, is_worth_what_it_says_of_waits) {
  file_ = "advice_waits";
  const bool turing = GetParam() == "rtx2060";
  const unsigned sms = turing ? 30 : 20;
  const auto buffer = [](unsigned words_in) { return "buf:" + std::to_string(4 * words_in) + ":random:5"; };
  const unsigned four = 4 * sms, threads = sms * 256;
  const std::string out = "buf:" + std::to_string(16 * threads);
  const advised_pair pairs[] = {
      {"barriers", true, "uneven", "uneven_mended", four, 256, {buffer(4 * threads), out, "s32:8"}},
      {"atomics by address",
       true,
       "one_counter",
       "one_counter_mended",
       four,
       256,
       {buffer(64 * threads), out, "s32:16"}},
      {"atomics by address", true, "few_bins", "few_bins_mended", four, 256, {buffer(4 * threads), out, "s32:64"}},
      {"prefetch distance",
       true,
       "used_at_once",
       "used_at_once_mended",
       sms,
       256,
       {buffer(33 * threads), out, "s32:32", "s32:" + std::to_string(threads)}},
  };
  for (const advised_pair& p : pairs) compare(p);
}

// Rules must not promise what mending does not bring: the barriers of these kernels are taken out, and the loop of the
// last is what the compiler has unrolled.
TEST_P(advice, promises_no_more_than_there_is) {
  file_ = "advice_waits";
  const unsigned blocks = GetParam() == "rtx2060" ? 120 : 80, threads = blocks * 256;
  const std::string in = "buf:" + std::to_string(4 * 33 * threads) + ":random:5",
                    out = "buf:" + std::to_string(4 * threads);
  run("step_by_step", blocks, 256, {in, out, "s32:8"});
  const double now = cycles_,
               promised = advised("barriers").is_null() ? 1 : advised("barriers")["speedup"].get<double>();
  const std::string text = heddle::test::content(HEDDLE_SOURCE "/tests/system/views/advice_waits.ptx");
  std::ofstream(place_ / "without.ptx") << std::regex_replace(text, std::regex("bar\\.sync[^;]*;"), "");
  module_ = (place_ / "without.ptx").string();
  run("step_by_step", blocks, 256, {in, out, "s32:8"});
  EXPECT_LE(promised, 1.05 * now / cycles_) << now << " to " << cycles_;
  module_.clear();
  run("left_to_it", blocks, 256, {in, out, "s32:32", "s32:" + std::to_string(threads)});
  EXPECT_TRUE(advised("prefetch distance").is_null()) << advice_;
}
// An SM with the mean of instructions or less that is late all the same will be so in the mended kernel, too.
TEST_P(advice, promises_no_end_before_sms_with_little_to_do) {
  const unsigned blocks = GetParam() == "rtx2060" ? 60 : 40;
  const std::string bytes = std::to_string(4 * 256 * blocks);
  run("one_is_long", blocks, 256, {"buf:" + bytes + ":random:5", "buf:" + bytes, "s32:100"});
  double sum = 0, late = 0;
  for (const json& sm : metrics_["sms"]) sum += sm["inst_executed"].get<double>();
  for (const json& sm : metrics_["sms"])
    if (sm["inst_executed"].get<double>() * metrics_["sms"].size() <= sum)
      late = std::max(late, sm["active_cycles"].get<double>());
  EXPECT_GT(late, 0);
  EXPECT_EQ(metrics_["kernels"][0].value("longest_even_sm_cycles", 0.0), late);
  const json a = advised("imbalance between blocks");
  ASSERT_FALSE(a.is_null()) << advice_;
  EXPECT_GE(cycles_ / a["speedup"].get<double>(), late);
  run("one_is_long_mended", blocks, 256, {"buf:" + bytes + ":random:5", "buf:" + bytes, "s32:100"});
  EXPECT_FALSE(metrics_["kernels"][0].contains("longest_even_sm_cycles"));
}

INSTANTIATE_TEST_SUITE_P(on, advice, ::testing::Values("rtx2060", "gtx1080"));

}  // namespace advice_test
