// SPDX-License-Identifier: MIT
#include "heddle/config/config.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "heddle/config/ini_reader.h"
#include "heddle/config/input_file.h"
#include "heddle/config/message.h"
#include "heddle/config/parameter_page.h"
#include "heddle/config/parameter_table.h"

namespace heddle::test {
namespace config_test {

namespace fs = std::filesystem;
using settings = std::vector<std::string>;

/// A directory for each test, removed afterwards.
class config_files : public ::testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/heddle_config_XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(name));
    directory_ = name;
  }
  void TearDown() override {
    unsetenv("HEDDLE_CONFIGS");
    fs::remove_all(directory_);
  }

  std::string write(const std::string& text, const std::string& name = "a.ini") const {
    const std::string file = (directory_ / name).string();
    std::ofstream(file, std::ios::binary) << text;
    return file;
  }

  /// The end of the error message for such a file, with "FILE" in place of its name.
  std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) const {
    const std::string file = write(text);
    try {
      load_config(file, overrides);
    } catch (const input_error& e) {
      std::string message = e.what();
      const std::size_t at = message.find(file);
      return at == std::string::npos ? message : message.replace(at, file.size(), "FILE");
    }
    return "no error";
  }

  fs::path directory_;
};

TEST_F(config_files, keys_override_the_defaults) {
  const gpu_config c =
      load_config(write("\xEF\xBB\xBF; a comment\r\n\r\n[gpu]\r\n  name = mine ; trailing\r\nsm_count=3\t# too\r\n"
                        "[l1]\ncache_global_loads = true\n[gpu]\ncore_clock_mhz = 1000.5"));
  EXPECT_EQ("mine", c.gpu.name);
  EXPECT_EQ(3u, c.gpu.sm_count);
  EXPECT_EQ(1000.5, c.gpu.core_clock_mhz);
  EXPECT_TRUE(c.l1.cache_global_loads);
  EXPECT_EQ(gpu_config().sm.max_warps, c.sm.max_warps);
}

TEST_F(config_files, errors_have_a_place) {
  EXPECT_EQ("FILE:2:1: unknown key 'sm_cuont' in section [gpu], did you mean 'sm_count'?",
            error_of("[gpu]\nsm_cuont = 3\n"));
  EXPECT_EQ("FILE:2:1: unknown key 'scheduler' in section [gpu], did you mean 'scheduler' of section [sub_partition]?",
            error_of("[gpu]\nscheduler = gto\n"));
  EXPECT_EQ("FILE:2:1: unknown key 'qwertyuiop' in section [gpu]", error_of("[gpu]\nqwertyuiop = gto\n"));
  EXPECT_EQ("FILE:1:3: unknown section [gpuu], did you mean 'gpu'?", error_of(" [gpuu]\nsm_count = 3\n"));
  EXPECT_EQ("FILE:3:14: expected an unsigned integer for gpu.sm_count, not 'many'",
            error_of("\n[gpu]\n  sm_count = many ; x\n"));
  EXPECT_EQ("FILE:2:12: expected an unsigned integer for gpu.sm_count, not '-1'", error_of("[gpu]\nsm_count = -1\n"));
  EXPECT_EQ("FILE:2:12: expected 1 to 1024 for gpu.sm_count, not '4294967296'",
            error_of("[gpu]\nsm_count = 4294967296\n"));
  EXPECT_EQ("FILE:2:18: expected a number for gpu.core_clock_mhz, not 'nan'",
            error_of("[gpu]\ncore_clock_mhz = nan\n"));
  EXPECT_EQ("FILE:2:18: expected 1 to 100000 for gpu.core_clock_mhz, not '1e999'",
            error_of("[gpu]\ncore_clock_mhz = 1e999\n"));
  EXPECT_EQ("FILE:2:9: expected true or false for tlm.check, not 'yes'", error_of("[tlm]\ncheck = yes\n"));
  EXPECT_EQ("FILE:3:1: key 'sm_count' is given twice in section [gpu], first in line 2",
            error_of("[gpu]\nsm_count = 3\nsm_count = 3\n"));
  EXPECT_EQ("FILE:1:1: key 'sm_count' stands before the first [section]", error_of("sm_count = 3\n"));
  EXPECT_EQ("FILE:1:1: expected ']' at the end of the section's name", error_of("[gpu\n"));
  EXPECT_EQ("FILE:1:1: expected a section's name between '[' and ']'", error_of("[ ]\n"));
  EXPECT_EQ("FILE:2:1: expected [section] or key = value", error_of("[gpu]\nsm_count\n"));
  EXPECT_EQ("FILE:2:11: expected a value after '='", error_of("[gpu]\nsm_count = ; 3\n"));
  EXPECT_EQ("FILE:2:1: expected a key before '='", error_of("[gpu]\n= 3\n"));
  EXPECT_EQ("FILE:2:3: expected a key of letters, digits and '_'", error_of("[gpu]\nsm count = 3\n"));
  EXPECT_EQ(
      "FILE:2:13: unknown scheduler 'gtoo', expected lrr, gto, oldest, cggty, two_level, prefetch_aware, memory_aware, ccws, did you mean 'gto'?",
      error_of("[sub_partition]\nscheduler = gtoo\n"));
}

