// SPDX-License-Identifier: MIT
// The waveform agrees with the metrics: sums over its signals, read by an independent reader, equal the metrics.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"
#include "tests/system/common/vcd_reader.h"
#include "waveform_fixture.h"

namespace waveform_test {

using namespace waveform_fixture;
using heddle::test::vcd_reader;
using json = nlohmann::json;

/// Words by value, from a filter file of GTKWave.
std::map<std::uint64_t, std::string> words_of(const fs::path& filter) {
  std::map<std::uint64_t, std::string> words;
  std::ifstream in(filter);
  for (std::string line; std::getline(in, line);) {
    const auto first = line.find('?'), second = line.find('?', first + 1);
    EXPECT_NE(std::string::npos, second) << line;
    words[std::stoull(line, nullptr, 16)] = line.substr(second + 1);
  }
  return words;
}

struct scene {
  const char* name;
  const char* what;
};

class waveforms : public ::testing::TestWithParam<scene> {
 protected:
  waveforms() : place_(fs::path(HEDDLE_SCRATCH "/waveform") / GetParam().name) { fs::create_directories(place_); }
  const fs::path place_;
};

// The name in the metrics of a warp state in the waveform.
std::string cycles_name(const std::string& state) {
  static const std::map<std::string, std::string> names = {{"selected", "selected"},
                                                           {"not_selected", "not_selected"},
                                                           {"wait", "exec_dependency"},
                                                           {"short_scoreboard", "exec_dependency"},
                                                           {"long_scoreboard", "exec_dependency"},
                                                           {"math_pipe_throttle", "pipe_busy"},
                                                           {"mio_throttle", "memory"},
                                                           {"lg_throttle", "memory"},
                                                           {"tex_throttle", "texture"},
                                                           {"barrier", "sync"},
                                                           {"membar", "other"},
                                                           {"branch_resolving", "inst_fetch"},
                                                           {"no_instruction", "inst_fetch"},
                                                           {"imc_miss", "constant_memory_dependency"},
                                                           {"dispatch_stall", "other"},
                                                           {"drain", "other"},
                                                           {"sleeping", "sleeping"},
                                                           {"misc", "other"}};
  return names.at(state);
}

TEST_P(waveforms, show_what_the_metrics_count) {
  const std::string what = GetParam().what + std::string(" --set gpu.sm_count=1");
  ASSERT_EQ(0, run(what + " --trace-scope 'gpu.sm0*,gpu.cwd' --vcd" + quoted(place_ / "w.vcd") + " --metrics" +
                   quoted(place_ / "m.json")));
  ASSERT_EQ(0, run(what + " --metrics" + quoted(place_ / "alone.json")));
  json metrics = json::parse(content(place_ / "m.json")), alone = json::parse(content(place_ / "alone.json"));
  metrics.erase("host");
  alone.erase("host");
  EXPECT_TRUE(metrics == alone) << "observing changes what happens";

  const vcd_reader w(place_ / "w.vcd", cycle_ps);
  const auto words = words_of(place_ / "w.state.filter");
  const json& sm = metrics["sms"][0];
  std::map<std::string, std::uint64_t> states;
  std::uint64_t issued = 0, active = 0;
  for (unsigned p = 0; p < sm["sub_partitions"].size(); ++p) {
    const std::string base = "gpu.sm0.partition" + std::to_string(p) + ".";
    const json& cycles = sm["sub_partitions"][p]["warp_cycles"];
    std::map<std::string, std::uint64_t> sums;
    std::uint64_t held_by_inputs = 0;  // cycles of warps whose next instruction waits for nothing but its unit
    for (unsigned s = 0; w.has(base + "warp" + std::to_string(s) + "_state"); ++s)
      for (const auto& [value, n] : w[base + "warp" + std::to_string(s) + "_state"]) {
        if (value == 0) continue;
        sums[cycles_name(words.at(value))] += n;
        states[words.at(value)] += n;
        for (const char* held : {"math_pipe_throttle", "mio_throttle", "lg_throttle", "tex_throttle", "dispatch_stall"})
          held_by_inputs += words.at(value) == held ? n : 0;
      }
    for (const auto& [name, n] : cycles.items()) {
      if (name == "active" || name == "memory_dependency" || name == "memory_throttle") continue;
      EXPECT_EQ(n.get<std::uint64_t>(), sums[name]) << base << name;
    }
    EXPECT_EQ(cycles["memory_dependency"].get<std::uint64_t>() + cycles["memory_throttle"].get<std::uint64_t>(),
              sums["memory"])
        << base;
    EXPECT_EQ(cycles["active"].get<std::uint64_t>(), w.ones(base + "active")) << base;
    EXPECT_EQ(sums["selected"] + sums["not_selected"], w.ones(base + "warp_scheduler.eligible")) << base;
    EXPECT_EQ(sums["selected"], w.ones(base + "warp_scheduler.selected")) << base;
    const std::uint64_t ready = w.ones(base + "warp_scheduler.ready");
    EXPECT_GE(ready, w.ones(base + "warp_scheduler.eligible")) << base;
    EXPECT_LE(ready, w.ones(base + "warp_scheduler.eligible") + held_by_inputs) << base;
    issued += w.sum(base + "issued") + w.sum(base + "replaying");
    active += cycles["active"].get<std::uint64_t>();
  }
  EXPECT_EQ(sm["inst_issued"].get<std::uint64_t>(), issued);
  EXPECT_GT(issued, 1000u);
  std::map<std::string, std::uint64_t> expected;
  for (const json& k : metrics["kernels"])
    for (const auto& [name, n] : k["warp_states"].items())
      if (name != "active" && n != 0) expected[name] += n.get<std::uint64_t>();
  EXPECT_EQ(expected, states);

  // Resident blocks of the SM.
  const std::string manager = "gpu.sm0.resource_manager.";
  EXPECT_EQ(active, w.sum(manager + "resident_warps"));
  std::uint64_t warps = 0, slots = 0;
  for (unsigned s = 0; w.has(manager + "slot" + std::to_string(s) + "_warps"); ++s) {
    warps += w.sum(manager + "slot" + std::to_string(s) + "_warps");
    for (const auto& [value, n] : w[manager + "slot" + std::to_string(s) + "_warps"]) slots += value != 0 ? n : 0;
  }
  EXPECT_EQ(active, warps);
  EXPECT_EQ(slots, w.sum(manager + "resident_blocks"));
  std::uint64_t blocks = 0;
  for (const json& k : metrics["kernels"]) blocks += k["blocks"].get<std::uint64_t>();
  EXPECT_EQ(blocks, std::prev(w["gpu.cwd.blocks_completed"].end())->first);
  EXPECT_EQ(blocks, std::prev(w["gpu.cwd.blocks_placed"].end())->first);
}

INSTANTIATE_TEST_SUITE_P(
    all, waveforms,
    ::testing::Values(scene{"gtx1080", "'" HEDDLE_WORKLOADS "/reduction/job.json' --gpu gtx1080"},
                      scene{"v100", "'" HEDDLE_WORKLOADS "/bitonic_sort/job.json' --gpu v100"},
                      scene{"gtx480", "'" HEDDLE_WORKLOADS "/vector_add/job.json' --gpu gtx480"},
                      scene{"gtxtitan",
                            "'" HEDDLE_WORKLOADS
                            "/transpose/job.json' --gpu gtxtitan --set sub_partition.scheduler=memory_aware"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(waveform, has_every_level_of_an_sm_and_what_surrounds_it) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/waveform") / "levels";
  fs::create_directories(place);
  ASSERT_EQ(
      0, run("'" HEDDLE_WORKLOADS
             "/vector_add/job.json' --gpu gtx1080 --set gpu.sm_count=2 --trace-scope 'gpu.cwd,gpu.sm0*,gpu.l2_slice0,"
             "gpu.dram_channel0' --vcd" +
             quoted(place / "w.vcd")));
  const vcd_reader w(place / "w.vcd", cycle_ps);
  for (const char* name : {"gpu.cycle",
                           "gpu.cwd.grids",
                           "gpu.cwd.blocks_submitted",
                           "gpu.cwd.blocks_placed",
                           "gpu.cwd.blocks_completed",
                           "gpu.cwd.sm1_blocks",
                           "gpu.sm0.resource_manager.slot31_block",
                           "gpu.sm0.resource_manager.slot0_launch",
                           "gpu.sm0.resource_manager.free_cta_slots",
                           "gpu.sm0.resource_manager.free_registers",
                           "gpu.sm0.resource_manager.free_shared_bytes",
                           "gpu.sm0.resource_manager.free_warps3",
                           "gpu.sm0.barrier_unit.block0_waiting",
                           "gpu.sm0.context_engine.step",
                           "gpu.sm0.load_store_unit.pending",
                           "gpu.sm0.load_store_unit.queue3",
                           "gpu.sm0.l1.mshrs_used",
                           "gpu.sm0.l1.miss_queue",
                           "gpu.sm0.partition3.issued",
                           "gpu.sm0.partition3.issue0_warp",
                           "gpu.sm0.partition3.issue0_pc",
                           "gpu.sm0.partition3.issue0_operation",
                           "gpu.sm0.partition3.issue1_pc",
                           "gpu.sm0.partition3.issue1_operation",
                           "gpu.sm0.partition3.active",
                           "gpu.sm0.partition3.warp15_state",
                           "gpu.sm0.partition3.warp15_pc",
                           "gpu.sm0.partition3.warp_scheduler.ready",
                           "gpu.sm0.partition3.warp_scheduler.eligible",
                           "gpu.sm0.partition3.warp_scheduler.selected",
                           "gpu.sm0.partition3.fetch.buffered",
                           "gpu.sm0.partition3.scoreboard.warp15_pending",
                           "gpu.sm0.partition3.dependence_counters.warp15_raised",
                           "gpu.sm0.partition3.register_file.bank_conflicts",
                           "gpu.sm0.partition3.register_file.in_use",
                           "gpu.l2_slice0.requests_waiting",
                           "gpu.l2_slice0.misses_outstanding",
                           "gpu.l2_slice0.sectors_hit",
                           "gpu.l2_slice0.sectors_missed",
                           "gpu.dram_channel0.requests_waiting",
                           "gpu.dram_channel0.row_hits",
                           "gpu.dram_channel0.row_misses",
                           "gpu.dram_channel0.open_banks"})
    EXPECT_TRUE(w.has(name)) << name;
  unsigned busy = 0;
  for (const auto& [name, id] : w.signals())
    busy += name.rfind("gpu.sm0.partition0.", 0) == 0 && name.compare(name.size() - 5, 5, ".busy") == 0;
  EXPECT_EQ(9u, busy) << "execution units";
  EXPECT_FALSE(w.has("gpu.sm1.partition0.issued")) << "not in scope";
}

TEST(waveform, of_one_unit_alone_moves) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/waveform") / "unit";
  fs::create_directories(place);
  const std::string run_of = "'" HEDDLE_WORKLOADS "/vector_add/job.json' --gpu gtx1080 --set gpu.sm_count=1 --vcd" +
                             quoted(place / "w.vcd") + " --trace-scope ";
  ASSERT_EQ(0, run(run_of + "gpu.sm0.partition0*"));
  const vcd_reader all(place / "w.vcd", cycle_ps);
  for (const char* unit : {"gpu.sm0.partition0.fp32", "gpu.sm0.partition0.int"}) {
    const std::string busy = unit + std::string(".busy");
    ASSERT_TRUE(all.has(busy)) << busy;
    EXPECT_GT(all.ones(busy), 10u) << busy;
    ASSERT_EQ(0, run(run_of + unit));
    EXPECT_EQ(all.ones(busy), vcd_reader(place / "w.vcd", cycle_ps).ones(busy)) << busy;
  }
}

// The axis counts core cycles at any clock frequency: changes of the cycle number, with those of units in other clock
// domains in between.
TEST(waveform, has_cycles_on_its_axis) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/waveform") / "axis";
  fs::create_directories(place);
  const std::string command =
      "'" HEDDLE_PROGRAM "' run '" HEDDLE_WORKLOADS
      "/vector_add/job.json' --gpu gtx1080 --quiet --set gpu.sm_count=2 "
      "--trace-window 1500:4500 --trace-scope 'gpu.sm0*,gpu.l2_slice0,gpu.dram_channel0' --vcd" +
      quoted(place / "w.vcd");
  ASSERT_EQ(0, std::system(command.c_str()));
  const vcd_reader w(place / "w.vcd", cycle_ps);
  EXPECT_EQ(1500 * cycle_ps, w.first_ps()) << "the code has come, and something changes in each cycle";
  EXPECT_LE(w.last_ps(), 4500 * cycle_ps);
  const std::string id = " " + w.signals().at("gpu.cycle");
  std::uint64_t time = 0, changes = 0, between = 0;
  std::ifstream in(place / "w.vcd");
  for (std::string line; std::getline(in, line);) {
    if (line[0] == '#') {
      time = std::stoull(line.substr(1));
      between += time % cycle_ps != 0;
    } else if (line[0] == 'b' && line.size() > id.size() && line.compare(line.size() - id.size(), id.size(), id) == 0) {
      ++changes;
      EXPECT_EQ(std::stoull(line.substr(1), nullptr, 2), time / cycle_ps);
    }
  }
  EXPECT_GT(changes, 100u);
  EXPECT_GT(between, 10u) << "the L2 and the DRAM have clocks of their own";
  EXPECT_NE(std::string::npos,
            content(place / "w.vcd")
                .find("$comment 1 ns on the time axis is 1 core cycle, which lasts 622.278 ps at 1607 MHz $end"));
}

// The layout shows issue and warp states first; the rest is folded.
TEST(waveform, begins_with_issue_and_warp_states) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/waveform") / "order";
  fs::create_directories(place);
  ASSERT_EQ(0, run("'" HEDDLE_WORKLOADS "/vector_add/job.json' --gpu gtx1080 --set gpu.sm_count=1 --vcd" +
                   quoted(place / "w.vcd")));
  std::ifstream in(place / "w.gtkw");
  std::vector<std::string> shown;  // signals outside of folded groups
  std::vector<bool> folded;
  for (std::string line; std::getline(in, line);) {
    if (line == "@800200" || line == "@c00200") {
      folded.push_back(line == "@c00200" || (!folded.empty() && folded.back()));
    } else if (line == "@1000200" || line == "@1401200") {
      folded.pop_back();
    } else if (line.rfind("+{", 0) == 0 && (folded.empty() || !folded.back())) {
      shown.push_back(line.substr(2, line.find('}') - 2));
    } else if (line.rfind("gpu.", 0) == 0) {
      EXPECT_TRUE(!folded.empty() && folded.back()) << line << " is none of what one looks for first";
    }
  }
  const std::vector<std::string> first = {"cycle", "warps on the SM", "instructions issued",
                                          "warp",  "operation",       "second operation",
                                          "line",  "eligible warps",  "warp 0"};
  ASSERT_GT(shown.size(), 30u);
  EXPECT_EQ(first, std::vector<std::string>(shown.begin(), shown.begin() + 9));
  EXPECT_EQ("warp 15", shown[23]);
  EXPECT_EQ("instructions issued", shown[24]) << "of the next scheduler";
}

