// SPDX-License-Identifier: MIT
// Runs that are stopped at a checkpoint and go on from it: the same results as without a stop, on other numbers of
// threads, and what is refused. HEDDLE_CHECKPOINTS=500 draws so many instead of a few.
#include <gtest/gtest.h>
#include <signal.h>
#include <zstd.h>

#include <algorithm>
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

  /// Runs `run` whole, then with checkpoints, of which the last one is at a random cycle, and goes on from it: the same
  /// metrics and output. Returns false if the run ended before its first checkpoint.
  bool stop_and_go_on(const words& run, std::mt19937& random);

  fs::path place_;
};

bool checkpoints::stop_and_go_on(const words& run, std::mt19937& random) {
  const std::string one = std::to_string(1 + random() % 3), other = std::to_string(1 + random() % 3);
  const outcome whole = heddle(joined(run, {"--quiet", "--metrics", "whole.json", "--threads", one}));
  EXPECT_EQ(0, whole.code) << whole.err;
  const auto cycles = json::parse(content(place_ / "whole.json")).at("cycles").get<std::uint64_t>();
  const std::uint64_t later = random() % 4 == 0 ? 300 : 0;  // one draw a statement: their order is the compiler's
  const std::uint64_t every = later + random() % cycles;
  const std::uint64_t most = every + 300 + random() % 2000;
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
  for (unsigned n = 0; n < wanted(6); ++n) {
    const std::string w = workloads[random() % std::size(workloads)], gpu = gpus[random() % std::size(gpus)];
    SCOPED_TRACE(w + " on " + gpu);
    taken += stop_and_go_on({"run", HEDDLE_WORKLOADS "/" + w + "/job.json", "--gpu", gpu}, random);
    if (HasFailure()) return;
  }
  EXPECT_GE(taken, wanted(6) * 3 / 4);
}

// Loops of the host, printf, malloc across launches, constants, streams, copies, launches that wait for a cycle.
// `mode`: of preemptions; empty: there are none.
void write_mixed_job(const fs::path& place, unsigned seed, const std::string& mode = "", unsigned rounds = 5) {
  std::string table;
  for (unsigned i = 0; i < 16; ++i) table += std::string({static_cast<char>(3 + 2 * i), 0, 0, 0});
  std::ofstream(place / "table.bin", std::ios::binary) << table;
  std::ofstream(place / "left.bin", std::ios::binary) << std::string({static_cast<char>(rounds), 0, 0, 0});
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
  json j = {{"module", HEDDLE_SOURCE "/tests/system/checkpoint/checkpoints.ptx"},
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
                   {{"repeat", {wander(0, "a", 20, 30), keeps, speaks, down}}, {"while_nonzero", "left"}, {"max", 300}},
                   {{"copy", {{"from", "a"}, {"to", "b"}, {"bytes", 64}}}},
                   {{"memset", "sum"}, {"byte", 0}},
                   late,
                   wander(0, "a", 7, 10)};
  if (!mode.empty())
    for (const unsigned cycle : {9000u, 14000u, 20000u, 27000u, 41000u})
      j["preempt"].push_back({{"at_cycle", cycle}, {"resume_after", 500}, {"mode", mode}});
  std::ofstream(place / "job.json") << j.dump();
}

const char* const modes[] = {"switch", "drain", "auto"};

TEST_F(checkpoints, a_job_of_many_kinds) {
  std::mt19937 random(2);
  unsigned taken = 0;
  for (unsigned n = 0; n < wanted(6); ++n) {
    const std::string gpu = gpus[random() % std::size(gpus)];
    const bool preempts = gpu != "gtx480" && random() % 4 != 0;
    write_mixed_job(place_, n, preempts ? modes[random() % std::size(modes)] : "");
    words run = {"run", "job.json", "--gpu", gpu};
    if (random() % 3 == 0) run.emplace_back("--cold");
    if (random() % 3 == 0) run.insert(run.end(), {"--set", "gpu.sm_count=2"});
    if (random() % 3 == 0) run.insert(run.end(), {"--set", "sub_partition.scheduler=lrr"});
    SCOPED_TRACE(gpu + (preempts ? ", preempted" : ""));
    const bool stopped = stop_and_go_on(run, random);
    taken += stopped;
    if (HasFailure()) return;
  }
  EXPECT_GE(taken, wanted(6) * 3 / 4);
}

