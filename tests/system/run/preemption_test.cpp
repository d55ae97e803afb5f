// SPDX-License-Identifier: MIT
// Workloads preempted at any cycle, through the command line: the output bytes are unchanged, and blocks keep their SM
// and warp ids. A seeded sample of (workload, GPU, mode, cycle, SMs, saved registers); long_* runs a large one.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace preemption_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

std::string text_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void make_absolute(json& owner, const char* key, const fs::path& directory) {
  if (owner.contains(key)) owner[key] = (directory / owner[key].get<std::string>()).string();
}

// splitmix64, so that a sample is equal on every machine.
class random_numbers {
 public:
  explicit random_numbers(std::uint64_t seed) : state_(seed) {}
  std::uint64_t below(std::uint64_t n) {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (z ^ z >> 31) % n;
  }
  template <class T>
  const T& one_of(const std::vector<T>& from) {
    return from[below(from.size())];
  }

 private:
  std::uint64_t state_;
};

struct result {
  int code = -1;
  std::string bytes;  // concatenated outputs
  json metrics;
  std::string log;
};

/// Runs the jobs of workloads with additions.
class preemption : public ::testing::Test {
 protected:
  preemption() : place_(place()) { fs::create_directories(place_); }
  ~preemption() override {
    std::error_code ignored;
    if (!HasFailure()) fs::remove_all(place_, ignored);
  }

  // A separate folder for each test and process: they run in parallel, also twice in one build tree.
  static fs::path place() {
    const auto& test = *::testing::UnitTest::GetInstance()->current_test_info();
    std::string name = std::string(test.test_suite_name()) + "." + test.name();
    std::replace(name.begin(), name.end(), '/', '_');
    return fs::path(HEDDLE_SCRATCH "/preemption") / (name + "." + std::to_string(::getpid()));
  }

  json job_of(const std::string& workload) {
    const fs::path directory = fs::path(HEDDLE_WORKLOADS) / workload;
    json job = json::parse(text_of(directory / "job.json"));
    make_absolute(job, "module", directory);
    for (auto& [name, buffer] : job["buffers"].items()) make_absolute(buffer, "file", directory);
    if (job.contains("symbols")) {
      for (json& symbol : job["symbols"]) make_absolute(symbol, "file", directory);
    }
    unsigned n = 0;
    for (json& output : job["outputs"]) {
      make_absolute(output, "expect", directory);
      output["file"] = (place_ / (std::to_string(n++) + ".out.bin")).string();
    }
    return job;
  }

  result run(const json& job, const std::string& options) {
    result r;
    std::ofstream(place_ / "job.json") << job.dump(2);
    for (const json& output : job["outputs"]) fs::remove(output["file"].get<std::string>());
    const fs::path log = place_ / "log.txt", metrics = place_ / "metrics.json";
    const std::string command = "'" HEDDLE_PROGRAM "' run '" + (place_ / "job.json").string() +
                                "' --quiet --metrics '" + metrics.string() + "' " + options + " >'" + log.string() +
                                "' 2>&1";
    const int status = std::system(command.c_str());
    r.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    r.log = command + "\n" + text_of(log);
    if (r.code != 0) return r;
    r.metrics = json::parse(text_of(metrics));
    for (const json& output : job["outputs"]) r.bytes += text_of(output["file"].get<std::string>());
    return r;
  }

  /// Checks the invariants of each switch.
  void check_switches(const result& r) {
    for (const json& s : r.metrics["context_switches"]) {
      const auto at = [&](const char* key) { return s[key].get<std::uint64_t>(); };
      ASSERT_LE(at("request_cycle"), at("quiesced_cycle"));
      ASSERT_LE(at("quiesced_cycle"), at("saved_cycle"));
      ASSERT_LE(at("saved_cycle"), at("restore_cycle"));
      ASSERT_LE(at("restore_cycle"), at("resumed_cycle"));
      ASSERT_FALSE(s["blocks"].empty());
      ++modes_seen_[s["mode"]];
      ASSERT_EQ(s["sm"], s["restored_sm"]);
      if (s["mode"] == "flush") {  // all warps of the blocks restart
        ASSERT_LE(s["warp_ids"].size(), s["restored_warp_ids"].size());
        ASSERT_EQ(0u, at("bytes_saved"));
        ASSERT_EQ(at("restore_cycle"), at("resumed_cycle"));
      }
      if (s["mode"] != "switch") continue;
      ASSERT_EQ(s["warp_ids"], s["restored_warp_ids"]);
      ASSERT_GE(at("bytes_saved"), 128 * s["warp_ids"].size());
      ASSERT_EQ(at("bytes_saved"), at("bytes_restored"));
    }
  }

