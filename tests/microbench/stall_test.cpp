// SPDX-License-Identifier: MIT
// Each state of a warp that does not issue, provoked by a kernel of stalls.ptx; and the sums of the states.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"

namespace stall_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

struct rule {
  const char* kernel;
  unsigned threads;
  const char* options;
  const char* cycle;  // the state in warp_cycles and in warp_states, and its least share of the warp-cycles
  const char* state;
  double share;
  unsigned launch = 1;  // 0: the first, whose data, code or constants come from memory
};

constexpr rule rules[] = {
    {"not_selected", 1024, "", "not_selected", "not_selected", 0.65},
    {"exec_dependency", 32, "", "exec_dependency", "wait", 0.75},
    {"short_scoreboard", 32, "", "exec_dependency", "short_scoreboard", 0.85},
    {"long_scoreboard", 32, "", "exec_dependency", "long_scoreboard", 0.85},
    {"pipe_busy", 128, "", "pipe_busy", "math_pipe_throttle", 0.5},
    {"memory_dependency", 1024, "", "memory_dependency", "mio_throttle", 0.4},
    {"memory_throttle", 128, "--set l1.mshr_entries=4", "memory_throttle", "lg_throttle", 0.6},
    {"memory_throttle", 1024, "--set sub_partition.scheduler=memory_aware", "other", "dispatch_stall", 0.5, 0},
    {"sync", 1024, "", "sync", "barrier", 0.7},
    {"sleeping", 64, "", "sleeping", "sleeping", 0.9},
    {"fence", 32, "", "other", "membar", 0.7},
    {"no_instruction", 32, "--set instruction_cache.prefetch_lines=0", "inst_fetch", "no_instruction", 0.5, 0},
    {"branch_resolving", 32, "", "inst_fetch", "branch_resolving", 0.7},
    {"constant_memory_dependency", 32, "", "constant_memory_dependency", "imc_miss", 0.6, 0},
    {"drain", 32, "", "other", "drain", 0.4},
};

std::uint64_t sum(const json& states) {
  std::uint64_t total = 0;
  for (const auto& [name, n] : states.items())
    if (name != "active") total += n.get<std::uint64_t>();
  return total;
}

// The states partition the active warp-cycles of each kernel, of each line and of each sub-partition; lines sum to
// their kernel, sub-partitions to all kernels.
void expect_partitions(const json& metrics) {
  std::uint64_t active = 0, in_partitions = 0, in_sms = 0;
  for (const json& kernel : metrics["kernels"]) {
    const std::uint64_t of_kernel = kernel["warp_cycles"]["active"];
    active += of_kernel;
    EXPECT_EQ(sum(kernel["warp_cycles"]), of_kernel);
    EXPECT_EQ(sum(kernel["warp_states"]), of_kernel);
    std::uint64_t in_lines = 0, executed = 0;
    std::map<std::string, std::uint64_t> states;
    for (const json& line : kernel["lines"]) {
      EXPECT_EQ(sum(line["warp_cycles"]), line["warp_cycles"]["active"]);
      EXPECT_EQ(sum(line["warp_states"]), line["warp_cycles"]["active"]);
      for (const auto& [name, n] : line["warp_states"].items()) states[name] += n.get<std::uint64_t>();
      in_lines += line["warp_cycles"]["active"].get<std::uint64_t>();
      executed += line["executed"].get<std::uint64_t>();
    }
    EXPECT_EQ(in_lines, of_kernel);
    for (const auto& [name, n] : kernel["warp_states"].items()) EXPECT_EQ(states[name], n) << name;
    EXPECT_EQ(executed, kernel["metrics"]["inst_executed"]);
  }
  for (const json& sm : metrics["sms"]) {
    in_sms += sm["active_warps"].get<std::uint64_t>();
    for (const json& p : sm["sub_partitions"]) {
      EXPECT_EQ(sum(p["warp_cycles"]), p["warp_cycles"]["active"]);
      EXPECT_EQ(sum(p["warp_states"]), p["warp_cycles"]["active"]);
      in_partitions += p["warp_cycles"]["active"].get<std::uint64_t>();
    }
  }
  EXPECT_EQ(in_partitions, active);
  EXPECT_EQ(in_sms, active);
}

json run_job(const json& job, const std::string& name, const std::string& options) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/stall") / name;
  fs::create_directories(place);
  std::ofstream(place / "job.json") << job.dump(2);
  const std::string command = "'" HEDDLE_PROGRAM "' run '" + (place / "job.json").string() + "' --quiet --metrics '" +
                              (place / "metrics.json").string() + "' " + options;
  const int status = std::system(command.c_str());
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
  std::ifstream in(place / "metrics.json");
  return ::testing::Test::HasFailure() ? json() : json::parse(in);
}

class stall : public ::testing::TestWithParam<std::size_t> {};