// Clusters that access each other's shared memory, asynchronous copies, boxes of tensors that the TMA copies into
// warpgroups' products, with preemptions.
TEST_F(checkpoints, copies_and_clusters_in_flight) {
  const auto of = [](const char* name) { return json{{"buffer", name}}; };
  const auto u32 = [](unsigned v) { return json{{"u32", v}}; };
  const auto map = [](const char* name, unsigned lines) -> json {
    return {{"tensor_map",
             {{"buffer", name}, {"type", "f16"}, {"size", {256, 256}}, {"box", {64, lines}}, {"swizzle", "128B"}}}};
  };
  const std::string source = HEDDLE_SOURCE "/tests/system/";
  const json buffers = {{"a", {{"bytes", 131072}, {"fill", "random:1"}}},
                        {"b", {{"bytes", 131072}, {"fill", "random:2"}}},
                        {"out", {{"bytes", 262144}}}};
  const json jobs[] = {
      {{"module", source + "memory/cluster_stencil.ptx"},
       {"launches",
        {{{"kernel", "stencil"},
          {"grid", {12}},
          {"block", {96}},
          {"cluster", {4}},
          {"shared_bytes", 2304},
          {"args", {of("a"), of("out"), u32(3), u32(10)}}}}},
       {"preempt", {{{"at_cycle", 2500}, {"resume_after", 500}}, {{"at_cycle", 5000}, {"resume_after", 100}}}}},
      {{"module", source + "memory/asynchronous_copy.ptx"},
       {"launches", {{{"kernel", "tiles"}, {"grid", {8}}, {"block", {128}}, {"args", {of("a"), of("out"), u32(23)}}}}},
       {"preempt", {{{"at_cycle", 3000}, {"resume_after", 100}}}}},
      {{"module", source + "tensor/warpgroup.ptx"},
       {"launches",
        {{{"kernel", "multicast_boxes"},
          {"grid", {1, 2, 1}},
          {"block", {384}},
          {"shared_bytes", 196672},
          {"args", {map("a", 128), map("b", 128), of("out"), u32(256), u32(256)}}}}},
       {"preempt", {{{"at_cycle", 2500}, {"resume_after", 500}}}}},
  };
  std::mt19937 random(4);
  unsigned taken = 0;
  for (unsigned n = 0; n < wanted(6); ++n) {
    json job = jobs[n % std::size(jobs)];
    job["buffers"] = buffers;
    job["outputs"] = {{{"buffer", "out"}, {"file", "out.bin"}}};
    write("job.json", job.dump());
    SCOPED_TRACE(job["module"].dump());
    taken += stop_and_go_on({"run", "job.json", "--gpu", "h100"}, random);
    if (HasFailure()) return;
  }
  EXPECT_GE(taken, wanted(6) * 3 / 4);
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
  for (unsigned n = 0; n < wanted(4); ++n)
    stop_and_go_on({"replay", "kernelslist.g", "--gpu", n % 2 == 0 ? "gtx1080" : "v100", "--log-level", "error"},
                   random);
}

// While a launch runs whose trace a run has made, the next checkpoint waits for its end.
TEST_F(checkpoints, launches_of_recorded_runs) {
  const words run = {"--gpu", "gtx1080", "--quiet"};
  ASSERT_EQ(0, heddle(joined({"run", HEDDLE_WORKLOADS "/needleman_wunsch/job.json", "--record", "traces"}, run)).code);
  std::mt19937 random(9);
  unsigned taken = 0;
  for (unsigned n = 0; n < wanted(3); ++n)
    taken += stop_and_go_on({"replay", "traces/kernelslist.g", "--gpu", "gtx1080"}, random);
  EXPECT_GE(taken, 1u);
}