TEST_F(config_files, former_names_are_read_and_noted) {
  config_reading how;
  const gpu_config c = load_config(write("[sm]\nwarp_dealing = by_id\n"),
                                   {"sub_partition.convergence_patience_turns=7", "sm.warp_assignment=by_id"}, how);
  EXPECT_EQ(c.sm.warp_assignment, choice::warp_assignment::by_id);
  EXPECT_EQ(c.sub_partition.convergence_patience_iterations, 7u);
  const std::vector<std::string> used = {"sm.warp_dealing", "sub_partition.convergence_patience_turns"};
  EXPECT_EQ(how.former_names, used);
  EXPECT_EQ(renamed_text({used[0], used[0], used[1]}),
            "former names of parameters are used: sm.warp_dealing (now sm.warp_assignment), "
            "sub_partition.convergence_patience_turns (now sub_partition.convergence_patience_iterations)");
  for (const renamed_parameter& r : renamed_parameters()) {
    EXPECT_EQ(find_parameter(r.former), find_parameter(r.now)) << r.former;
    ASSERT_NE(find_parameter(r.now), nullptr);
    EXPECT_EQ(find_parameter(r.now)->name(), r.now) << "a former name is no parameter's present name";
  }
  EXPECT_EQ(to_ini(c).find("warp_dealing"), std::string::npos);
  EXPECT_EQ("FILE:3:1: key 'warp_assignment' is another name of one in line 2, expected 'warp_assignment' once",
            error_of("[sm]\nwarp_dealing = by_id\nwarp_assignment = by_id\n"));
  EXPECT_EQ("FILE:2:16: unknown warp_assignment 'dealt', expected round_robin, by_id",
            error_of("[sm]\nwarp_dealing = dealt\n"));
}

TEST_F(config_files, ranges_and_consistency_name_the_value_at_fault) {
  EXPECT_EQ("FILE:2:12: gpu.sm_count = 0 is out of range, expected 1 to 1024", error_of("[gpu]\nsm_count = 0\n"));
  EXPECT_EQ("FILE:2:12: expected 1 to 1024 for gpu.sm_count, not '4294967300'",
            error_of("[gpu]\nsm_count = 4294967300\n"));
  for (const std::string number : {"1e999", "1e-999"})
    EXPECT_EQ("FILE:2:9: expected 0.015625 to 128 for fp32.lanes, not '" + number + "'",
              error_of("[fp32]\nlanes = " + number + "\n"));
  for (const std::string version : {"6.10", "0.0", "six"})
    EXPECT_NE(error_of("[gpu]\ncompute_capability = " + version + "\n").find("a compute capability that there is: "),
              std::string::npos);
  EXPECT_EQ("FILE:2:9: fp32.lanes = 0 is out of range, expected 0.015625 to 128", error_of("[fp32]\nlanes = 0\n"));
  EXPECT_EQ("FILE:3:12: sm.max_warps = 66, sm.sub_partitions = 4: expected sm.sub_partitions to divide sm.max_warps",
            error_of("[sm]\n\nmax_warps =66\n"));
  EXPECT_EQ(
      "--set sm.sub_partitions=3: sm.max_warps = 64, sm.sub_partitions = 3: expected sm.sub_partitions to divide sm.max_warps",
      error_of("[sm]\nmax_warps = 64\n", {"sm.sub_partitions=3"}));
}