// Two launches on one SM: the first waits for its code, which comes from memory, and the second finds it in the caches.
TEST_P(stall, is_where_most_warp_cycles_go) {
  const rule& r = rules[GetParam()];
  json args = {{{"buffer", "out"}}};
  // One kernel has so many parameters that it misses the constant cache.
  const bool constants = std::string(r.kernel) == "constant_memory_dependency";
  for (unsigned n = 0; constants && n < 512; ++n) args.push_back({{"u32", 1}});
  const json launch = {{"kernel", r.kernel}, {"grid", {1, 1, 1}}, {"block", {r.threads, 1, 1}}, {"args", args}};
  const json job = {{"module", HEDDLE_MICROBENCH "/stalls.ptx"},
                    {"buffers", {{"out", {{"bytes", 262144}}}}},
                    {"launches", {launch, launch}},
                    {"outputs", json::array()}};
  const json metrics =
      run_job(job, "stall_" + std::to_string(GetParam()), r.options + std::string(" --set gpu.sm_count=1"));
  if (metrics.is_null()) return;
  const json& kernel = metrics["kernels"][r.launch];
  const double active = kernel["warp_cycles"]["active"];
  EXPECT_GE(kernel["warp_cycles"][r.cycle].get<double>() / active, r.share) << kernel["warp_cycles"].dump(1);
  EXPECT_GE(kernel["warp_states"][r.state].get<double>() / active, r.share) << kernel["warp_states"].dump(1);
  expect_partitions(metrics);
}

// A job with one block that samples a texture.
json sampling(const char* kernel, unsigned threads) {
  return {{"module", HEDDLE_MICROBENCH "/stalls.ptx"},
          {"buffers", {{"image", {{"bytes", 1048576}, {"fill", "iotaf"}}}, {"out", {{"bytes", 4096}}}}},
          {"textures",
           {{"image", {{"buffer", "image"}, {"type", "f32"}, {"channels", 1}, {"width", 1024}, {"height", 256}}}}},
          {"launches",
           {{{"kernel", kernel},
             {"grid", {1, 1, 1}},
             {"block", {threads, 1, 1}},
             {"args", {{{"texture", "image"}}, {{"buffer", "out"}}}}}}},
          {"outputs", json::array()}};
}

TEST(stalls, of_the_texture_unit_are_where_most_warp_cycles_go) {
  const json metrics = run_job(sampling("sampling", 1024), "stall_texture", "--gpu gtx1080");
  if (metrics.is_null()) return;
  const json& kernel = metrics["kernels"][0];
  const double active = kernel["warp_cycles"]["active"];
  EXPECT_GE(kernel["warp_cycles"]["texture"].get<double>() / active, 0.5) << kernel["warp_cycles"].dump(1);
  EXPECT_EQ(kernel["warp_cycles"]["texture"], kernel["warp_states"]["tex_throttle"]);
  expect_partitions(metrics);
}

// A fetch that waits for the previous one also needs the texture path, which the previous fetch fills if it has one
// entry: the full path takes precedence as the stall reason.
TEST(stalls, of_a_full_texture_path_take_precedence_over_those_of_its_operands) {
  for (const unsigned entries : {1u, 2u}) {
    const json metrics = run_job(sampling("sampling_chain", 32), "stall_texture_chain",
                                 "--gpu gtx1080 --set texture.queue_entries=" + std::to_string(entries));
    if (metrics.is_null()) return;
    const json& kernel = metrics["kernels"][0];
    const double active = kernel["warp_cycles"]["active"];
    const double texture = kernel["warp_cycles"]["texture"], operand = kernel["warp_cycles"]["exec_dependency"];
    if (entries == 1) {
      EXPECT_GE(texture / active, 0.6) << kernel["warp_cycles"].dump(1);
    } else {
      EXPECT_EQ(texture, 0) << kernel["warp_cycles"].dump(1);
      EXPECT_GE(operand / active, 0.6) << kernel["warp_cycles"].dump(1);
    }
    EXPECT_EQ(kernel["warp_cycles"]["texture"], kernel["warp_states"]["tex_throttle"]);
    expect_partitions(metrics);
  }
}

