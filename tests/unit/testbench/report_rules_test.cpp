// SPDX-License-Identifier: MIT
// The report's rules for kernels (docs/use/report.md): known answers for speed of light, verdicts and proposed changes.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/config/config.h"
#include "heddle/config/parameter_rules.h"
#include "heddle/metrics/json.h"
#include "heddle/sub_partition/account/warp_state.h"
#include "testbench/report/changes.h"
#include "testbench/report/flop_roofline.h"
#include "testbench/report/verdict.h"
#include "tests/system/common/json_text.h"

namespace report_rules_test {

using namespace heddle;
using namespace heddle::testbench;
using json = nlohmann::ordered_json;
using answer = std::vector<std::string>;

json parsed(const std::string& text) { return json::parse(text); }

// A GPU of 10 SMs with 4 schedulers each, modified by `more`.
json config(const json& more = json::object()) {
  json c =
      parsed(R"({"gpu.sm_count": 10, "gpu.core_clock_mhz": 1000, "sm.sub_partitions": 4, "sub_partition.issue_width": 1,
    "sub_partition.scheduler": "gto", "fp32.lanes": 32, "fp32.latency_cycles": 4, "int.lanes": 16, "int.latency_cycles": 4, "ldst.lanes": 8,
    "ldst.queue_entries": 4, "sfu.lanes": 4, "memory.model": "dram", "memory.channels": 4, "l2.slices_per_channel": 1, "dram.bytes_per_cycle": 32, "dram.clock_mhz": 500,
    "interconnect.clock_mhz": 1000, "interconnect.response_bytes_per_cycle": 32, "l1.sector_bytes": 32, "l1.banks": 4, "l1.read_cycles": 1,
    "l1.size_bytes": 16384, "l1.cache_global_loads": false, "l2.size_bytes": 1048576, "l2.latency_cycles": 200, "sm.registers": 65536,
    "sm.max_warps": 64, "shared_memory.pass_cycles": 1, "cwd.launch_latency_cycles": 700, "sm.barrier_latency_cycles": 6})");
  for (const auto& item : more.items()) c[item.key()] = item.value();
  return c;
}

// A kernel of 1,000 cycles on it, with changes and other warp states.
json kernel(const json& more = json::object(), const json& states = json::object()) {
  json k = parsed(
      R"({"name": "k", "cycles": 1000, "launch_cycles": 0, "waves": 4, "theoretical_occupancy": 1, "occupancy_limiters": ["warps"],
    "metrics": {"inst_executed": 4000, "issue_slots": 4000, "sm_efficiency": 1, "eligible_warps_per_cycle": 1, "issue_slot_utilization": 0.1,
      "gld_transactions": 10},
    "instructions": {"fp32": 2000, "int": 1000, "ldst": 500},
    "memory": {"l1": {}, "l2": {}, "dram": {"read_bytes": 1000, "write_bytes": 0}, "shared": {}},
    "warp_states": {"selected": 10, "not_selected": 5, "wait": 5, "long_scoreboard": 60}})");
  for (const auto& item : states.items()) k["warp_states"][item.key()] = item.value();
  for (const auto& item : more.items()) k[item.key()] = item.value();
  return k;
}

// Kind, limiting resource, and the changes as KEY=VALUE.
answer judged(const json& k, const json& c = config()) {
  const verdict v = judge(k, machine_parameters(c));
  answer out = {v.kind, v.bound};
  for (const change& x : v.changes) out.push_back(x.key + "=" + value_text(x.to));
  return out;
}

double share(const json& k, const json& c, const std::string& name) {
  for (const resource_use& u : speed_of_light(k, machine_parameters(c)))
    if (u.name == name) return u.share;
  return -1;
}

TEST(report_rules, speed_of_light_is_what_was_used_of_what_is_possible) {
  EXPECT_DOUBLE_EQ(share(kernel(), config(), "issue slots"), 4000.0 / (1000 * 10 * 4));
  EXPECT_DOUBLE_EQ(share(kernel(), config(), "fp32"), 2000.0 * 32 / (1000 * 10 * 4 * 32));
  EXPECT_DOUBLE_EQ(share(kernel(), config(), "int"), 1000.0 * 32 / (1000 * 10 * 4 * 16));
  EXPECT_DOUBLE_EQ(share(kernel(), config(), "ldst"), 500.0 * 32 / (1000 * 10 * 4 * 8));
  EXPECT_DOUBLE_EQ(share(kernel(), config(), "DRAM"), 1000.0 / (1000 * 4 * 32 * 0.5));
  EXPECT_EQ(share(kernel(), config(), "sfu"), -1);
  EXPECT_EQ(share(kernel(), config(), "fp64"), -1) << "a unit that the chip lacks";
  // Fixed latency: the bandwidth is a parameter.
  EXPECT_DOUBLE_EQ(share(kernel(), config({{"memory.model", "fixed"}, {"memory.bytes_per_cycle", 5}}), "DRAM"),
                   1000.0 / (1000 * 4 * 5));
}