/// The waveform has each signal of a ready-made layout, with its width.
void expect_signals_of(const std::string& layout, const vcd_reader& w) {
  std::ifstream in(fs::path(HEDDLE_SOURCE) / "waveforms" / (layout + ".gtkw"));
  unsigned traces = 0;
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("+{", 0) == 0) line = line.substr(line.find("} ") + 2);  // shown under another name
    if (line.rfind("gpu.", 0) != 0) continue;
    ++traces;
    const std::string signal = line.substr(0, line.find('['));
    ASSERT_TRUE(w.has(signal)) << layout << ": " << line;
    EXPECT_EQ(w.width(signal) > 1 ? signal + "[" + std::to_string(w.width(signal) - 1) + ":0]" : signal, line)
        << layout;
  }
  EXPECT_GT(traces, 20u) << layout;
}

// The filters of the ready-made layouts equal those written with each waveform.
TEST(waveform, has_the_filters_of_the_ready_layouts) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/waveform") / "filters",
                 ready = fs::path(HEDDLE_SOURCE) / "waveforms";
  fs::create_directories(place);
  ASSERT_EQ(0, run("'" HEDDLE_WORKLOADS "/vector_add/job.json' --gpu gtx1080 --set gpu.sm_count=1 --trace-scope "
                   "'gpu.cwd,gpu.sm0*,gpu.l2_slice*,gpu.dram_channel*' --vcd" +
                   quoted(place / "w.vcd")));
  for (const char* name : {"state", "operation", "step"})
    EXPECT_EQ(content(place / ("w." + std::string(name) + ".filter")), content(ready / (std::string(name) + ".filter")))
        << name;
  const vcd_reader w(place / "w.vcd", cycle_ps);
  for (const char* name : {"scheduler", "memory", "context_switch", "dual_issue", "power"}) expect_signals_of(name, w);
}

TEST(waveform, has_the_signals_of_the_layout_for_hopper) {
  const fs::path place = fs::path(HEDDLE_SCRATCH "/waveform") / "hopper";
  fs::create_directories(place);
  for (const std::string job : {"gemm", "attention", "stencil", "split_sum"}) {
    ASSERT_EQ(0, run("'" HEDDLE_SOURCE "/testbench/hopper/" + job +
                     ".json' --gpu h100 --trace-window 3000:3100 --trace-scope 'gpu.sm0*,gpu.sm1.*' --vcd" +
                     quoted(place / "w.vcd")))
        << job;
    expect_signals_of("clusters", vcd_reader(place / "w.vcd", cycle_ps));
  }
}

}  // namespace waveform_test
