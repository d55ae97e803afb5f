// SPDX-License-Identifier: MIT
// Which values and overrides are accepted, and what the kinds of memory set.
#include <gtest/gtest.h>

#include "heddle/config/config.h"
#include "heddle/config/parameter_table.h"

namespace heddle::test {
namespace config_rules_test {

/// Empty: the V100 may be changed so.
std::string refusal(const std::vector<std::string>& overrides) {
  try {
    load_config("v100", overrides);
  } catch (const input_error& e) {
    return e.what();
  }
  return "";
}

/// Each inconsistent override is rejected, and the message names it.
TEST(config_rules, inconsistent_values_are_refused) {
  const char* bad[] = {"gpu.sm_count=0",
                       "gpu.compute_capability=6",
                       "gpu.compute_capability=6.x",
                       "gpu.compute_capability=.61",
                       "gpu.name=a b",
                       "gpu.core_clock_mhz=0",
                       "cwd.dispatch_latency_cycles=0",
                       "cwd.placement=random",
                       "sm.sub_partitions=5",
                       "sm.sub_partitions=0",
                       "sm.max_threads=4096",
                       "sm.max_threads_per_block=2048",
                       "sm.registers=65538",
                       "sm.registers_per_block=65537",
                       "sm.register_allocation=thread",
                       "sm.warp_assignment=random",
                       "sm.registers_per_thread=256",
                       "sub_partition.issue_width=0",
                       "sub_partition.issue_width=3",
                       "sub_partition.dual_issue=kepler",
                       "sub_partition.register_bank_bytes=5",
                       "sub_partition.register_banks=0",
                       "fp64.lanes=0",
                       "half.compare_lanes=0",
                       "fp64.compare_lanes=0.001",
                       "int.lanes=-1",
                       "int.multiplier=mad",
                       "sfu.latency_cycles=0",
                       "branch.latency_cycles=0",
                       "ldst.lanes=0",
                       "ldst.queue_entries=0",
                       "l1.ways=7",
                       "l1.line_bytes=64",
                       "l1.sector_bytes=48",
                       "l1.banks=3",
                       "l1.read_cycles=0.5",
                       "shared_memory.pass_cycles=0",
                       "l1.store_hit=keep",
                       "l1.replacement=plru",
                       "ldst.coalescing=none",
                       "l2.replacement=2",
                       "tlb.page_bytes=5000",
                       "tlb.miss_latency_cycles=0",
                       "tlm.random_delay_cycles=-1",
                       "l1.latency_cycles=4",
                       "shared_memory.latency_cycles=3",
                       "shared_memory.carveouts_kb=96,64",
                       "energy.voltage_points_mv=700,800",
                       "energy.voltage_clocks_mhz=0,1696,2038",
                       "energy.voltage_points_mv=90,800,900",
                       "shared_memory.carveouts_kb=96,",
                       "shared_memory.carveouts_kb=64",
                       "shared_memory.carveouts_kb=99999999999",
                       "shared_memory.opt_in_per_block_bytes=1000",
                       "shared_memory.max_per_block_bytes=50000",
                       "shared_memory.opt_in_per_block_bytes=98305",
                       "shared_memory.reserved_per_block_bytes=98304",
                       "shared_memory.unified_bytes=65536",
                       "shared_memory.banks=31",
                       "shared_memory.banks=128",
                       "constant_cache.size_bytes=2000",
                       "constant_cache.miss_latency_cycles=24",
                       "constant_cache.line_bytes=48",
                       "instruction_cache.instruction_bytes=12",
                       "interconnect.latency_cycles=0",
                       "interconnect.latency_cycles=106",
                       "interconnect.clock_mhz=100",
                       "l2.size_bytes=2097153",
                       "l2.ways=15",
                       "l2.latency_cycles=44",
                       "l2.hash=ipoly",
                       "l2.interleave_bytes=384",
                       "l2.interleave_bytes=64",
                       "memory.channels=0",
                       "memory.channels=7",
                       "memory.model=none",
                       "memory.bytes_per_cycle=0",
                       "dram.row_bytes=3000",
                       "dram.burst_bytes=48",
                       "dram.burst_bytes=4096",
                       "dram.t_ccd_cycles=0",
                       "dram.t_rfc_cycles=0.5",
                       "dram.preset=gddr7",
                       "ldst.replay=never"};
  for (const char* text : bad) {
    try {
      load_config("gtx1080", {text});
      ADD_FAILURE() << text << " was accepted";
    } catch (const input_error& e) {
      const std::string message = e.what();
      EXPECT_EQ(0u, message.find(std::string("--set ") + text + ": ")) << message;
      EXPECT_NE(std::string::npos, message.find("expected")) << message;
    }
  }
  EXPECT_THROW(load_config("gtx1080", {"dram.t_refi_cycles=100", "dram.t_rfc_cycles=100"}), input_error);
}

// Between two refreshes of a bank a row is opened and used. Times that leave no room for it are rejected with the sum;
// one cycle less is accepted. The V100 refreshes all banks each 3,420 cycles, for 228, with t_ras + t_rp = 40.
TEST(config_rules, a_row_can_be_used_between_two_refreshes) {
  const gpu_config v100 = load_config("v100");
  const dram_parameters& dram = v100.dram;
  const unsigned rest = dram.t_refi_cycles - dram.t_ras_cycles - dram.t_rp_cycles - dram.t_rfc_cycles;
  const std::string longest = "dram.t_rcd_cycles=" + std::to_string(rest);
  EXPECT_EQ(refusal({longest}),
            "--set " + longest +
                ": dram.t_refi_cycles = 3420 leaves no time to use a row between two refreshes, expected more than "
                "3420: t_ras + t_rp + t_rcd + the longest of t_rfc, t_rc, t_rrd, t_rrd_l and t_faw");
  EXPECT_EQ(refusal({"dram.t_rcd_cycles=" + std::to_string(rest - 1)}), "");
  EXPECT_EQ(refusal({"dram.refresh=none", longest}), "");
  for (const char* time : {"t_rc", "t_rrd", "t_faw", "t_ras", "t_rp"})
    EXPECT_NE(refusal({std::string("dram.") + time + "_cycles=100000"}).find("leaves no time to use a row"),
              std::string::npos)
        << time;
  EXPECT_EQ(refusal({"dram.t_rrd_l_cycles=100000"}), "") << "there are no bank groups";
  EXPECT_NE(refusal({"dram.bank_groups=4", "dram.t_rrd_l_cycles=100000"}), "");
  EXPECT_NE(refusal({"dram.refresh=per_bank", "dram.t_rfc_pb_cycles=3400"}).find("the longest of t_rfc_pb"),
            std::string::npos);
  EXPECT_EQ(refusal({"dram.refresh=per_bank", "dram.t_rrd_cycles=213"}),
            "--set dram.t_rrd_cycles=213: refreshes of single banks come each 213 cycles (dram.t_refi_cycles / "
            "dram.banks), expected at least t_ras + t_rp = 40 and more than t_rrd = 213");
  EXPECT_EQ(refusal({"dram.refresh=per_bank", "dram.t_rrd_cycles=212"}), "");
}

// Values set by a program are checked like those of a file, including the first parameter. Lanes that two schedulers
// share come in whole warps.
TEST(config_rules, hold_for_configurations_that_are_no_file) {
  gpu_config named;
  named.gpu.name = "a b";
  EXPECT_THROW(check(named), input_error);
  gpu_config lanes = load_config("gtx1080");
  EXPECT_NO_THROW(check(lanes));
  lanes.fp32.shared_lanes = 32;
  lanes.integer.shared_lanes = 16;
  try {
    check(lanes);
    ADD_FAILURE() << "16 lanes were accepted";
  } catch (const input_error& e) {
    EXPECT_NE(std::string::npos, std::string(e.what()).find("expected a multiple of 32")) << e.what();
  }
}

// A unit accepts a warp instruction each 32 / lanes cycles. Lanes that would make this no whole number, or less than
// one cycle, once ran as the nearest number of cycles.
TEST(config_rules, lanes_make_whole_cycles_or_are_refused) {
  for (const parameter& p : parameters()) {
    if (p.key.size() < 5 || p.key.compare(p.key.size() - 5, 5, "lanes") != 0 || p.key == "shared_lanes" ||
        p.key == "on_fp32_lanes")
      continue;
    for (const char* value : {"24", "48", "64", "128", "7", "0.7"}) {
      const std::string set = p.name() + "=" + value;
      EXPECT_EQ(refusal({set}),
                "--set " + set + ": " + p.name() + " = " + value + " is out of range, expected " + p.range.text());
    }
    EXPECT_NO_THROW(load_config("v100", {p.name() + "=10.67"})) << p.name();
  }
  // The unit that the sub-partitions share has the lanes of all four.
  EXPECT_EQ(refusal({"fp64.lanes=16", "fp64.shared=true"}),
            "--set fp64.shared=true: fp64.lanes = 16, fp64.shared = true, sm.sub_partitions = 4: expected fp64.lanes x "
            "sm.sub_partitions, the lanes of one unit for all of them (fp64.shared = true), to be 32 / a whole number "
            "of cycles");
  EXPECT_NE(refusal({"half.compare_lanes=6.4", "half.shared=true", "half.lanes=8"}), "");
  EXPECT_EQ(refusal({"half.compare_lanes=4", "half.shared=true", "half.lanes=8"}), "");
}

// Bytes per second of one channel, from its pins and their rate. A preset's values can be changed after it.
TEST(dram_preset, has_the_bandwidth_of_its_pins) {
  const struct {
    const char* name;
    double pins, gigabits;
  } kinds[] = {{"gddr5", 32, 7},    {"gddr5x", 32, 10},   {"gddr6", 16, 14},  {"gddr6x", 16, 19},
               {"hbm2", 64, 1.754}, {"hbm2e", 64, 3.186}, {"hbm3", 64, 5.234}};
  for (const auto& k : kinds) {
    const gpu_config c = load_config("gtx980", {std::string("dram.preset=") + k.name});
    EXPECT_NEAR(c.dram.clock_mhz * 1e6 * c.dram.bytes_per_cycle, k.pins * k.gigabits * 1e9 / 8,
                1e-2 * k.pins * k.gigabits * 1e9 / 8)
        << k.name;
    EXPECT_LE(c.dram.t_ccd_cycles * c.dram.bytes_per_cycle, c.dram.burst_bytes) << k.name;
    EXPECT_EQ(c.dram.queue_entries, load_config("gtx980").dram.queue_entries) << "the controller is not the memory's";
    EXPECT_EQ(load_config("gtx980", {std::string("dram.preset=") + k.name, "dram.t_rcd_cycles=99"}).dram.t_rcd_cycles,
              99u);
  }
}

// A preset that corresponds to a shipped GPU's memory has the same values.
TEST(dram_preset, is_the_memory_of_the_gpu_that_has_it) {
  const char* pairs[][2] = {{"gddr5", "gtx980"},   {"gddr5x", "gtx1080"}, {"gddr6", "rtx2060"},
                            {"gddr6x", "rtx3080"}, {"hbm2", "v100"},      {"hbm3", "h100"}};
  for (const auto& [preset, gpu] : pairs)
    EXPECT_EQ(to_ini(load_config(gpu)), to_ini(load_config(gpu, {std::string("dram.preset=") + preset}))) << preset;
}

TEST(config_rules, sensible_changes_are_accepted) {
  for (const char* text :
       {"gpu.sm_count=1", "sm.sub_partitions=1", "sm.sub_partitions=2", "sm.sub_partitions=8",
        "sub_partition.scheduler=lrr", "sub_partition.issue_width=1", "memory.channels=4", "memory.channels=16",
        "memory.model=fixed", "memory.model=external", "interconnect.clock_mhz=803.5", "l1.size_bytes=49152",
        "fp32.lanes=0.5", "tlm.check=true", "sm.max_warps=64", "l2.size_bytes=4194304"})
    EXPECT_NO_THROW(load_config("gtx1080", {text})) << text;
  EXPECT_NO_THROW(load_config("gtx1080", {"fp64.lanes=0", "fp64.compare_lanes=0"}));
  EXPECT_NO_THROW(load_config("gtx1080", {"sm.max_warps=1", "sm.max_warps=64"})) << "the last override of a key wins";
}

TEST(config_overrides, errors_name_the_option) {
  const auto error_of = [](const std::string& text) -> std::string {
    try {
      load_config("gtx1080", {text});
    } catch (const input_error& e) {
      return e.what();
    }
    return "no error";
  };
  EXPECT_EQ("--set gpu.sm_cuont=3: unknown key 'sm_cuont' in section [gpu], did you mean 'sm_count'?",
            error_of("gpu.sm_cuont=3"));
  EXPECT_EQ("--set gpuu.sm_count=3: unknown section [gpuu], did you mean 'gpu'?", error_of("gpuu.sm_count=3"));
  EXPECT_EQ("--set gpu.sm_count: expected SECTION.KEY=VALUE", error_of("gpu.sm_count"));
  EXPECT_EQ("--set sm_count=3.5: expected SECTION.KEY=VALUE", error_of("sm_count=3.5"));
  EXPECT_EQ("--set : expected SECTION.KEY=VALUE", error_of(""));
  EXPECT_EQ("--set gpu.sm_count=: expected an unsigned integer for gpu.sm_count, not ''", error_of("gpu.sm_count="));
  EXPECT_EQ("--set gpu.sm_count=1\\n2: expected an unsigned integer for gpu.sm_count, not '1\\n2'",
            error_of("gpu.sm_count=1\n2"));
}

TEST(shipped, defaults_are_the_gtx1080) { EXPECT_EQ(flatten(gpu_config()), flatten(load_config("gtx1080"))); }

}  // namespace config_rules_test
}  // namespace heddle::test