// A tiny vectorAdd: all its bytes come at once, in an eighth of its time.
TEST(report_rules, a_bus_that_is_busy_for_an_eighth_of_the_time_is_not_said_to_move_data_most_of_the_time) {
  const auto why = [](int bytes) {
    const json memory = {{"l1", json::object()},
                         {"l2", {{"read_bytes", bytes}}},
                         {"dram", {{"read_bytes", bytes}, {"busy_cycles", bytes / 32}, {"idle_cycles", 1}}}};
    for (const change& x : judge(kernel({{"waves", 0.2}, {"memory", memory}}), machine_parameters(config())).changes)
      if (x.key == "dram.clock_mhz") return x.why;
    return std::string("no change");
  };
  EXPECT_EQ(why(8000), "misses of the L2 come in a burst, which the memory's bus moves faster");
  EXPECT_EQ(why(35000), "the memory's bus moves data most of the time");
}

// Kepler's guide: 192 results of fp32 and 160 of integers in a cycle of an SM, with the lanes that its schedulers
// share.
TEST(report_rules, shared_lanes_count_once) {
  const gpu_config kepler = load_config("gtxtitan");
  const json c = config({{"fp32.lanes", kepler.fp32.lanes},
                         {"fp32.shared_lanes", kepler.fp32.shared_lanes},
                         {"int.lanes", kepler.integer.lanes},
                         {"int.shared_lanes", kepler.integer.shared_lanes}});
  EXPECT_DOUBLE_EQ(share(kernel(), c, "fp32"), 2000.0 * 32 / (1000 * 10 * 192));
  EXPECT_DOUBLE_EQ(share(kernel(), c, "int"), 1000.0 * 32 / (1000 * 10 * 160));
  const json roof = flop_roofline(kernel({{"flops", {{"fp32", 64}}}}), machine_parameters(c));
  EXPECT_EQ(roof["ceilings"][0]["peak"], 2.0 * 192 * 10 * 1000e6) << roof.dump();
}

TEST(report_rules, roofline_is_rate_over_intensity) {
  const json r = roofline(kernel({{"memory", {{"l2", {{"read_bytes", 8000}}}, {"dram", {{"read_bytes", 1000}}}}}}),
                          machine_parameters(config()));
  EXPECT_DOUBLE_EQ(r["rate"], 4000 / 1000.0 * 1e9);
  EXPECT_DOUBLE_EQ(r["issue_peak"], 10 * 4 * 1e9);
  ASSERT_EQ(r["levels"].size(), 2u);
  EXPECT_EQ(r["levels"][0]["name"], "L2");
  EXPECT_DOUBLE_EQ(r["levels"][0]["intensity"], 0.5);
  EXPECT_DOUBLE_EQ(r["levels"][1]["peak"], 4 * 32 * 0.5 * 1e9);
}

TEST(report_rules, a_busy_resource_is_the_bound) {
  const auto memory = [](const char* text) { return kernel({{"memory", parsed(text)}}); };
  const auto instructions = [](const char* text) { return kernel({{"instructions", parsed(text)}}); };
  EXPECT_EQ(judged(memory(R"({"dram": {"read_bytes": 50000}})")),
            (answer{"throughput", "DRAM", "memory.channels=8", "dram.clock_mhz=1000"}));
  // Frequent misses of a small L2 are a reason to enlarge it.
  EXPECT_EQ(
      judged(memory(R"({"dram": {"read_bytes": 40000, "write_bytes": 10000}, "l2": {"accesses": 100, "misses": 50}})")),
      (answer{"throughput", "DRAM", "memory.channels=8", "l2.size_bytes=2097152"}));
  EXPECT_EQ(judged(memory(R"({"dram": {"read_bytes": 50000}})"),
                   config({{"memory.model", "fixed"}, {"memory.bytes_per_cycle", 8}}))
                .at(3),
            "memory.bytes_per_cycle=16")
      << "the DRAM's clock moves no memory of fixed latency";
  EXPECT_EQ(judged(instructions(R"({"int": 13000})")),
            (answer{"throughput", "int", "int.lanes=32", "gpu.sm_count=20"}));
  // A full-width unit cannot be wider, so more units are proposed; one for all sub-partitions has the lanes of all.
  const json fp64 = instructions(R"({"fp64": 4000})");
  EXPECT_EQ(judged(fp64, config({{"fp64.lanes", 4}, {"fp64.shared", true}})).at(2), "fp64.lanes=8");
  EXPECT_EQ(judged(instructions(R"({"fp64": 9000})"), config({{"fp64.lanes", 8}, {"fp64.shared", true}})).at(2),
            "gpu.sm_count=20");
  EXPECT_EQ(judged(instructions(R"({"fp32": 30000})")).at(2), "gpu.sm_count=20");
  EXPECT_EQ(judged(kernel({{"metrics", parsed(R"({"inst_executed": 40000, "issue_slots": 39000, "sm_efficiency": 1})")},
                           {"instructions", json::object()}})),
            (answer{"throughput", "issue slots", "sub_partition.issue_width=2", "gpu.sm_count=20"}));
  // Just below the threshold it is not.
  EXPECT_EQ(judged(instructions(R"({"int": 11999})")).at(0), "latency");
  EXPECT_EQ(judged(instructions(R"({"int": 12000})")).at(0), "throughput");
}