// Warps are stopped while they quiesce and while their context is saved and restored, and are absent in between.
TEST(stalls, of_a_context_switch_are_misc_from_its_request_on) {
  const json job = {
      {"module", HEDDLE_MICROBENCH "/stalls.ptx"},
      {"buffers", {{"out", {{"bytes", 262144}}}}},
      {"launches",
       {{{"kernel", "not_selected"}, {"grid", {1, 1, 1}}, {"block", {1024, 1, 1}}, {"args", {{{"buffer", "out"}}}}}}},
      {"outputs", json::array()},
      {"preempt", {{{"at_cycle", 1500}, {"sm", 0}, {"mode", "switch"}, {"resume_after", 3000}}}}};
  const json metrics = run_job(job, "stall_misc", "--gpu gtx1080 --set sub_partition.states_by_warp=true");
  if (metrics.is_null()) return;
  const json& kernel = metrics["kernels"][0];
  ASSERT_EQ(metrics["context_switches"].size(), 1u);
  const json& s = metrics["context_switches"][0];
  const auto between = [&](const char* from, const char* to) {
    return s[to].get<std::uint64_t>() - s[from].get<std::uint64_t>();
  };
  const std::uint64_t misc = kernel["warp_states"]["misc"];
  const std::uint64_t moving = between("quiesced_cycle", "saved_cycle") + between("restore_cycle", "resumed_cycle");
  EXPECT_GE(misc, 32 * moving);
  EXPECT_LE(misc, 32 * (moving + between("request_cycle", "quiesced_cycle")));
  EXPECT_GE(kernel["warp_cycles"]["other"].get<std::uint64_t>(), misc);
  expect_partitions(metrics);
  // The warp slots of an SM also sum to its sub-partitions.
  std::uint64_t in_slots = 0;
  for (const json& slot : metrics["sms"][0]["warp_slots"]) {
    EXPECT_EQ(sum(slot["warp_cycles"]), slot["warp_cycles"]["active"]);
    EXPECT_EQ(sum(slot["warp_states"]), slot["warp_cycles"]["active"]);
    EXPECT_GE(slot["warp_states"]["misc"].get<std::uint64_t>(), moving) << slot["warp_id"];
    in_slots += slot["warp_cycles"]["active"].get<std::uint64_t>();
  }
  EXPECT_EQ(metrics["sms"][0]["warp_slots"].size(), 32u);
  EXPECT_EQ(in_slots, kernel["warp_cycles"]["active"].get<std::uint64_t>());
}

// The state of a warp that waits for a result, by the producing unit: on every GPU, with both kinds of dependence
// tracking.
struct wait_rule {
  const char* kernel;
  const char* state;
  double share;  // least share of the warp-cycles: a chain of latency 4 issues in one of 4
  bool on_all;   // shuffles came with Kepler
};

constexpr wait_rule wait_rules[] = {
    {"exec_dependency", "wait", 0.65, true},
    {"special_function", "short_scoreboard", 0.75, true},
    {"conversion", "short_scoreboard", 0.75, true},
    {"shuffle", "short_scoreboard", 0.75, false},
    {"short_scoreboard", "short_scoreboard", 0.75, true},
    {"long_scoreboard", "long_scoreboard", 0.75, true},
};

class stall_of_results : public ::testing::TestWithParam<std::string> {};

// Each kernel is launched twice, on one SM; the second launch finds its code in the caches.
TEST_P(stall_of_results, names_the_kind_of_producer) {
  const std::string gpu = GetParam();
  json job = {{"module", HEDDLE_MICROBENCH "/stalls.ptx"},
              {"buffers", {{"out", {{"bytes", 4096}}}}},
              {"outputs", json::array()}};
  std::vector<wait_rule> rules_of_gpu;
  for (const wait_rule& r : wait_rules) {
    if (!r.on_all && (gpu == "g80" || gpu == "gtx480")) continue;
    rules_of_gpu.push_back(r);
    for (int n = 0; n < 2; ++n)
      job["launches"].push_back(
          {{"kernel", r.kernel}, {"grid", {1, 1, 1}}, {"block", {32, 1, 1}}, {"args", {{{"buffer", "out"}}}}});
  }
  for (const char* dependence : {"software", "scoreboard"}) {
    const json metrics = run_job(job, "stall_of_results_" + gpu,
                                 "--gpu " + gpu + " --set gpu.sm_count=1 --set sub_partition.dependence=" + dependence);
    if (metrics.is_null()) return;
    ASSERT_EQ(metrics["kernels"].size(), 2 * rules_of_gpu.size());
    for (std::size_t k = 0; k < rules_of_gpu.size(); ++k) {
      const wait_rule& r = rules_of_gpu[k];
      const json& kernel = metrics["kernels"][2 * k + 1];
      ASSERT_EQ(kernel["name"], r.kernel);
      const std::uint64_t active = kernel["warp_cycles"]["active"];
      EXPECT_GE(kernel["warp_states"][r.state].get<double>() / static_cast<double>(active), r.share)
          << gpu << ' ' << dependence << ' ' << r.kernel << kernel["warp_states"].dump(1);
      EXPECT_GE(kernel["warp_cycles"]["exec_dependency"], kernel["warp_states"][r.state])
          << gpu << ' ' << dependence << ' ' << r.kernel;
      EXPECT_EQ(sum(kernel["warp_states"]), active);
      EXPECT_EQ(sum(kernel["warp_cycles"]), active);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(all, stall_of_results,
                         ::testing::Values("g80", "gtx480", "gtxtitan", "gtx750ti", "gtx980", "p100", "gtx1080",
                                           "titanxp", "v100", "rtx2060", "rtx2080ti", "a100", "rtx3070", "rtx3080",
                                           "rtx4090", "h100"),
                         [](const auto& info) { return info.param; });

INSTANTIATE_TEST_SUITE_P(rules, stall, ::testing::Range(std::size_t{0}, std::size(rules)),
                         [](const auto& info) { return std::string(rules[info.param].state); });

}  // namespace stall_test