  /// Runs `runs` cases of the sample that starts with `seed`. `switched` counts the SMs with a switch.
  void sample(std::uint64_t seed, unsigned runs, const std::vector<std::string>& workloads) {
    static const std::vector<std::string> gpus = {"p100", "gtx1080", "v100",    "rtx2060",
                                                  "a100", "rtx3070", "rtx4090", "h100"};
    random_numbers random(seed);
    std::map<std::string, result> undisturbed;
    unsigned switched = 0, between = 0, twice = 0;
    for (unsigned k = 0; k < runs; ++k) {
      const std::string workload = random.one_of(workloads);
      std::string gpu = random.one_of(gpus);
      // These chips have no tensor units.
      if (workload == "wmma_gemm" && (gpu == "p100" || gpu == "gtx1080")) gpu = "v100";
      // Few SMs: more blocks on each, and less to simulate.
      std::string options = "--gpu " + gpu + " --set gpu.sm_count=" + std::to_string(1 + random.below(4));
      if (random.below(4) == 0) options += " --set tlm.check=true";
      if (random.below(2) == 0) options += " --set context.saved_registers=live";
      if (workload == "intra_warp_lock") options += " --set sub_partition.divergence=independent";
      json job = job_of(workload);
      result& base = undisturbed[workload + options];
      if (base.code != 0) base = run(job, options);
      ASSERT_EQ(0, base.code) << base.log;
      const auto cycles = base.metrics["cycles"].get<std::uint64_t>();
      json list = json::array();
      std::uint64_t at = random.below(cycles);
      const bool with_another = random.below(3) == 0;
      if (with_another)
        add_another_kernel(job, at + random.below(300), static_cast<int>(random.below(2)),
                           static_cast<unsigned>(20 + random.below(300)));
      for (std::uint64_t n = 1 + random.below(4); n != 0; --n) {
        static const std::vector<std::string> modes = {"switch", "switch", "switch", "switch",
                                                       "drain",  "auto",   "flush"};
        json p = {{"at_cycle", at}, {"mode", random.one_of(modes)}};
        if (p["mode"] == "flush" && !can_be_dropped(workload)) p["mode"] = "auto";
        if (random.below(3) == 0) p["sm"] = 0;
        // Enough time for another kernel, if there is one, to run in between.
        p["resume_after"] =
            std::vector<int>{0, 1, 700, 20000}[with_another && list.empty() ? 2 + random.below(2) : random.below(4)];
        list.push_back(p);
        switch (random.below(5)) {
          case 0: at += 1 + random.below(50); break;
          case 1: at += random.below(20000); break;
          default:
            at += p["resume_after"].get<std::uint64_t>() + 1000 +
                  random.below(5000);  // about when the blocks are restored
        }
      }
      job["preempt"] = list;
      const result r = run(job, options);
      ASSERT_EQ(0, r.code) << "run " << k << ": " << list << "\n" << r.log;
      ASSERT_TRUE(r.bytes == base.bytes) << "other bytes in run " << k << ": " << list << "\n" << r.log;
      check_switches(r);
      if (HasFailure()) FAIL() << "run " << k << ": " << list << "\n" << r.log;
      switched += static_cast<unsigned>(r.metrics["context_switches"].size());
      between += with_another && another_ran_between(r);
      twice += switched_twice(r);
    }
    EXPECT_GT(switched, runs / 2) << "most runs have nothing to preempt";
    EXPECT_GE(between, runs / 50) << "hardly any other kernel ran while blocks were away";
    EXPECT_GE(twice, runs / 15) << "hardly any SM was preempted twice";
  }

