// SPDX-License-Identifier: MIT
// Runs that are stopped at a checkpoint and go on from it: the same results as without a stop, on other numbers of
// threads, and what is refused. HEDDLE_CHECKPOINTS=500 draws so many instead of a few.
#include <gtest/gtest.h>
#include <signal.h>
#include <zstd.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "tests/bench/bench_traces.h"
#include "tests/system/common/json_text.h"
#include "tests/system/common/program_run.h"
#include "tests/system/common/text_file.h"

namespace checkpoint_test {

namespace fs = std::filesystem;
using heddle::test::content;
using heddle::test::outcome;
using json = nlohmann::json;
using words = std::vector<std::string>;

class checkpoints : public ::testing::Test {
 protected:
  checkpoints()
      : place_(fs::path(HEDDLE_SCRATCH "/checkpoints") /
               ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::remove_all(place_);
    fs::create_directories(place_);
  }
  ~checkpoints() override {
    std::error_code ignored;
    if (!HasFailure()) fs::remove_all(place_, ignored);
  }

  outcome heddle(words arguments) const {
    arguments.insert(arguments.begin(), HEDDLE_PROGRAM);
    heddle::test::program_start how;
    how.folder = place_;
    how.most_seconds = 300;
    return heddle::test::run_program(arguments, how);
  }
  static words joined(words a, const words& b) {
    a.insert(a.end(), b.begin(), b.end());
    return a;
  }
  [[nodiscard]] std::string metrics(const std::string& name) const {
    json m = json::parse(content(place_ / name));
    m.erase("host");
    return m.dump();
  }
  void write(const std::string& name, const std::string& text) const {
    std::ofstream(place_ / name, std::ios::binary) << text;
  }

  /// Runs `run` whole, then with checkpoints and a stop at a random cycle, and goes on: the same metrics and output.
  /// Returns false if no checkpoint came before the stop.
  bool stop_and_go_on(const words& run, std::mt19937& random);