// What a checkpoint holds: its description, and the state.
struct opened {
  json about;
  std::string state;
};
opened open(const fs::path& file) {
  const std::string text = content(file);
  const std::size_t begin = text.find('\n') + 1 + 32;  // behind a SHA-256
  std::string all(ZSTD_getFrameContentSize(text.data() + begin, text.size() - begin), '\0');
  EXPECT_EQ(all.size(), ZSTD_decompress(all.data(), all.size(), text.data() + begin, text.size() - begin));
  std::uint64_t length = 0;
  std::memcpy(&length, all.data(), sizeof length);
  return {json::parse(all.substr(sizeof length, length)), all.substr(sizeof length + length)};
}

// SMs meet in the same cycles in both runs. With several threads, and where windows of time end in other cycles,
// numbers of packets and the like are others: they say in which order places were taken.
TEST_F(checkpoints, the_state_is_that_of_a_run_without_a_stop) {
  const words job = {
      "run", HEDDLE_WORKLOADS "/bfs/job.json", "--gpu", "gtx1080", "--quiet", "--threads", "1", "--checkpoint", "c"};
  std::mt19937 random(5);
  for (unsigned n = 0; n < 3; ++n) {
    const std::uint64_t every = 900 + random() % 9000;
    SCOPED_TRACE(every);
    const auto most = [every](std::uint64_t cycle) {
      return words{"--checkpoint-every", std::to_string(every), "--max-cycles", std::to_string(cycle)};
    };
    ASSERT_EQ(1, heddle(joined(job, most(2 * every + 800))).code);
    const opened late = open(place_ / "c");
    ASSERT_EQ(1, heddle(joined(job, most(every + 600))).code);
    ASSERT_LT(open(place_ / "c").about.at("cycle"), late.about.at("cycle"));
    const outcome o = heddle(joined({"resume", "c"}, most(2 * every + 800)));
    ASSERT_EQ(1, o.code) << o.err;
    const opened again = open(place_ / "c");
    EXPECT_EQ(late.about.at("cycle"), again.about.at("cycle"));
    EXPECT_TRUE(late.state == again.state);
  }
}

// Nothing happens in the first 700 cycles, in which several are due.
TEST_F(checkpoints, more_often_than_anything_happens) {
  const outcome o = heddle({"run", HEDDLE_WORKLOADS "/saxpy/job.json", "--gpu", "gtx1080", "--quiet", "--checkpoint",
                            "c", "--checkpoint-every", "150", "--max-cycles", "690"});
  EXPECT_EQ(1, o.code) << o.err;
  EXPECT_LT(open(place_ / "c").about.at("cycle"), 704);
  EXPECT_EQ(0, heddle({"resume", "c", "--max-cycles", "1000000", "--checkpoint-every", "1000000"}).code);
}

TEST_F(checkpoints, a_run_goes_on_without_a_place_for_one) {
  heddle::test::program_start how;
  how.folder = place_;
  how.largest_file = 4096;
  const outcome o = heddle::test::run_program({HEDDLE_PROGRAM, "run", HEDDLE_WORKLOADS "/saxpy/job.json", "--quiet",
                                               "--checkpoint", "c", "--checkpoint-every", "400"},
                                              how);
  EXPECT_EQ(0, o.code) << o.err;
  EXPECT_NE(o.err.find("no checkpoint in cycle "), std::string::npos) << o.err;
  EXPECT_FALSE(fs::exists(place_ / "c"));
}