TEST(report_rules, ports_between_sms_and_l2_take_packets_in_whole_cycles) {
  // 60 reads and 40 writes of 64 bytes each with headers of 8: 72 bytes take 3 cycles of a port of 32, a header alone
  // one.
  const json ports = config({{"interconnect.header_bytes", 8}, {"interconnect.request_bytes_per_cycle", 32}});
  const json both = kernel(
      {{"memory", parsed(R"({"l2": {"requests": 100, "accesses": 200, "read_bytes": 3840, "write_bytes": 2560}})")}});
  EXPECT_DOUBLE_EQ(share(both, ports, "SMs to L2"), (40 * 3 + 60) / (1000.0 * 4));
  EXPECT_DOUBLE_EQ(share(both, ports, "L2 to SMs"), (60 * 3 + 40) / (1000.0 * 4));
  // Stores of single sectors saturate the request path, although their bytes are only a part of its bandwidth.
  const json stores = kernel(
      {{"memory", parsed(R"({"l2": {"requests": 1600, "accesses": 1600, "read_bytes": 0, "write_bytes": 51200}})")}},
      {{"lg_throttle", 900}});
  EXPECT_EQ(judged(stores, ports),
            (answer{"throughput", "SMs to L2", "interconnect.request_bytes_per_cycle=64", "l2.slices_per_channel=2"}));
  // With more slices than SMs, the SMs' ports are the bottleneck.
  json few = ports;
  few["gpu.sm_count"] = 3;
  EXPECT_EQ(judged(stores, few).at(3), "gpu.sm_count=6");
}

TEST(report_rules, two_busy_resources_get_a_change_each) {
  EXPECT_EQ(judged(kernel({{"instructions", {{"int", 13000}, {"ldst", 6200}}}})),
            (answer{"throughput", "int", "int.lanes=32", "ldst.lanes=16"}));
}

TEST(report_rules, waits_are_the_bound_where_nothing_is_busy) {
  EXPECT_EQ(judged(kernel()),
            (answer{"latency", "long_scoreboard", "l1.cache_global_loads=true", "l2.latency_cycles=100"}));
  EXPECT_EQ(judged(kernel({}, {{"wait", 0}}), config({{"l1.cache_global_loads", true}})),
            (answer{"latency", "long_scoreboard", "l2.latency_cycles=100", "sub_partition.issue_width=2"}));
  // Too few warps to hide latency: proposes what limits them.
  const json quiet = {{"wait", 0}, {"not_selected", 0}};
  const json limited = {{"theoretical_occupancy", 0.25}, {"occupancy_limiters", {"registers"}}};
  EXPECT_EQ(judged(kernel(limited, quiet)),
            (answer{"latency", "long_scoreboard", "l1.cache_global_loads=true", "sm.registers=131072"}));
  // Additional block slots do not help if no block fills them.
  json small = limited;
  small["waves"] = 0.9;
  EXPECT_EQ(judged(kernel(small, quiet)).at(3), "l2.latency_cycles=100");
  // The second change for a frequent wait precedes changes for a rare one.
  EXPECT_EQ(judged(kernel({}, {{"mio_throttle", 900}})),
            (answer{"latency", "mio_throttle", "ldst.lanes=16", "ldst.queue_entries=8"}));
  EXPECT_EQ(judged(kernel({}, {{"barrier", 900}})),
            (answer{"latency", "barrier", "sub_partition.scheduler=lrr", "sm.barrier_latency_cycles=3"}));
  EXPECT_EQ(judged(kernel({{"instructions", {{"int", 900}, {"fp32", 20}}}}, {{"wait", 900}})).at(2),
            "int.latency_cycles=2");
  // If warps only wait to be selected, there are too few schedulers.
  EXPECT_EQ(judged(kernel({}, {{"not_selected", 900}})).at(2), "sub_partition.issue_width=2");
}