  fs::path place_;
};

bool checkpoints::stop_and_go_on(const words& run, std::mt19937& random) {
  const std::string one = std::to_string(1 + random() % 3), other = std::to_string(1 + random() % 3);
  const outcome whole = heddle(joined(run, {"--quiet", "--metrics", "whole.json", "--threads", one}));
  EXPECT_EQ(0, whole.code) << whole.err;
  const auto cycles = json::parse(content(place_ / "whole.json")).at("cycles").get<std::uint64_t>();
  const std::uint64_t every = 1 + random() % (cycles / 2), most = every + random() % cycles;
  fs::remove(place_ / "c");
  const outcome cut = heddle(joined(run, {"--quiet", "--checkpoint", "c", "--checkpoint-every", std::to_string(every),
                                          "--max-cycles", std::to_string(most), "--threads", one}));
  EXPECT_TRUE(cut.code == 0 || cut.code == 1) << cut.code << ": " << cut.err;
  if (!fs::exists(place_ / "c")) return false;
  const outcome rest =
      heddle({"resume", "c", "--metrics", "rest.json", "--max-cycles", "1000000000000", "--threads", other});
  EXPECT_EQ(0, rest.code) << rest.err;
  EXPECT_TRUE(metrics("whole.json") == metrics("rest.json"))
      << "every " << every << ", stopped at " << most << " of " << cycles << ", threads " << one << ", " << other;
  EXPECT_EQ(whole.out.substr(whole.out.size() - std::min(whole.out.size(), rest.out.size())), rest.out);
  return true;
}

unsigned wanted(unsigned usual) {
  const char* const text = std::getenv("HEDDLE_CHECKPOINTS");
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : usual;
}

const char* const gpus[] = {"gtx480", "gtx1080", "v100", "a100", "h100"};

TEST_F(checkpoints, workloads_go_on_as_without_a_stop) {
  const char* const workloads[] = {"bfs", "kmeans", "hotspot", "lu_decomposition", "bitonic_sort", "needleman_wunsch"};
  std::mt19937 random(1);
  unsigned taken = 0;
  for (unsigned n = 0; n < wanted(10); ++n) {
    const std::string w = workloads[random() % std::size(workloads)], gpu = gpus[random() % std::size(gpus)];
    SCOPED_TRACE(w + " on " + gpu);
    taken += stop_and_go_on({"run", HEDDLE_WORKLOADS "/" + w + "/job.json", "--gpu", gpu}, random);
    if (HasFailure()) return;
  }
  EXPECT_GE(taken, wanted(10) / 2);
}

// Loops of the host, printf, malloc across launches, constants, streams, copies, launches that wait for a cycle.
void write_mixed_job(const fs::path& place, unsigned seed, bool preempts) {
  std::string table;
  for (unsigned i = 0; i < 16; ++i) table += std::string({static_cast<char>(3 + 2 * i), 0, 0, 0});
  std::ofstream(place / "table.bin", std::ios::binary) << table;
  std::ofstream(place / "left.bin", std::ios::binary) << std::string({5, 0, 0, 0});
  const auto buffer = [](const char* name) { return json{{"buffer", name}}; };
  const auto u32 = [](unsigned v) { return json{{"u32", v}}; };
  const auto wander = [&](unsigned stream, const char* data, unsigned blocks, unsigned steps) {
    return json{{"kernel", "wander"},
                {"grid", {blocks}},
                {"block", {128}},
                {"stream", stream},
                {"args", {buffer(data), u32(4096), u32(steps), buffer("sum")}}};
  };
  json late = wander(1, "b", 3, 40);
  late["at_cycle"] = 30000;
  json j = {{"module", HEDDLE_SOURCE "/tests/system/run/checkpoints.ptx"},
            {"symbols", {{{"symbol", "table"}, {"file", "table.bin"}}}},
            {"buffers",
             {{"a", {{"bytes", 16384}, {"fill", "random:" + std::to_string(seed)}}},
              {"b", {{"bytes", 16384}, {"fill", "random:7"}}},
              {"sum", {{"bytes", 4}}},
              {"left", {{"file", "left.bin"}}}}},
            {"outputs", {{{"buffer", "a"}, {"file", "a.bin"}}, {{"buffer", "sum"}, {"file", "sum.bin"}}}}};
  const json keeps = {{"kernel", "keeps"}, {"grid", {1}}, {"block", {64}}, {"args", {u32(32), buffer("sum")}}};
  const json speaks = {{"kernel", "speaks"}, {"grid", {2}}, {"block", {32}}, {"args", {buffer("sum")}}};
  const json down = {{"kernel", "counts_down"}, {"grid", {1}}, {"block", {32}}, {"args", {buffer("left")}}};
  j["launches"] = {wander(1, "b", 2, 20),
                   {{"repeat", {wander(0, "a", 20, 30), keeps, speaks, down}}, {"while_nonzero", "left"}, {"max", 9}},
                   {{"copy", {{"from", "a"}, {"to", "b"}, {"bytes", 64}}}},
                   {{"memset", "sum"}, {"byte", 0}},
                   late,
                   wander(0, "a", 7, 10)};
  if (preempts) j["preempt"] = {{{"at_cycle", 9000}, {"resume_after", 500}}, {{"at_cycle", 41000}, {"sm", 0}}};
  std::ofstream(place / "job.json") << j.dump();
}

TEST_F(checkpoints, a_job_of_many_kinds) {
  std::mt19937 random(2);
  unsigned taken = 0;
  for (unsigned n = 0; n < wanted(10); ++n) {
    const std::string gpu = gpus[random() % std::size(gpus)];
    const bool preempts = gpu != "gtx480" && random() % 2 != 0;
    write_mixed_job(place_, n, preempts);
    words run = {"run", "job.json", "--gpu", gpu};
    if (random() % 3 == 0) run.emplace_back("--cold");
    if (random() % 3 == 0) run.insert(run.end(), {"--set", "gpu.sm_count=2"});
    if (random() % 3 == 0) run.insert(run.end(), {"--set", "sub_partition.scheduler=lrr"});
    SCOPED_TRACE(gpu + (preempts ? ", preempted" : ""));
    const bool stopped = stop_and_go_on(run, random);
    taken += stopped;
    if (HasFailure()) return;
  }
  EXPECT_GE(taken, wanted(10) / 3);
}

TEST_F(checkpoints, recorded_kernels) {
  std::string list;
  for (const auto kind :
       {bench::trace_kind::tiled_product, bench::trace_kind::streaming, bench::trace_kind::divergent}) {
    const fs::path folder = place_ / bench::name_of(kind);
    fs::create_directory(folder);
    const fs::path one = bench::write_trace(kind, folder.string(), 20);
    std::string line;
    for (std::ifstream in(one); std::getline(in, line);)
      for (unsigned times = 0; times < 2; ++times) list += folder.string() + "/" + line + "\n";
  }
  write("kernelslist.g", list);
  std::mt19937 random(3);
  for (const char* gpu : {"gtx1080", "v100"})
    stop_and_go_on({"replay", "kernelslist.g", "--gpu", gpu, "--log-level", "error"}, random);
}

// The state that a checkpoint holds, behind its description, which has the options.
std::string state_of(const fs::path& file) {
  const std::string text = content(file);
  const std::size_t begin = text.find('\n') + 1;
  std::string all(ZSTD_getFrameContentSize(text.data() + begin, text.size() - begin), '\0');
  EXPECT_EQ(all.size(), ZSTD_decompress(all.data(), all.size(), text.data() + begin, text.size() - begin));
  std::uint64_t length = 0;
  std::memcpy(&length, all.data(), sizeof length);
  return all.substr(sizeof length + length);
}

TEST_F(checkpoints, the_state_is_that_of_a_run_without_a_stop) {
  write_mixed_job(place_, 5, false);
  const words job = {"run", "job.json", "--gpu", "gtx1080", "--quiet", "--checkpoint", "c"};
  ASSERT_EQ(1, heddle(joined(job, {"--checkpoint-every", "10000", "--max-cycles", "25000"})).code);
  const std::string early = state_of(place_ / "c");
  const outcome once = heddle(joined(job, {"--checkpoint-every", "30000", "--max-cycles", "45000"}));
  ASSERT_EQ(1, once.code) << once.err;
  const std::string whole = state_of(place_ / "c");
  ASSERT_EQ(1, heddle(joined(job, {"--checkpoint-every", "10000", "--max-cycles", "25000"})).code);
  ASSERT_TRUE(early == state_of(place_ / "c"));
  const outcome rest = heddle({"resume", "c", "--checkpoint-every", "1", "--max-cycles", "45000", "--threads", "2"});
  ASSERT_EQ(1, rest.code) << rest.err;
}

TEST_F(checkpoints, sigterm_ends_a_run_with_one) {
  write_mixed_job(place_, 1, false);
  heddle::test::program_start how;
  how.folder = place_;
  const words run = {
      HEDDLE_PROGRAM, "run",    HEDDLE_WORKLOADS "/bfs/job.json", "--gpu", "v100", "--checkpoint", "c", "--metrics",
      "m.json",       "--quiet"};
  const pid_t child = heddle::test::start_program(run, how);
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  ::kill(child, SIGTERM);
  const int code = heddle::test::exit_code_of(child);
  if (code == 0) GTEST_SKIP() << "the run ended first";
  ASSERT_EQ(143, code) << content(place_ / "stderr");
  ASSERT_TRUE(fs::exists(place_ / "c"));
  EXPECT_EQ("SIGTERM", json::parse(content(place_ / "m.json")).at("stopped"));
  ASSERT_EQ(0, heddle({"resume", "c"}).code);
  const std::string rest = metrics("m.json");
  ASSERT_EQ(0, heddle({"run", HEDDLE_WORKLOADS "/bfs/job.json", "--gpu", "v100", "--metrics", "whole.json"}).code);
  EXPECT_TRUE(metrics("whole.json") == rest);
}

}  // namespace checkpoint_test