TEST(narrow, holds_or_throws) {
  EXPECT_EQ(narrow<std::uint16_t>(65535u), 65535);
  EXPECT_THROW(narrow<std::uint16_t>(65536u), internal_error);
  EXPECT_THROW(narrow<std::uint8_t>(-1), internal_error);
  EXPECT_THROW(narrow<int>(4294967295u), internal_error);
  EXPECT_EQ(narrow<std::uint32_t>(4294967295.0), 4294967295u);
  EXPECT_THROW(narrow<std::uint32_t>(4294967296.0), internal_error);
  EXPECT_THROW(narrow<std::uint32_t>(0.5), internal_error);
  EXPECT_THROW(narrow<std::uint32_t>(-1.0), internal_error);
}

// ---- base = ... ----

TEST_F(config_files, a_file_says_what_differs_from_its_base) {
  write("[gpu]\nname = first\nsm_count = 3\n[fp32]\nlatency_cycles = 7\n", "first.ini");
  fs::create_directory(directory_ / "sub");
  write("; a base comes first\nbase = ../first.ini ; and a comment\n[gpu]\nname = second\n[l1]\nmshr_merges = 3\n",
        "sub/second.ini");
  const gpu_config c =
      load_config(write("base = sub/second.ini\n[l1]\nmshr_merges = 5\n", "third.ini"), {"gpu.sm_count=4"});
  EXPECT_EQ("second", c.gpu.name);
  EXPECT_EQ(4u, c.gpu.sm_count);
  EXPECT_EQ(7u, c.fp32.latency_cycles);
  EXPECT_EQ(5u, c.l1.mshr_merges);
  EXPECT_EQ(flatten(c), flatten(load_config(write(to_ini(c))))) << "printed flat";
  config_reading how;
  load_config((directory_ / "third.ini").string(), {}, how);
  ASSERT_EQ(3u, how.files.size());
  EXPECT_TRUE(fs::equivalent(how.files[0], directory_ / "third.ini"));
  EXPECT_TRUE(fs::equivalent(how.files[1], directory_ / "sub/second.ini"));
  EXPECT_TRUE(fs::equivalent(how.files[2], directory_ / "first.ini"));
}

TEST_F(config_files, a_base_can_be_a_shipped_gpu) {
  gpu_config expected = load_config("h100");
  expected.gpu.name = "mine";
  EXPECT_EQ(flatten(expected), flatten(load_config(write("base = h100\n[gpu]\nname = mine\n"))));
  // A preset sets everything that it determines, whatever the base sets.
  const gpu_config c = load_config(write("base = h100\n[dram]\npreset = gddr6\nt_rcd_cycles = 99\n"));
  EXPECT_EQ(c.dram.clock_mhz, 1750);
  EXPECT_EQ(c.dram.t_rcd_cycles, 99u);
  EXPECT_EQ(c.dram.controller_latency_cycles, expected.dram.controller_latency_cycles);
}

