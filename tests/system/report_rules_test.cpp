// SPDX-License-Identifier: MIT
// The rules of the report (docs/report.md) as the page has them: known answers for verdicts, sensitivity and Pareto fronts.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/system/browser.h"

namespace {

namespace fs = std::filesystem;
using heddle::tests::browser;
using json = nlohmann::json;

// A kernel on a GPU of 10 SMs with 4 schedulers each, in 1,000 cycles, and what makes others of it.
const char* const model = R"(
  window.config = { 'gpu.sm_count': 10, 'gpu.core_clock_mhz': 1000, 'sm.sub_partitions': 4, 'sub_partition.issue_width': 1, 'sub_partition.scheduler': 'gto',
    'fp32.lanes': 32, 'fp32.latency_cycles': 4, 'int.lanes': 16, 'int.latency_cycles': 4, 'ldst.lanes': 8, 'ldst.queue_entries': 4, 'sfu.lanes': 4,
    'memory.model': 'dram', 'memory.channels': 4, 'dram.bytes_per_cycle': 32, 'dram.clock_mhz': 500, 'interconnect.clock_mhz': 1000,
    'interconnect.response_bytes_per_cycle': 32, 'l1.sector_bytes': 32, 'l1.banks': 4, 'l1.read_cycles': 1, 'l1.size_bytes': 16384,
    'l1.cache_global_loads': false, 'l2.size_bytes': 1048576, 'l2.latency_cycles': 200, 'sm.registers': 65536, 'sm.max_warps': 64,
    'shared_memory.pass_cycles': 1, 'cwd.launch_latency_cycles': 700, 'sm.barrier_latency_cycles': 6 };
  window.kernel = (more = {}, states = {}) => ({ name: 'k', cycles: 1000, launch_cycles: 0, waves: 4, theoretical_occupancy: 1, occupancy_limiters: ['warps'],
    metrics: { inst_executed: 4000, issue_slots: 4000, sm_efficiency: 1, eligible_warps_per_cycle: 1, issue_slot_utilization: 0.1, gld_transactions: 10 },
    instructions: { fp32: 2000, int: 1000, ldst: 500 }, memory: { l1: {}, l2: {}, dram: { read_bytes: 1000, write_bytes: 0 }, shared: {} },
    warp_states: { selected: 10, not_selected: 5, wait: 5, long_scoreboard: 60, ...states }, ...more });
  window.judged = (k, c = config) => { const v = heddle.verdict(k, c); return [v.kind, v.bound, ...v.changes.map((x) => x.key + '=' + x.to)]; };
)";

class report_rules : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    const std::string program = browser::program();
    if (program.empty()) return;
    const fs::path place = HEDDLE_SCRATCH;
    fs::create_directories(place);
    const std::string page = place / (std::to_string(::getpid()) + ".html");
    const std::string command = "'" HEDDLE_PROGRAM "' run '" HEDDLE_WORKLOADS "/vector_add/job.json' --quiet --report '" + page + "'";
    ASSERT_EQ(std::system(command.c_str()), 0);
    chromium = std::make_unique<browser>(program, place);
    chromium->open(page, 800, false);
    chromium->evaluate(model);
    fs::remove(page);
  }
  static void TearDownTestSuite() { chromium.reset(); }
  void SetUp() override {
    if (!chromium) GTEST_SKIP() << "no browser: install chromium-headless-shell, or name one in HEDDLE_BROWSER";
  }
  static json value(const std::string& expression) { return chromium->evaluate(expression); }

  static std::unique_ptr<browser> chromium;
};
std::unique_ptr<browser> report_rules::chromium;

TEST_F(report_rules, speed_of_light_is_what_was_used_of_what_is_possible) {
  const json used = value("Object.fromEntries(heddle.speed_of_light(kernel(), config).map((s) => [s.name, s.share]))");
  EXPECT_DOUBLE_EQ(used["issue slots"], 4000.0 / (1000 * 10 * 4));
  EXPECT_DOUBLE_EQ(used["fp32"], 2000.0 * 32 / (1000 * 10 * 4 * 32));
  EXPECT_DOUBLE_EQ(used["int"], 1000.0 * 32 / (1000 * 10 * 4 * 16));
  EXPECT_DOUBLE_EQ(used["ldst"], 500.0 * 32 / (1000 * 10 * 4 * 8));
  EXPECT_DOUBLE_EQ(used["DRAM"], 1000.0 / (1000 * 4 * 32 * 0.5));
  EXPECT_FALSE(used.contains("sfu"));
  EXPECT_FALSE(used.contains("fp64"));   // a unit that the chip lacks
  // Fixed latency: the bandwidth stands in the parameters as it is.
  EXPECT_DOUBLE_EQ(value("heddle.speed_of_light(kernel(), {...config, 'memory.model': 'fixed', 'memory.bytes_per_cycle': 5}).find((s) => s.name === 'DRAM').share"), 1000.0 / (1000 * 4 * 5));
}