TEST(report_rules, each_state_in_which_a_warp_waits_has_a_phrase) {
  for (unsigned s = 0; s < static_cast<unsigned>(warp_stall::count); ++s) {
    const auto state = static_cast<warp_stall>(s);
    EXPECT_EQ(name_of_wait(name_of(state)).empty(), state == warp_stall::selected) << name_of(state);
  }
}

TEST(report_rules, a_cache_grows_only_where_it_was_too_small) {
  const auto of_memory = [](const char* memory) {
    return judged(kernel({{"memory", parsed(memory)}}, {{"wait", 0}, {"not_selected", 0}}),
                  config({{"dram.controller_latency_cycles", 90}}));
  };
  // Each byte was read once, and the L2 evicted nothing: no cache change could help.
  EXPECT_EQ(
      of_memory(
          R"({"l2": {"accesses": 100, "misses": 90, "evictions": 0, "read_bytes": 1000}, "dram": {"read_bytes": 1000}})"),
      (answer{"latency", "long_scoreboard", "l2.latency_cycles=100", "dram.controller_latency_cycles=45"}));
  // The L2 evicted lines.
  EXPECT_EQ(
      of_memory(
          R"({"l2": {"accesses": 100, "misses": 90, "evictions": 5, "read_bytes": 1000}, "dram": {"read_bytes": 1000}})"),
      (answer{"latency", "long_scoreboard", "l2.size_bytes=2097152", "l2.latency_cycles=100"}));
  // Bytes came from the L2 eight times: an L1 would have held them.
  EXPECT_EQ(
      of_memory(
          R"({"l2": {"accesses": 100, "misses": 10, "evictions": 0, "read_bytes": 8000}, "dram": {"read_bytes": 1000}})"),
      (answer{"latency", "long_scoreboard", "l1.cache_global_loads=true", "l2.latency_cycles=100"}));
  EXPECT_EQ(
      of_memory(
          R"({"l1": {"accesses": 100, "hits": 50, "evictions": 0}, "l2": {"accesses": 100, "misses": 1, "evictions": 0, "read_bytes": 1000},
              "dram": {"read_bytes": 900}})")
          .at(2),
      "l2.latency_cycles=100");
  EXPECT_EQ(
      of_memory(
          R"({"l1": {"accesses": 100, "hits": 50, "evictions": 9}, "l2": {"accesses": 100, "misses": 1, "evictions": 0, "read_bytes": 1000},
              "dram": {"read_bytes": 900}})")
          .at(2),
      "l1.size_bytes=32768");
  // A program that fits its cache causes waits only on first use.
  const json caches = config({{"instruction_cache.size_bytes", 4096},
                              {"instruction_cache.instruction_bytes", 8},
                              {"instruction_cache.prefetch_lines", 1},
                              {"instruction_cache.miss_latency_cycles", 30}});
  const auto of_lines = [&](std::size_t n) {
    return judged(kernel({{"lines", json(n, json::object())}}, {{"no_instruction", 900}}), caches).at(2);
  };
  EXPECT_EQ(of_lines(100), "instruction_cache.prefetch_lines=2");
  EXPECT_EQ(of_lines(1000), "instruction_cache.size_bytes=8192");
  // Loads that bypass the L1 use no MSHR.
  EXPECT_EQ(judged(kernel({}, {{"lg_throttle", 900}}), config({{"l1.mshr_entries", 8}})).at(2),
            "l2.slices_per_channel=2");
  EXPECT_EQ(
      judged(kernel({}, {{"lg_throttle", 900}}), config({{"l1.mshr_entries", 8}, {"l1.cache_global_loads", true}}))
          .at(2),
      "l1.mshr_entries=16");
}