TEST_F(config_files, errors_name_the_file_where_a_value_was_said) {
  const auto message = [&](const std::string& text, const settings& overrides = {}) {
    std::string m = error_of(text, overrides);
    for (std::size_t at; (at = m.find(directory_.string() + "/")) != std::string::npos;)
      m.erase(at, directory_.string().size() + 1);
    return m;
  };
  write("[sm]\n\n  max_warps = 66\n", "odd.ini");
  EXPECT_EQ("odd.ini:3:15: sm.max_warps = 66, sm.sub_partitions = 4: expected sm.sub_partitions to divide sm.max_warps",
            message("base = odd.ini\n[gpu]\nsm_count = 2\n"));
  EXPECT_EQ("FILE:3:18: sm.max_warps = 66, sm.sub_partitions = 8: expected sm.sub_partitions to divide sm.max_warps",
            message("base = odd.ini\n[sm]\nsub_partitions = 8\n"));
  write("[gpu]\nsm_cuont = 2\n", "wrong.ini");
  EXPECT_EQ("wrong.ini:2:1: unknown key 'sm_cuont' in section [gpu], did you mean 'sm_count'?",
            message("base = wrong.ini\n"));
  EXPECT_EQ("FILE:1:8: base 'absent.ini': absent.ini: cannot open the configuration: No such file or directory",
            message("base = absent.ini\n"));
  EXPECT_EQ(0u,
            message("base = gtx1081\n").find("FILE:1:8: base 'gtx1081': unknown GPU 'gtx1081', expected one of g80, "));
  EXPECT_EQ("FILE:1:7: expected a value after '='", message("base =\n"));
  EXPECT_EQ("FILE:2:1: key 'base' is given twice, first in line 1", message("base = v100\nbase = h100\n"));
  EXPECT_EQ("FILE:2:1: unknown key 'base' in section [gpu], it stands before the first section",
            message("[gpu]\nbase = v100\n"));
  EXPECT_EQ("FILE:1:1: key 'bases' stands before the first [section]", message("bases = v100\n"));
}

TEST_F(config_files, a_file_is_not_its_own_base) {
  EXPECT_EQ("FILE:1:8: base 'a.ini': a configuration cannot be its own base, nor that of its base",
            error_of("base = a.ini\n"));
  write("base = ../a.ini\n", "b.ini");
  fs::create_directory(directory_ / "sub");
  fs::create_symlink("../b.ini", directory_ / "sub/link.ini");
  const std::string again = error_of("base = sub/link.ini\n");
  EXPECT_NE(std::string::npos, again.find("link.ini:1:8: base '../a.ini': a configuration cannot be its own base"))
      << again;
  for (int k = 0; k < 12; ++k) write("base = c" + std::to_string(k + 1) + ".ini\n", "c" + std::to_string(k) + ".ini");
  write("", "c12.ini");
  EXPECT_NE(std::string::npos,
            error_of("base = c0.ini\n").find("expected at most 8 files, each the base of the one before"));
  EXPECT_NO_THROW(load_config((directory_ / "c5.ini").string()));
}