TEST_F(report_rules, a_busy_resource_is_the_bound) {
  EXPECT_EQ(value("judged(kernel({memory: {dram: {read_bytes: 50000, write_bytes: 0}, l1: {}, l2: {}, shared: {}}}))"),
            (json{"throughput", "DRAM", "memory.channels=8", "dram.clock_mhz=1000"}));
  // What misses a small L2 often is a reason to make it larger.
  EXPECT_EQ(value("judged(kernel({memory: {dram: {read_bytes: 40000, write_bytes: 10000}, l1: {}, l2: {accesses: 100, misses: 50}, shared: {}}}))"),
            (json{"throughput", "DRAM", "memory.channels=8", "l2.size_bytes=2097152"}));
  EXPECT_EQ(value("judged(kernel({instructions: {int: 13000, fp32: 0, ldst: 0}}))"), (json{"throughput", "int", "int.lanes=32", "gpu.sm_count=20"}));
  // A full-width unit cannot be wider: more of them.
  EXPECT_EQ(value("judged(kernel({instructions: {fp32: 30000, int: 0, ldst: 0}}))").at(2), "gpu.sm_count=20");
  EXPECT_EQ(value("judged(kernel({metrics: {inst_executed: 4e4, issue_slots: 39000, sm_efficiency: 1}, instructions: {}}))"),
            (json{"throughput", "issue slots", "sub_partition.issue_width=2", "gpu.sm_count=20"}));
  // Just below the line it is not.
  EXPECT_EQ(value("judged(kernel({instructions: {int: 11999}}))").at(0), "latency");
  EXPECT_EQ(value("judged(kernel({instructions: {int: 12000}}))").at(0), "throughput");
}

TEST_F(report_rules, ports_between_sms_and_l2_take_packets_in_whole_cycles) {
  // 60 reads and 40 writes of 64 bytes each with headers of 8: 72 bytes take 3 cycles of a port of 32, a header alone one.
  const std::string l2 = "{requests: 100, accesses: 200, read_bytes: 3840, write_bytes: 2560}";
  const std::string config = "{...config, 'interconnect.header_bytes': 8, 'interconnect.request_bytes_per_cycle': 32}";
  const json used = value("Object.fromEntries(heddle.speed_of_light(kernel({memory: {l2: " + l2 + "}}), " + config + ").map((s) => [s.name, s.share]))");
  EXPECT_DOUBLE_EQ(used["SMs to L2"], (40 * 3 + 60) / (1000.0 * 4));
  EXPECT_DOUBLE_EQ(used["L2 to SMs"], (60 * 3 + 40) / (1000.0 * 4));
  // Single sectors that are stored fill the way there, though their bytes are few of what it could move.
  const std::string stores = "kernel({memory: {l2: {requests: 1600, accesses: 1600, read_bytes: 0, write_bytes: 51200}, dram: {}}}, {lg_throttle: 900})";
  EXPECT_EQ(value("judged(" + stores + ", " + config + ")"), (json{"throughput", "SMs to L2", "interconnect.request_bytes_per_cycle=64", "memory.channels=8"}));
  // With more slices than SMs it is the SMs' ports that are few.
  EXPECT_EQ(value("judged(" + stores + ", {..." + config + ", 'gpu.sm_count': 3})").at(3), "gpu.sm_count=6");
}

TEST_F(report_rules, two_busy_resources_get_a_change_each) {
  EXPECT_EQ(value("judged(kernel({instructions: {int: 13000, ldst: 6200}}))"), (json{"throughput", "int", "int.lanes=32", "ldst.lanes=16"}));
}