  /// A launch in a separate stream, small enough for any free slot; it writes no memory.
  static void add_another_kernel(json& job, std::uint64_t at, int priority, unsigned turns) {
    job["modules"] = {job["module"], HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"};
    job.erase("module");
    job["launches"].push_back({{"kernel", "turning"},
                               {"grid", {24, 1, 1}},
                               {"block", {128, 1, 1}},
                               {"stream", 99},
                               {"priority", priority},
                               {"at_cycle", at},
                               {"args", {{{"u32", turns}}, {{"u32", 7}}, {{"u32", 11}}}}});
  }

  /// True if the launch of stream 99 began on an SM after blocks were saved and before they were restored.
  static bool another_ran_between(const result& r) {
    for (const json& k : r.metrics["kernels"])
      for (const json& s : r.metrics["context_switches"])
        if (k["stream"] == 99 && s["mode"] == "switch" &&
            r.metrics["kernels"][s["kernel"].get<std::size_t>()]["stream"] != 99 &&
            k["start_cycle"] >= s["saved_cycle"] && k["start_cycle"] < s["restore_cycle"])
          return true;
    return false;
  }

  /// True if blocks of a kernel were saved, restored and saved again on an SM.
  static bool switched_twice(const result& r) {
    std::map<std::pair<unsigned, unsigned>, std::uint64_t> back;
    for (const json& s : r.metrics["context_switches"]) {
      const std::pair<unsigned, unsigned> where{s["sm"], s["kernel"]};
      const auto before = back.find(where);
      if (before != back.end() && s["request_cycle"].get<std::uint64_t>() >= before->second) return true;
      back[where] = s["resumed_cycle"];
    }
    return false;
  }

  /// True if mode flush is allowed for the workload's kernels (docs/preemption.md).
  static bool can_be_dropped(const std::string& workload) {
    static const std::set<std::string> names = {
        "black_scholes", "convolution", "divergent",     "fft",       "hotspot",
        "kmeans",        "mandelbrot",  "pointer_chase", "sgemm",     "sgemm_register_tiled",
        "spmv",          "stencil_f64", "transpose",     "vector_add"};
    return names.count(workload) != 0;
  }

  const fs::path place_;
  std::map<std::string, unsigned> modes_seen_;
};

const std::vector<std::string>& small_workloads() {
  static const std::vector<std::string> names = {"saxpy",     "reduction",    "spin_lock",       "histogram",
                                                 "divergent", "bitonic_sort", "intra_warp_lock", "needleman_wunsch",
                                                 "fft",       "bfs",          "pointer_chase",   "kmeans"};
  return names;
}

// Ten parts, which may run in parallel.
class preempted_anywhere : public preemption, public ::testing::WithParamInterface<unsigned> {};

TEST_P(preempted_anywhere, changes_no_output) { sample(GetParam(), 30, small_workloads()); }

INSTANTIATE_TEST_SUITE_P(part, preempted_anywhere, ::testing::Range(0u, 10u));

// Forty parts of 250 runs; one run in ten uses any workload, including the large ones.
class long_preempted_anywhere : public preemption, public ::testing::WithParamInterface<unsigned> {};

TEST_P(long_preempted_anywhere, changes_no_output) {
  std::set<std::string> all;
  for (const auto& entry : fs::directory_iterator(HEDDLE_WORKLOADS))
    if (fs::exists(entry.path() / "job.json")) all.insert(entry.path().filename().string());
  std::vector<std::string> mixture(all.begin(), all.end());
  for (std::size_t n = 0; n < 9 * all.size(); ++n) mixture.push_back(small_workloads()[n % small_workloads().size()]);
  sample(1000 + GetParam(), 250, mixture);
}

INSTANTIATE_TEST_SUITE_P(long_part, long_preempted_anywhere, ::testing::Range(0u, 40u));

TEST_F(preemption, the_context_travels_through_memory) {
  json job = job_of("reduction");
  const std::string options = "--gpu gtx1080 --set gpu.sm_count=1";
  const result base = run(job, options);
  job["preempt"] = {{{"at_cycle", 3000}, {"resume_after", 100}}};
  const result r = run(job, options);
  ASSERT_EQ(0, r.code) << r.log;
  ASSERT_EQ(1u, r.metrics["context_switches"].size());
  const json& s = r.metrics["context_switches"][0];
  const auto bytes = s["bytes_saved"].get<std::uint64_t>();
  const auto l2 = [](const result& x, const char* key) {
    std::uint64_t sum = 0;
    for (const json& k : x.metrics["kernels"]) sum += k["memory"]["l2"][key].get<std::uint64_t>();
    return sum;
  };
  EXPECT_EQ(l2(base, "write_bytes") + bytes, l2(r, "write_bytes"));
  EXPECT_LE(l2(base, "read_bytes") + bytes, l2(r, "read_bytes") + 4096);
  EXPECT_GE(s["restore_cycle"].get<std::uint64_t>(), s["saved_cycle"].get<std::uint64_t>() + 100);
}

TEST_F(preemption, a_reduced_context_leaves_out_what_nobody_will_read) {
  json job = job_of("sgemm_register_tiled");
  const std::string options = "--gpu v100 --set gpu.sm_count=2 --set context.saved_registers=";
  job["preempt"] = {{{"at_cycle", 3000}, {"resume_after", 100}}};
  const result whole = run(job, options + "used"), reduced = run(job, options + "live");
  ASSERT_EQ(0, whole.code) << whole.log;
  ASSERT_EQ(0, reduced.code) << reduced.log;
  EXPECT_TRUE(whole.bytes == reduced.bytes);
  check_switches(reduced);
  const auto bytes = [](const result& r) {
    return r.metrics["context_switches"][0]["bytes_saved"].get<std::uint64_t>();
  };
  EXPECT_LT(bytes(reduced), bytes(whole));
}

// A reducing barrier writes its result when the last warp arrives; each warp then waits for the barrier's latency.
TEST_F(preemption, a_reduced_context_holds_what_a_barrier_has_just_written) {
  std::ofstream(place_ / "count.ptx") << R"(.version 7.0
.target sm_60
.address_size 64
.visible .entry count(.param .u64 out)
{
	.reg .pred %p<3>;
	.reg .b32 %r<8>;
	.reg .b64 %rd<4>;
	ld.param.u64 %rd1, [out];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, 0;
	mov.u32 %r3, 60;
turn:
	and.b32 %r4, %r1, %r3;
	setp.ne.u32 %p1, %r4, 0;
	barrier.sync 1, 96;
	barrier.red.popc.u32 %r5, 0, 96, %p1;
	mad.lo.u32 %r2, %r2, 131, %r5;
	sub.u32 %r3, %r3, 1;
	setp.ne.u32 %p2, %r3, 0;
	@%p2 bra turn;
	mul.wide.u32 %rd2, %r1, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r2;
	ret;
}
)";
  json job = {{"module", (place_ / "count.ptx").string()},
              {"buffers", {{"out", {{"bytes", 384}}}}},
              {"launches",
               {{{"kernel", "count"}, {"grid", {1, 1, 1}}, {"block", {96, 1, 1}}, {"args", {{{"buffer", "out"}}}}}}},
              {"outputs", {{{"buffer", "out"}, {"file", (place_ / "0.out.bin").string()}}}}};
  for (const char* gpu : {"gtx1080", "v100"}) {
    const std::string options =
        std::string("--gpu ") + gpu + " --set gpu.sm_count=1 --set context.saved_registers=live";
    const result base = run(job, options);
    ASSERT_EQ(0, base.code) << base.log;
    const auto middle = base.metrics["kernels"][0]["start_cycle"].get<std::uint64_t>() +
                        base.metrics["kernels"][0]["cycles"].get<std::uint64_t>() / 2;
    unsigned switched = 0;
    for (std::uint64_t at = middle; at < middle + 120; at += 3) {
      json preempted = job;
      preempted["preempt"] = {{{"at_cycle", at}, {"resume_after", 10}}};
      const result r = run(preempted, options);
      ASSERT_EQ(0, r.code) << r.log;
      ASSERT_TRUE(r.bytes == base.bytes) << gpu << ", preempted in cycle " << at;
      switched += static_cast<unsigned>(r.metrics["context_switches"].size());
    }
    EXPECT_EQ(40u, switched) << gpu;
  }
}