TEST_F(config_files, whoever_reads_decides_which_bases_there_may_be) {
  write("[gpu]\nsm_count = 3\n", "first.ini");
  const std::string file = write("base = first.ini\n");
  config_reading how;
  std::vector<std::string> asked;
  how.read_base = [&](const std::string& name) -> std::string {
    asked.push_back(name);
    throw input_error("not this one");
  };
  EXPECT_THROW(load_config(file, {}, how), input_error);
  EXPECT_EQ(asked, std::vector<std::string>{(directory_ / "first.ini").string()});
  EXPECT_NO_THROW(load_config(write("base = v100\n"), {}, how)) << "shipped ones are nobody's secret";
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

TEST_F(config_files, files_that_are_none) {
  EXPECT_THROW(load_config((directory_ / "absent.ini").string()), input_error);
  EXPECT_THROW(load_config(directory_.string()), input_error);
  EXPECT_THROW(load_config("/dev/zero"), input_error);
  EXPECT_THROW(load_config(write(std::string(3u << 20, ';'))), input_error);
  EXPECT_THROW(load_config(write(std::string("[gpu]\nname = a\0b\n", 17))), input_error);
  EXPECT_THROW(load_config(""), input_error);
  EXPECT_NO_THROW(load_config(write("")));
}

TEST(printable, shows_text_and_escapes_what_a_terminal_acts_on) {
  EXPECT_EQ("caf\xc3\xa9 5 \xe2\x82\xac \xf0\x9f\x98\x80", printable("caf\xc3\xa9 5 \xe2\x82\xac \xf0\x9f\x98\x80"));
  EXPECT_EQ("\\n\\t\\x1b[2J\\x7f", printable("\n\t\x1b[2J\x7f"));
  EXPECT_EQ(
      "\\x9b"
      "31m",
      printable("\xc2\x9b"
                "31m"));
  EXPECT_EQ("\xc2\xa0", printable("\xc2\xa0"));
  EXPECT_EQ("\\u200e\\u200f\\u2028\\u202e\\u2066\\u2069\\ufeff",
            printable("\xe2\x80\x8e\xe2\x80\x8f\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6\xe2\x81\xa9\xef\xbb\xbf"));
  EXPECT_EQ("\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xaa", printable("\xe2\x80\x90\xe2\x80\xaf\xe2\x81\xaa"));
  EXPECT_EQ("\\xff\\xc2", printable("\xff\xc2"));
}

TEST(own_descriptors, have_these_names) {
  for (const char* name : {"/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/fd/0", "/dev/fd/63", "/proc/self/fd/7"})
    EXPECT_TRUE(names_own_descriptor(name)) << name;
  for (const char* name : {"", "/dev/std", "/dev/null", "/dev/fd/", "/dev/fd/x", "/dev/fd/1/a", "/proc/self/fd",
                           "/proc/1/fd/0", "a/dev/stdin"})
    EXPECT_FALSE(names_own_descriptor(name)) << name;
}

// Child processes of this program, such as the shell of a sweep's hook, must not inherit the descriptors.
TEST_F(config_files, files_that_are_read_are_not_inherited) {
  const std::string file = write("[gpu]\n");
  const input_file in(file);
  EXPECT_EQ("", in.problem());
  unsigned found = 0;
  for (const fs::directory_entry& open : fs::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    if (fs::read_symlink(open.path(), gone) != file) continue;
    ++found;
    EXPECT_NE(0, ::fcntl(std::stoi(open.path().filename().string()), F_GETFD) & FD_CLOEXEC);
  }
  EXPECT_EQ(1u, found);
}

TEST_F(config_files, broken_files_end_in_an_input_error) {
  std::mt19937 random(3);
  const std::string sound = to_ini(load_config("v100"));
  const std::string noise = "[]=;#.\n\r\t 019azAZ_-\xff\x01";
  for (int trial = 0; trial < 300; ++trial) {
    std::string text = sound;
    for (unsigned n = 1 + random() % 8; n > 0; --n) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0) text.erase(at, random() % 40);
      else text.insert(at, 1, noise[random() % noise.size()]);
    }
    const std::string file = write(text);
    try {
      const gpu_config c = load_config(file);
      EXPECT_EQ(flatten(c), flatten(load_config(write(to_ini(c)))));
    } catch (const input_error& e) {
      EXPECT_EQ(std::string::npos, std::string(e.what()).find('\n'));
    }
  }
}

TEST_F(config_files, text_reads_back_to_the_same_values) {
  std::mt19937_64 random(5);
  for (const std::string& name : shipped_gpus()) {
    gpu_config c = load_config(name);
    EXPECT_EQ(flatten(c), flatten(load_config(write(to_ini(c)))));
    for (int trial = 0; trial < 20; ++trial) {
      c.gpu.core_clock_mhz = 1000 + static_cast<double>(random() % 1000000007) / 1000003;
      c.fp32.lanes = static_cast<double>(random() % 1000003 + 100000) / 30000.0 + 1.0 / 3;
      c.memory.bytes_per_cycle = std::nextafter(static_cast<double>(1 + random() % 1000), 2000.0);
      c.interconnect.clock_mhz = c.gpu.core_clock_mhz;
      const gpu_config back = load_config(write(to_ini(c)));
      EXPECT_EQ(c.gpu.core_clock_mhz, back.gpu.core_clock_mhz);
      EXPECT_EQ(c.fp32.lanes, back.fp32.lanes);
      EXPECT_EQ(c.memory.bytes_per_cycle, back.memory.bytes_per_cycle);
    }
  }
}