TEST_F(report_rules, waits_are_the_bound_where_nothing_is_busy) {
  EXPECT_EQ(value("judged(kernel())"), (json{"latency", "long_scoreboard", "l1.cache_global_loads=true", "l2.latency_cycles=100"}));
  EXPECT_EQ(value("judged(kernel({}, {wait: 0}), {...config, 'l1.cache_global_loads': true})"), (json{"latency", "long_scoreboard", "l2.latency_cycles=100", "sub_partition.issue_width=2"}));
  // Too few warps to hide it: what limits them.
  EXPECT_EQ(value("judged(kernel({theoretical_occupancy: 0.25, occupancy_limiters: ['registers']}, {wait: 0, not_selected: 0}))"),
            (json{"latency", "long_scoreboard", "l1.cache_global_loads=true", "sm.registers=131072"}));
  // Places that no block fills help nobody.
  EXPECT_EQ(value("judged(kernel({waves: 0.9, theoretical_occupancy: 0.25, occupancy_limiters: ['registers']}, {wait: 0, not_selected: 0}))").at(3), "l2.latency_cycles=100");
  // A wait of little weight is behind the second change for a heavy one.
  EXPECT_EQ(value("judged(kernel({}, {mio_throttle: 900}))").at(3), "ldst.queue_entries=8");
  EXPECT_EQ(value("judged(kernel({}, {mio_throttle: 900}))").at(1), "mio_throttle");
  EXPECT_EQ(value("judged(kernel({}, {mio_throttle: 900}))").at(2), "ldst.lanes=16");
  EXPECT_EQ(value("judged(kernel({}, {barrier: 900}))"), (json{"latency", "barrier", "sub_partition.scheduler=lrr", "sm.barrier_latency_cycles=3"}));
  EXPECT_EQ(value("judged(kernel({instructions: {int: 900, fp32: 20}}, {wait: 900}))").at(2), "int.latency_cycles=2");
  // Warps that only wait to be picked have too few schedulers.
  EXPECT_EQ(value("judged(kernel({}, {not_selected: 900}))").at(2), "sub_partition.issue_width=2");
}

TEST_F(report_rules, a_cache_grows_only_where_it_was_too_small) {
  const auto judged = [](const std::string& memory) { return value("judged(kernel({memory: {" + memory + "}}, {wait: 0, not_selected: 0}), {...config, 'dram.controller_latency_cycles': 90})"); };
  // Each byte came once, and the L2 gave up nothing: neither of the caches could have done better.
  EXPECT_EQ(judged("l1: {}, l2: {accesses: 100, misses: 90, evictions: 0, read_bytes: 1000}, dram: {read_bytes: 1000}"),
            (json{"latency", "long_scoreboard", "l2.latency_cycles=100", "dram.controller_latency_cycles=45"}));
  // The L2 gave up lines.
  EXPECT_EQ(judged("l1: {}, l2: {accesses: 100, misses: 90, evictions: 5, read_bytes: 1000}, dram: {read_bytes: 1000}"),
            (json{"latency", "long_scoreboard", "l2.size_bytes=2097152", "l2.latency_cycles=100"}));
  // Bytes came from the L2 four times: an L1 would have had them.
  EXPECT_EQ(judged("l1: {}, l2: {accesses: 100, misses: 10, evictions: 0, read_bytes: 8000}, dram: {read_bytes: 1000}"),
            (json{"latency", "long_scoreboard", "l1.cache_global_loads=true", "l2.latency_cycles=100"}));
  EXPECT_EQ(judged("l1: {accesses: 100, hits: 50, evictions: 0}, l2: {accesses: 100, misses: 1, evictions: 0, read_bytes: 1000}, dram: {read_bytes: 900}").at(2), "l2.latency_cycles=100");
  EXPECT_EQ(judged("l1: {accesses: 100, hits: 50, evictions: 9}, l2: {accesses: 100, misses: 1, evictions: 0, read_bytes: 1000}, dram: {read_bytes: 900}").at(2), "l1.size_bytes=32768");
  // A program that fits its cache is waited for when it comes for the first time.
  const std::string caches = "{...config, 'instruction_cache.size_bytes': 4096, 'instruction_cache.instruction_bytes': 8, 'instruction_cache.miss_latency_cycles': 30}";
  EXPECT_EQ(value("judged(kernel({lines: Array(100).fill({})}, {no_instruction: 900}), " + caches + ")").at(2), "instruction_cache.miss_latency_cycles=15");
  EXPECT_EQ(value("judged(kernel({lines: Array(1000).fill({})}, {no_instruction: 900}), " + caches + ")").at(2), "instruction_cache.size_bytes=8192");
  // Loads that pass the L1 by take no MSHR.
  EXPECT_EQ(value("judged(kernel({}, {lg_throttle: 900}), {...config, 'l1.mshr_entries': 8})").at(2), "memory.channels=8");
  EXPECT_EQ(value("judged(kernel({}, {lg_throttle: 900}), {...config, 'l1.mshr_entries': 8, 'l1.cache_global_loads': true})").at(2), "l1.mshr_entries=16");
}