TEST_F(preemption, the_waveform_shows_each_step) {
  json job = job_of("reduction");
  const fs::path vcd = place_ / "switch.vcd";
  job["preempt"] = {{{"at_cycle", 3000}, {"resume_after", 500}}};
  const result r =
      run(job, "--gpu gtx1080 --set gpu.sm_count=1 --set gpu.core_clock_mhz=1000 --vcd '" + vcd.string() + "'");
  ASSERT_EQ(0, r.code) << r.log;
  // The engine's phases from the request on: quiescing, saving, idle, (waiting,) restoring, idle, at the cycles of the
  // metrics.
  std::string id, scope;
  std::map<std::uint64_t, std::uint64_t> steps;  // by value: the first cycle of the phase
  std::uint64_t cycle = 0;
  std::ifstream in(vcd);
  for (std::string line; std::getline(in, line);) {
    std::istringstream words(line);
    std::string first, type, width, own, name;
    words >> first >> type >> width;
    if (first == "$scope") scope = width;
    if (first == "$var" && words >> own >> name && scope == "context_engine" && name == "step") id = own;
    if (first[0] == '#') cycle = (std::stoull(first.substr(1)) + 500) / 1000;
    if (first[0] == 'b' && type == id) steps.emplace(std::stoull(first.substr(1), nullptr, 2), cycle);
  }
  ASSERT_FALSE(id.empty());
  const json& s = r.metrics["context_switches"][0];
  EXPECT_NEAR(s["request_cycle"].get<double>(), static_cast<double>(steps.at(1)), 8) << "quiescing";
  EXPECT_NEAR(s["quiesced_cycle"].get<double>(), static_cast<double>(steps.at(2)), 2) << "saving";
  EXPECT_NEAR(s["restore_cycle"].get<double>(), static_cast<double>(steps.at(4)), 2) << "restoring";
}

