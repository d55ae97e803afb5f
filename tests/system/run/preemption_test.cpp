// SPDX-License-Identifier: MIT
// Workloads preempted at any cycle, through the command line: the output bytes are unchanged, and blocks keep their SM
// and warp ids. A seeded sample of (workload, GPU, mode, cycle, SMs, saved registers); long_* runs a large one.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "preemption_fixture.h"

namespace preemption_test {

using namespace preemption_fixture;

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

TEST_F(preemption, the_context_is_transferred_through_memory) {
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

TEST_F(preemption, a_reduced_context_omits_dead_registers) {
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
TEST_F(preemption, blocks_of_different_carveouts_are_restored_together) {
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

}  // namespace preemption_test