// What the page wants changed makes real kernels faster, each change by itself.
TEST_F(report_rules, changes_are_worth_making) {
  const std::string file = fs::path(HEDDLE_SCRATCH) / (std::to_string(::getpid()) + ".json");
  const auto run = [&file](const std::string& job, const std::string& options) {
    const std::string command = "'" HEDDLE_PROGRAM "' run '" HEDDLE_WORKLOADS "/" + job + "/job.json' --quiet " + options + " --metrics '" + file + "'";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    std::ifstream in(file);
    return json::parse(in);
  };
  for (const char* job : {"transpose", "vector_add", "saxpy", "black_scholes", "stencil_f64", "fft"}) {
    const json m = run(job, "");
    const json changes = value("heddle.verdict(" + m["kernels"][0].dump() + ", " + m["gpu"]["config"].dump() + ").changes.map(heddle.as_options)");
    EXPECT_EQ(changes.size(), 2u) << job;
    for (const json& options : changes)
      EXPECT_LT(run(job, options)["kernels"][0]["cycles"].get<double>(), 0.95 * m["kernels"][0]["cycles"].get<double>()) << job << " " << options;
  }
  fs::remove(file);
}

TEST_F(report_rules, short_kernels_and_small_grids_are_bound_by_themselves) {
  EXPECT_EQ(value("judged(kernel({launch_cycles: 1001}))").at(0), "launch");
  EXPECT_EQ(value("judged(kernel({launch_cycles: 1001}))").at(2), "cwd.launch_latency_cycles=350");
  EXPECT_EQ(value("judged(kernel({launch_cycles: 1000}))").at(0), "latency");
  EXPECT_EQ(value("judged(kernel({waves: 0.4}))").at(0), "parallelism");
  EXPECT_EQ(value("judged(kernel({metrics: {...kernel().metrics, sm_efficiency: 0.5}}))").at(0), "parallelism");
  EXPECT_EQ(value("judged(kernel({metrics: {inst_executed: 0}}))"), (json{"nothing", ""}));
  // Files of older versions do not say how many waves there were.
  EXPECT_EQ(value("judged({...kernel(), waves: undefined})").at(0), "latency");
}

TEST_F(report_rules, changes_are_never_what_the_machine_has_not) {
  EXPECT_EQ(value("judged(kernel(), {'gpu.sm_count': 10, 'sm.sub_partitions': 4})"), (json{"latency", "long_scoreboard", "gpu.sm_count=20"}));
  EXPECT_EQ(value("heddle.verdict(kernel({}, {wait: 0, not_selected: 0, long_scoreboard: 0, sleeping: 99}), config).changes"), json::array());
}

TEST_F(report_rules, changes_are_taken_by_every_machine) {
  const fs::path file = fs::path(HEDDLE_SCRATCH) / (std::to_string(::getpid()) + ".json");
  for (const std::string gpu : {"g80", "gtx480", "gtx1080", "v100", "h100"}) {
    const std::string run = "'" HEDDLE_PROGRAM "' run '" HEDDLE_WORKLOADS "/vector_add/job.json' --quiet --gpu " + gpu + " --metrics '" + file.string() + "'";
    ASSERT_EQ(std::system(run.c_str()), 0);
    std::ifstream in(file);
    const json config = json::parse(in)["gpu"]["config"];
    const json changes = value("[...new Set(heddle.all_changes(" + config.dump() + ").map(heddle.as_options))]");
    EXPECT_GT(changes.size(), 30u);
    for (const json& options : changes) {
      const std::string command = "'" HEDDLE_PROGRAM "' config --gpu " + gpu + " " + options.get<std::string>() + " >/dev/null";
      EXPECT_EQ(std::system(command.c_str()), 0) << command;
    }
  }
  fs::remove(file);
}