TEST_F(preemption, another_kernel_runs_in_between) {
  // The kernel of stream 1 arrives while blocks of stream 0 fill the only SM, and runs on it while they are switched
  // out.
  json job = job_of("saxpy");
  json second = job["launches"][0];
  second["stream"] = 1;
  second["at_cycle"] = 1500;
  job["launches"][0]["grid"] = {1, 1, 1};
  const std::string options = "--gpu gtx1080 --set gpu.sm_count=1 --set sm.max_blocks=1";
  job["launches"].push_back(second);
  for (json& output : job["outputs"])
    output.erase("expect"), output.erase("type"), output.erase("rtol"), output.erase("atol");
  const result base = run(job, options);
  ASSERT_EQ(0, base.code) << base.log;
  const auto start = base.metrics["kernels"][0]["start_cycle"].get<std::uint64_t>();
  job["launches"][1]["at_cycle"] = 0;
  job["preempt"] = {{{"at_cycle", start + 300}, {"resume_after", 3000}}};
  const result r = run(job, options);
  ASSERT_EQ(0, r.code) << r.log;
  check_switches(r);
  ASSERT_EQ(1u, r.metrics["context_switches"].size());
  const json& s = r.metrics["context_switches"][0];
  const auto& other = r.metrics["kernels"][1 - s["kernel"].get<std::size_t>()];
  EXPECT_LT(other["start_cycle"].get<std::uint64_t>(), s["restore_cycle"].get<std::uint64_t>());
  EXPECT_GE(other["end_cycle"].get<std::uint64_t>(), s["saved_cycle"].get<std::uint64_t>());
}