// A misspelt name would make a parameter that never acts.
TEST(config_table, what_a_parameter_needs_are_names_of_a_choice) {
  unsigned rows = 0;
  for (const parameter& p : parameters()) {
    if (p.needs.key.empty()) continue;
    ++rows;
    const parameter* choice = find_parameter(p.needs.key);
    ASSERT_NE(choice, nullptr) << p.name();
    EXPECT_FALSE(p.needs.names.empty()) << p.name();
    for (const std::string& name : p.needs.names)
      EXPECT_NE(std::find(choice->choices.begin(), choice->choices.end(), name), choice->choices.end())
          << p.name() << ": " << name;
  }
  EXPECT_GE(rows, 7u);
}

TEST(config_table, every_parameter_has_a_sentence_and_values) {
  gpu_config config;
  const std::vector<std::string> texts = {"gpu.name", "gpu.compute_capability", "shared_memory.carveouts_kb"};
  for (const parameter_reference& p : parameters_of(config)) {
    const std::string name = p.about->name();
    const bool number = std::holds_alternative<unsigned*>(p.value) || std::holds_alternative<double*>(p.value);
    EXPECT_EQ(number, p.about->is_number()) << name;
    EXPECT_EQ(std::holds_alternative<choice_value>(p.value), p.about->is_choice()) << name;
    const bool any_text = std::find(texts.begin(), texts.end(), name) != texts.end();
    EXPECT_EQ(std::holds_alternative<std::string*>(p.value), any_text) << name << ": a choice is an enumeration";
    EXPECT_EQ(p.about->values() == "text", any_text) << name;
    EXPECT_GT(p.about->description.size(), 3u) << name;
    EXPECT_EQ(find_parameter(name), p.about);
    EXPECT_EQ(text_of(p), p.about->default_text) << name;
  }
  EXPECT_EQ(find_parameter("gpu.sm_cuont"), nullptr);
}

TEST(config_table, names_of_choices_are_those_of_their_enumerators) {
  gpu_config c;
  const auto set = [&](const char* name, const char* text) { return set_text(c, *find_parameter(name), text); };
  EXPECT_EQ(set("l2.hash", "none"), "");
  EXPECT_EQ(c.l2.hash, choice::hash::none);
  EXPECT_EQ(set("context.priority_preemption", "auto"), "");
  EXPECT_EQ(c.context.priority_preemption, choice::priority_preemption::auto_);
  EXPECT_EQ(set("sub_partition.scheduler", "ccws"), "");
  EXPECT_EQ(c.sub_partition.scheduler, choice::scheduler::ccws);
  EXPECT_EQ(set("cwd.placement", "most_free"), "");
  EXPECT_EQ(c.cwd.placement, choice::placement::most_free);
  EXPECT_EQ(set("memory.model", "external"), "");
  EXPECT_EQ(c.memory.model, choice::memory_model::external);
  EXPECT_EQ(set("dram.preset", "hbm3"), "");
  EXPECT_EQ(c.dram.preset, choice::dram_preset::hbm3);
  EXPECT_EQ(c.dram.clock_mhz, 2617) << "and all that the kind says";
  EXPECT_EQ(set("memory.model", "outer"), "dram, fixed, external") << "nothing was set";
  EXPECT_EQ(c.memory.model, choice::memory_model::external);
}