TEST_F(report_rules, sensitivity_of_a_known_plane) {
  // value = 100 + 10 a + b: a explains 4 x 10² x 0.25 against b's 4 x 0.25.
  const json ranked = value(R"(heddle.sensitivity(['b', 'a', 'c'], [0, 1].flatMap((a) => [0, 1].flatMap((b) => ['x', 'y'].map((c) => ({axes: [b, a, c], value: 100 + 10 * a + b}))))))");
  ASSERT_EQ(ranked.size(), 3u);
  EXPECT_EQ(ranked[0]["axis"], "a");
  EXPECT_EQ(ranked[1]["axis"], "b");
  EXPECT_EQ(ranked[2]["axis"], "c");
  EXPECT_NEAR(ranked[0]["explained"].get<double>(), 100.0 / 101, 1e-12);
  EXPECT_NEAR(ranked[1]["explained"].get<double>(), 1.0 / 101, 1e-12);
  EXPECT_NEAR(ranked[0]["spread"].get<double>(), 10 / 105.5, 1e-12);
  EXPECT_EQ(ranked[2]["explained"], 0);
  EXPECT_EQ(ranked[0]["least"], 0);
  EXPECT_EQ(ranked[0]["most"], 1);
  EXPECT_EQ(value("heddle.sensitivity(['a'], [{axes: [1], value: null}])"), json::array());
  EXPECT_EQ(value("heddle.sensitivity(['a'], [{axes: [1], value: 5}, {axes: [2], value: 5}])[0].explained"), 0);
}

TEST_F(report_rules, pareto_fronts) {
  const std::string points = "[{x: 1, y: 9}, {x: 2, y: 5}, {x: 3, y: 5}, {x: 4, y: 1}, {x: 5, y: 0.5}, {x: 2, y: 7}, {x: 2, y: 5}, {x: null, y: 0}]";
  EXPECT_EQ(value("heddle.pareto(" + points + ", false, false)"), (json{0, 1, 6, 3, 4}));
  EXPECT_EQ(value("heddle.pareto(" + points + ", true, true)"), (json{4, 3, 2, 5, 0}));
  EXPECT_EQ(value("heddle.pareto(" + points + ", false, true)"), (json{0}));
  EXPECT_EQ(value("heddle.pareto([], false, true)"), json::array());
  // Against the definition, on points that a generator makes.
  EXPECT_EQ(value(R"((() => {
    let s = 1; const r = () => (s = (s * 48271) % 2147483647) % 20;
    for (let round = 0; round < 50; ++round) {
      const p = Array.from({length: 40}, () => ({x: r(), y: r()}));
      for (const [a, b] of [[false, false], [false, true], [true, false], [true, true]]) {
        const better = (u, v, more) => (more ? u > v : u < v);
        const beaten = (i) => p.some((q) => !better(p[i].x, q.x, a) && !better(p[i].y, q.y, b) && (q.x !== p[i].x || q.y !== p[i].y));
        const wanted = p.map((_, i) => i).filter((i) => !beaten(i)).join();
        if (heddle.pareto(p, a, b).sort((u, v) => u - v).join() !== wanted) return JSON.stringify([round, a, b]);
      }
    }
    return 'same'; })())"), "same");
}

TEST_F(report_rules, lines_are_means_in_order) {
  EXPECT_EQ(value("heddle.lines([{x: 10, value: 1, series: 'a'}, {x: 2, value: 4, series: 'a'}, {x: 2, value: 6, series: 'a'}, {x: 2, value: null, series: 'a'}, {x: 'q', value: 1, series: 'b'}])"),
            (json{{{"series", "a"}, {"points", {{2, 5, 2}, {10, 1, 1}}}}, {{"series", "b"}, {"points", {{"q", 1, 1}}}}}));
  EXPECT_TRUE(value("heddle.more_is_better('kernels.0.metrics.ipc')"));
  EXPECT_FALSE(value("heddle.more_is_better('cycles')"));
}

TEST_F(report_rules, csv_quotes_what_needs_it) {
  EXPECT_EQ(value(R"(heddle.to_csv(['a', 'b'], [['x,y', 1], ['say "no"', null], ['two\nlines', 0.5]]))"), "a,b\r\n\"x,y\",1\r\n\"say \"\"no\"\"\",\r\n\"two\nlines\",0.5\r\n");
}

}  // namespace