// The SM's carve-out was chosen for the first kernel; among the saved blocks, those of the second kernel, which needs
// less, are restored first.
TEST_F(preemption, blocks_of_different_carveouts_come_back_together) {
  json job = {{"module", HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"},
              {"buffers", json::object()},
              {"outputs", json::array()}};
  const auto launch = [&](unsigned stream, unsigned blocks, unsigned shared, unsigned carveout, unsigned cycle,
                          unsigned turns, unsigned by_block) {
    job["launches"].push_back({{"kernel", "turning"},
                               {"grid", {blocks, 1, 1}},
                               {"block", {64, 1, 1}},
                               {"stream", stream},
                               {"shared_bytes", shared},
                               {"carveout", carveout},
                               {"at_cycle", cycle},
                               {"args", {{{"u32", turns}}, {{"u32", 0}}, {{"u32", by_block}}}}});
  };
  launch(0, 2, 40000, 100, 0, 50, 2000);
  launch(1, 4, 0, 0, 3500, 2000, 0);
  job["preempt"] = {{{"at_cycle", 9000}, {"mode", "switch"}, {"resume_after", 100}}};
  const result r = run(job, "--gpu v100 --set gpu.sm_count=1 --max-cycles 200000");
  ASSERT_EQ(0, r.code) << r.log;
  check_switches(r);
  ASSERT_EQ(2u, r.metrics["context_switches"].size());
  EXPECT_EQ(0, r.metrics["context_switches"][1]["kernel"].get<int>());
}

TEST_F(preemption, a_mode_that_the_chip_lacks_is_refused) {
  json job = job_of("saxpy");
  job["preempt"] = {{{"at_cycle", 1000}, {"mode", "switch"}}};
  for (const char* gpu : {"gtxtitan", "gtx980", "gtx750ti"}) {
    const result r = run(job, std::string("--gpu ") + gpu);
    EXPECT_EQ(2, r.code) << r.log;
    EXPECT_NE(std::string::npos, r.log.find("cannot stop a running block")) << r.log;
  }
  job["preempt"] = {{{"at_cycle", 1000}, {"mode", "drain"}}};
  EXPECT_EQ(0, run(job, "--gpu gtx980").code);
  job["preempt"] = {{{"at_cycle", 1000}, {"mode", "auto"}}};
  result r = run(job, "--gpu gtx980");
  ASSERT_EQ(0, r.code) << r.log;
  for (const json& s : r.metrics["context_switches"]) EXPECT_EQ("drain", s["mode"]);
  EXPECT_NE(0u, r.metrics["context_switches"].size());
  for (const char* gpu : {"gtxtitan", "gtx980", "gtx750ti"}) {
    json other = job_of("vector_add");
    other["preempt"] = {{{"at_cycle", 1000}, {"mode", "flush"}}};
    r = run(other, std::string("--gpu ") + gpu);
    EXPECT_EQ(2, r.code) << r.log;
    EXPECT_NE(std::string::npos, r.log.find("cannot stop a running block")) << r.log;
  }
  job["preempt"] = {{{"at_cycle", 1000}, {"sm", 99}}};
  r = run(job, "--gpu gtx1080");
  EXPECT_EQ(2, r.code);
  EXPECT_NE(std::string::npos, r.log.find("there is no SM 99")) << r.log;
}

TEST_F(preemption, only_kernels_shown_idempotent_are_dropped) {
  for (const auto& entry : fs::directory_iterator(HEDDLE_WORKLOADS)) {
    if (!fs::exists(entry.path() / "job.json")) continue;
    const std::string name = entry.path().filename().string();
    json job = job_of(name);
    // After the end of the short ones: the test is whether the mode is accepted.
    job["preempt"] = {{{"at_cycle", 1500}, {"mode", "flush"}, {"resume_after", 50}}};
    const result r = run(job, "--gpu v100 --set gpu.sm_count=4 --max-cycles 2500");
    if (can_be_dropped(name)) {
      EXPECT_NE(2, r.code) << r.log;
    } else {
      EXPECT_EQ(2, r.code) << r.log;
      EXPECT_NE(std::string::npos, r.log.find("is not shown idempotent")) << r.log;
    }
  }
}

TEST_F(preemption, dropped_blocks_run_anew_and_nothing_is_saved) {
  json job = job_of("fft");
  const std::string options = "--gpu v100 --set gpu.sm_count=2";
  const result base = run(job, options);
  ASSERT_EQ(0, base.code) << base.log;
  job["preempt"] = {{{"at_cycle", 1500}, {"mode", "flush"}, {"resume_after", 1000}}};
  const result r = run(job, options);
  ASSERT_EQ(0, r.code) << r.log;
  EXPECT_TRUE(r.bytes == base.bytes);
  check_switches(r);
  EXPECT_EQ(2u, modes_seen_["flush"]);
  const auto executed = [](const result& x) {
    return x.metrics["kernels"][0]["metrics"]["inst_executed"].get<std::uint64_t>();
  };
  EXPECT_GT(executed(r), executed(base)) << "the dropped work was not done again";
}

TEST_F(preemption, auto_decides_by_block) {
  json job = {{"module", HEDDLE_SOURCE "/testbench/occupancy/turning.ptx"},
              {"buffers", json::object()},
              {"outputs", json::array()}};
  // Blocks of one to eight units of work: at any time some have just begun, some end soon, and the remaining time of
  // others is unknown.
  job["launches"] = {{{"kernel", "turning"},
                      {"grid", {24, 1, 1}},
                      {"block", {256, 1, 1}},
                      {"args", {{{"u32", 100}}, {{"u32", 0}}, {{"u32", 60}}}}}};
  std::set<std::string> seen;
  for (const unsigned at : {7600, 13200, 25800}) {
    job["preempt"] = {{{"at_cycle", at}, {"mode", "auto"}, {"resume_after", 500}}};
    const result r = run(job, "--gpu v100 --set gpu.sm_count=1 --set sm.max_blocks=6");
    ASSERT_EQ(0, r.code) << r.log;
    check_switches(r);
    ASSERT_EQ(1u, r.metrics["context_switches"].size()) << "one entry per request, SM and kernel";
    const json& s = r.metrics["context_switches"][0];
    EXPECT_EQ(6u, s["blocks"].size());
    EXPECT_EQ(6u, s["block_modes"].size());
    EXPECT_EQ("auto", s["mode"]) << s;
    for (const json& mode : s["block_modes"]) seen.insert(mode.get<std::string>());
    EXPECT_GE(s["restore_cycle"].get<std::uint64_t>(), s["saved_cycle"].get<std::uint64_t>() + 500)
        << "counted from the last block's leaving";
  }
  EXPECT_EQ((std::set<std::string>{"drain", "flush", "switch"}), seen);
}

// The holder of a lock is not switched out while the blocks that spin on it drain.
TEST_F(preemption, auto_lets_no_block_wait_for_one_that_is_away) {
  json job = job_of("spin_lock");
  job["preempt"] = {{{"at_cycle", 28804}, {"mode", "auto"}, {"sm", 0}, {"resume_after", 700}},
                    {{"at_cycle", 28847}, {"mode", "switch"}, {"resume_after", 0}},
                    {{"at_cycle", 39553}, {"mode", "auto"}, {"resume_after", 700}}};
  const result r = run(job, "--gpu gtx1080 --set gpu.sm_count=1 --max-cycles 2000000");
  ASSERT_EQ(0, r.code) << r.log;
  for (const json& s : r.metrics["context_switches"]) EXPECT_NE("auto", s["mode"]) << "in different modes: " << s;
}

// A request that arrives while its SM is being freed waits, is not merged with the previous one, and may find the SM
// empty.
TEST_F(preemption, requests_that_overlap_are_counted) {
  json job = job_of("saxpy");
  const std::string options = "--gpu gtx1080 --set gpu.sm_count=1";
  const result base = run(job, options);
  const auto start = base.metrics["kernels"][0]["start_cycle"].get<std::uint64_t>();
  EXPECT_EQ(0u, base.metrics["preempt_requests"]["asked"].get<unsigned>());
  const auto requests = [&](std::uint64_t at, std::uint64_t away, std::uint64_t next) {
    job["preempt"] = {{{"at_cycle", at}, {"resume_after", away}}, {{"at_cycle", next}, {"resume_after", 0}}};
    const result r = run(job, options);
    EXPECT_EQ(0, r.code) << r.log;
    EXPECT_EQ(2u, r.metrics["preempt_requests"]["asked"].get<unsigned>());
    EXPECT_EQ(
        2u, r.metrics["preempt_requests"]["found_no_blocks"].get<std::size_t>() + r.metrics["context_switches"].size());
    return r.metrics["context_switches"].size();
  };
  EXPECT_EQ(1u, requests(start + 300, 9000, start + 301)) << "nothing is left when the first one has ended";
  EXPECT_EQ(2u, requests(start + 300, 0, start + 300 + 5000)) << "the blocks are back";
  EXPECT_EQ(0u, requests(1, 0, 2)) << "none has come";
}

TEST_F(preemption, auto_takes_what_its_estimate_says_is_cheapest) {
  const std::string options = "--gpu v100 --set gpu.sm_count=2";
  const auto mode_at = [&](json job, std::uint64_t cycle) {
    job["preempt"] = {{{"at_cycle", cycle}, {"mode", "auto"}, {"resume_after", 10}}};
    const result r = run(job, options);
    EXPECT_EQ(0, r.code) << r.log;
    check_switches(r);
    return r.metrics["context_switches"].empty() ? std::string("none")
                                                 : r.metrics["context_switches"][0]["mode"].get<std::string>();
  };
  const result base = run(job_of("pointer_chase"), options);
  const auto start = base.metrics["kernels"][0]["start_cycle"].get<std::uint64_t>();
  EXPECT_EQ("flush", mode_at(job_of("pointer_chase"), start + 30)) << "little has been run that would be lost";
  EXPECT_EQ("switch", mode_at(job_of("pointer_chase"), start + 1000))
      << "much has been run, and nothing is known of how long blocks take";
  // Kernels with spin locks must not be flushed; before any block has ended its duration is unknown.
  EXPECT_EQ("switch", mode_at(job_of("spin_lock"), 1500));
}

}  // namespace preemption_test