TEST(config_table, ranges_say_what_they_hold) {
  using form = numeric_range::form;
  const numeric_range some{1, 64}, none_or_some{0.25, 2, form::or_zero}, powers{4, 16, form::powers_of_two},
      warps{0, 64, form::multiples_of_32};
  EXPECT_TRUE(some.holds(1) && some.holds(64) && !some.holds(0) && !some.holds(65) && !some.holds(std::nan("")));
  EXPECT_TRUE(none_or_some.holds(0) && none_or_some.holds(0.25) && !none_or_some.holds(0.1));
  EXPECT_TRUE(powers.holds(4) && powers.holds(8) && !powers.holds(12) && !powers.holds(2));
  EXPECT_TRUE(warps.holds(0) && warps.holds(32) && !warps.holds(33));
  EXPECT_EQ(some.text(), "1 to 64");
  EXPECT_EQ(none_or_some.text(), "0 or 0.25 to 2");
  EXPECT_EQ(powers.text(), "a power of two, 4 to 16");
  EXPECT_EQ(warps.text(), "a multiple of 32, 0 to 64");
  EXPECT_EQ((numeric_range{128, 128}.text()), "128");
}

// HEDDLE_RENEW_PAGE=1 rewrites the tables.
TEST(config_table, the_page_has_these_tables) {
  const std::string file = HEDDLE_SOURCE_CONFIGS "/../docs/configuration.md";
  std::string page = read_text_file(file);
  const std::size_t begin = page.find("### [gpu]\n");
  ASSERT_NE(begin, std::string::npos);
  if (std::getenv("HEDDLE_RENEW_PAGE") != nullptr) {
    std::ofstream(file) << page.substr(0, begin) << parameter_tables();
    page = read_text_file(file);
  }
  EXPECT_EQ(parameter_tables(), page.substr(begin)) << "HEDDLE_RENEW_PAGE=1 writes them";
}

// One has the values' meanings, and reads back to the same values as the other.
TEST_F(config_files, the_described_configuration_is_the_same) {
  const gpu_config c = load_config("gtx480", {"fp32.lanes=0.25"});
  const std::string text = to_described_ini(c);
  EXPECT_EQ(flatten(c), flatten(load_config(write(text))));
  EXPECT_NE(text.find("lanes = 0.25 "), std::string::npos);
  EXPECT_NE(text.find("; SM clock: core cycles are cycles of this clock (1 to 100000; MHz)\n"), std::string::npos);
  EXPECT_EQ(text.find("]("), std::string::npos) << "no links";
}

TEST(shipped, defaults_are_the_gtx1080) { EXPECT_EQ(flatten(gpu_config()), flatten(load_config("gtx1080"))); }

TEST_F(config_files, shipped_names_come_from_a_directory) {
  write("[gpu]\ncompute_capability = 9.0\n", "old.ini");
  write("[gpu]\nname = young\ncompute_capability = 12.0\n", "young.ini");
  write("[gpu]\nname = a\ncompute_capability = 6.1\n", "b.ini");
  write("[gpu", "broken.ini");
  write("", "notes.txt");
  setenv("HEDDLE_CONFIGS", directory_.c_str(), 1);
  EXPECT_EQ((std::vector<std::string>{"b", "old", "young", "broken"}), shipped_gpus());
  EXPECT_EQ(120, compute_capability(load_config("young")));
  write("base = young\n[gpu]\nname = heir\n", "heir.ini");
  write("base = nobody\n", "orphan.ini");
  EXPECT_EQ((std::vector<std::string>{"b", "old", "heir", "young", "broken", "orphan"}), shipped_gpus())
      << "a base tells the age, too";
  EXPECT_THROW(load_config("orphan"), input_error);
  fs::remove(directory_ / "heir.ini");
  fs::remove(directory_ / "orphan.ini");
  EXPECT_THROW(load_config("broken"), input_error);
  try {
    load_config("yuong");
    FAIL();
  } catch (const input_error& e) {
    EXPECT_STREQ("unknown GPU 'yuong', expected one of b, old, young, broken or a file NAME.ini, did you mean 'young'?",
                 e.what());
  }
  setenv("HEDDLE_CONFIGS", (directory_ / "absent").c_str(), 1);
  EXPECT_TRUE(shipped_gpus().empty());
  EXPECT_THROW(load_config("gtx1080"), input_error);
}

}  // namespace config_test
}  // namespace heddle::test