TEST_F(checkpoints, sigterm_ends_a_run_with_one) {
  write_mixed_job(place_, 1, "", 25);
  heddle::test::program_start how;
  how.folder = place_;
  const words job = {"run", "job.json", "--gpu", "gtx1080", "--set", "gpu.sm_count=4", "--quiet"};
  const pid_t child = heddle::test::start_program(
      joined({HEDDLE_PROGRAM}, joined(job, {"--checkpoint", "c", "--metrics", "m.json", "--progress", "json"})), how);
  // Before the first line of progress, the signal may end the program at once.
  for (unsigned n = 0; n < 30000 && content(place_ / "stderr").find("cycle") == std::string::npos; ++n)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, SIGTERM);
  ASSERT_EQ(143, heddle::test::exit_code_of(child)) << content(place_ / "stderr");
  ASSERT_TRUE(fs::exists(place_ / "c"));
  EXPECT_EQ("SIGTERM", json::parse(content(place_ / "m.json")).at("stopped"));
  const outcome rest = heddle({"resume", "c"});
  ASSERT_EQ(0, rest.code) << rest.err;
  const std::string resumed = metrics("m.json");
  ASSERT_EQ(0, heddle(joined(job, {"--metrics", "whole.json"})).code);
  EXPECT_TRUE(metrics("whole.json") == resumed);
}

/// Its exit code is 2, its message one line that contains `text`, and nothing is written.
void refused(const outcome& o, const std::string& text) {
  EXPECT_EQ(2, o.code) << o.err;
  EXPECT_NE(o.err.find(text), std::string::npos) << o.err;
  EXPECT_EQ(1, std::count(o.err.begin(), o.err.end(), '\n')) << o.err;
}

TEST_F(checkpoints, what_was_changed_is_refused_by_name) {
  write("gpu.ini", "base = gtx1080\n[gpu]\nsm_count = 2\n");
  write_mixed_job(place_, 4);
  ASSERT_EQ(1, heddle({"run", "job.json", "--gpu", "gpu.ini", "--quiet", "--checkpoint", "c", "--checkpoint-every",
                       "8000", "--max-cycles", "100000", "--metrics", "m.json"})
                   .code);
  const std::string good = content(place_ / "c");
  fs::remove(place_ / "m.json");
  write("gpu.ini", "base = gtx1080\n[gpu]\nsm_count = 2\n[l1]\nlatency_cycles = 99\n");
  refused(heddle({"resume", "c"}), "l1.latency_cycles was ");
  write("gpu.ini", "base = gtx1080\n[gpu]\nsm_count = 2\n");
  const std::string left = content(place_ / "left.bin");
  write("left.bin", std::string({6, 0, 0, 0}));
  refused(heddle({"resume", "c"}), "left.bin' has changed");
  write("left.bin", left);
  const std::string job = content(place_ / "job.json");
  write("job.json", job + "\n");
  refused(heddle({"resume", "c"}), "job.json' has changed");
  write("job.json", job);
  for (std::size_t n = 0; n < good.size(); n += 1 + good.size() / 40) {
    write("c", good.substr(0, n));
    refused(heddle({"resume", "c"}), n < 20 ? "not a checkpoint" : "cut short or edited");
    std::string edited = good;
    edited[n] = static_cast<char>(edited[n] ^ 1 << n % 8);
    write("c", edited);
    EXPECT_EQ(2, heddle({"resume", "c"}).code) << "byte " << n;
  }
  EXPECT_FALSE(fs::exists(place_ / "m.json"));
  write("c", good);
  EXPECT_EQ(0, heddle({"resume", "c", "--max-cycles", "1000000000"}).code);
  EXPECT_TRUE(fs::exists(place_ / "m.json"));
}

TEST_F(checkpoints, what_cannot_be_kept_is_refused) {
  const std::string job = HEDDLE_WORKLOADS "/saxpy/job.json";
  refused(heddle({"run", job, "--checkpoint-every", "5"}), "--checkpoint-every belongs to --checkpoint");
  refused(heddle({"run", job, "--checkpoint", "c", "--sanitize"}), "--sanitize");
  refused(heddle({"run", job, "--checkpoint", "c", "--vcd", "w.vcd"}), "--vcd");
  refused(heddle({"run", job, "--checkpoint", "m", "--metrics", "m"}), "m");
  refused(heddle({"resume"}), "expected a checkpoint");
  refused(heddle({"resume", job}), "not a checkpoint");
  refused(heddle({"resume", "nothing"}), "expected a checkpoint");
  refused(heddle({"resume", "c", "--gpu", "v100"}), "--gpu");
}

}  // namespace checkpoint_test