TEST(report_rules, short_kernels_and_small_grids_are_bound_by_themselves) {
  EXPECT_EQ(judged(kernel({{"launch_cycles", 1001}})).at(0), "launch");
  EXPECT_EQ(judged(kernel({{"launch_cycles", 1001}})).at(2), "cwd.launch_latency_cycles=350");
  EXPECT_EQ(judged(kernel({{"launch_cycles", 1000}})).at(0), "latency");
  EXPECT_EQ(judged(kernel({{"waves", 0.4}})).at(0), "parallelism");
  json idle = kernel();
  idle["metrics"]["sm_efficiency"] = 0.5;
  EXPECT_EQ(judged(idle).at(0), "parallelism");
  idle["client_sms"] = 8;  // of ten
  EXPECT_EQ(judged(idle).at(0), "latency");
  idle["client_sms"] = 9;
  EXPECT_EQ(judged(idle).at(0), "parallelism");
  EXPECT_EQ(judged(kernel({{"metrics", {{"inst_executed", 0}}}})), (answer{"nothing", ""}));
  // Files of older versions do not contain the number of waves.
  json old = kernel();
  old.erase("waves");
  EXPECT_EQ(judged(old).at(0), "latency");
}

TEST(report_rules, suggest_nothing_that_the_machine_lacks) {
  EXPECT_EQ(judged(kernel(), parsed(R"({"gpu.sm_count": 10, "sm.sub_partitions": 4})")),
            (answer{"latency", "long_scoreboard", "gpu.sm_count=20"}));
  EXPECT_EQ(judged(kernel({}, {{"wait", 0}, {"not_selected", 0}, {"long_scoreboard", 0}, {"sleeping", 99}})).size(),
            2u);
}

// Metrics that lack inputs of the rules are judged by what is present.
TEST(report_rules, accept_metrics_that_lack_inputs) {
  EXPECT_EQ(judge(json::object(), machine_parameters(json::object())).kind, "nothing");
  EXPECT_EQ(judge(parsed(R"({"cycles": 5, "metrics": {"inst_executed": 1, "sm_efficiency": 1}})"),
                  machine_parameters(config()))
                .headline,
            "Bound by latency: unknown");
}

// Files of earlier versions lack parameters, those of later ones have names that this one does not know, and other
// programs write 20 as 20.0: what is not known has the default of parameter_list.h.
TEST(report_rules, parameters_that_metrics_lack_have_their_defaults) {
  const gpu_config defaults;
  const machine_parameters m(parsed(
      R"({"gpu.sm_count": 12.0, "sub_partition.scheduler": "of_tomorrow", "memory.model": "fixed", "fp64.shared": true})"));
  EXPECT_EQ(m.config().gpu.sm_count, 12u);
  EXPECT_EQ(m.number("gpu.sm_count"), 12);
  EXPECT_EQ(m.config().memory.model, choice::memory_model::fixed);
  EXPECT_EQ(m.config().sub_partition.scheduler, defaults.sub_partition.scheduler);
  EXPECT_EQ(m.number("shared_memory.bank_bytes"), defaults.shared_memory.bank_bytes);
  EXPECT_FALSE(m.has("shared_memory.bank_bytes"));
  EXPECT_TRUE(m.is_set("fp64.shared"));
  EXPECT_FALSE(m.is_set("fp32.shared"));
  EXPECT_THROW((void)m.number("gpu.sm_counts"), internal_error);
  EXPECT_THROW((void)m.number("memory.model"), internal_error);
}

// Every machine accepts each change, and each change has an effect; parameters that it depends on are changed as well.
TEST(report_rules, changes_are_taken_by_every_machine_and_act_there) {
  for (const std::string& gpu : shipped_gpus())
    for (const char* model : {"dram", "fixed"}) {
      if (model == std::string("fixed") && gpu != "gtx1080") continue;  // the same memory for all
      const std::vector<std::string> own = {std::string("memory.model=") + model};
      run_metrics m;
      m.config = load_config(gpu, own);
      const machine_parameters machine(json::parse(to_json(m))["gpu"]["config"]);
      const std::vector<change> changes = all_changes(machine);
      EXPECT_GT(changes.size(), 30u);
      for (const change& c : changes) {
        std::vector<std::string> overrides = own;
        overrides.push_back(c.key + "=" + value_text(c.to));
        for (const auto& [key, to] : c.also) overrides.push_back(key + "=" + value_text(to));
        gpu_config changed;
        EXPECT_NO_THROW(changed = load_config(gpu, overrides)) << gpu << " " << options_of(c);
        // The L1 is enlarged if read-only loads missed it, too.
        if (c.key == "l1.size_bytes" || c.key == "l1.banks") continue;
        EXPECT_EQ(why_without_effect(changed, c.key), "") << gpu << " " << options_of(c);
      }
    }
}

}  // namespace report_rules_test
