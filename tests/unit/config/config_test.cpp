// SPDX-License-Identifier: MIT
#include "heddle/config/config.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <random>

#include "config_files.h"
#include "heddle/config/input_file.h"
#include "heddle/config/parameter_page.h"
#include "heddle/config/parameter_table.h"

namespace heddle::test {
namespace config_test {

namespace fs = std::filesystem;
using settings = std::vector<std::string>;

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
  EXPECT_EQ("FILE:1:1: key 'sm_count' is before the first [section]", error_of("sm_count = 3\n"));
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
  EXPECT_EQ("FILE:2:16: unknown warp_assignment 'shuffled', expected round_robin, by_id",
            error_of("[sm]\nwarp_dealing = shuffled\n"));
}

TEST_F(config_files, ranges_and_consistency_name_the_value_at_fault) {
  EXPECT_EQ("FILE:2:12: gpu.sm_count = 0 is out of range, expected 1 to 1024", error_of("[gpu]\nsm_count = 0\n"));
  EXPECT_EQ("FILE:2:12: expected 1 to 1024 for gpu.sm_count, not '4294967300'",
            error_of("[gpu]\nsm_count = 4294967300\n"));
  for (const std::string number : {"1e999", "1e-999"})
    EXPECT_EQ("FILE:2:9: expected 32 / a whole number of cycles, 0.015625 to 32 for fp32.lanes, not '" + number + "'",
              error_of("[fp32]\nlanes = " + number + "\n"));
  for (const std::string version : {"6.10", "0.0", "six"})
    EXPECT_NE(error_of("[gpu]\ncompute_capability = " + version + "\n").find(", expected 1.0, 1.1, 1.2, "),
              std::string::npos);
  EXPECT_EQ("FILE:2:9: fp32.lanes = 0 is out of range, expected 32 / a whole number of cycles, 0.015625 to 32",
            error_of("[fp32]\nlanes = 0\n"));
  EXPECT_EQ("FILE:3:12: sm.max_warps = 66, sm.sub_partitions = 4: expected sm.sub_partitions to divide sm.max_warps",
            error_of("[sm]\n\nmax_warps =66\n"));
  EXPECT_EQ(
      "--set sm.sub_partitions=3: sm.max_warps = 64, sm.sub_partitions = 3: expected sm.sub_partitions to divide sm.max_warps",
      error_of("[sm]\nmax_warps = 64\n", {"sm.sub_partitions=3"}));
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
  EXPECT_EQ("FILE:2:1: unknown key 'base' in section [gpu], it must be before the first section",
            message("[gpu]\nbase = v100\n"));
  EXPECT_EQ("FILE:1:1: key 'bases' is before the first [section]", message("bases = v100\n"));
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

TEST_F(config_files, the_caller_decides_which_bases_are_allowed) {
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
  EXPECT_NO_THROW(load_config(write("base = v100\n"), {}, how)) << "shipped ones are public";
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
      c.fp32.lanes = 32 / static_cast<double>(1 + random() % 2000);
      c.memory.bytes_per_cycle = std::nextafter(static_cast<double>(1 + random() % 1000), 2000.0);
      c.interconnect.clock_mhz = c.gpu.core_clock_mhz;
      const gpu_config back = load_config(write(to_ini(c)));
      EXPECT_EQ(c.gpu.core_clock_mhz, back.gpu.core_clock_mhz);
      EXPECT_EQ(c.fp32.lanes, back.fp32.lanes);
      EXPECT_EQ(c.memory.bytes_per_cycle, back.memory.bytes_per_cycle);
    }
  }
}

// One has the values' meanings, and reads back to the same values as the other.
TEST_F(config_files, the_described_configuration_is_the_same) {
  const gpu_config c = load_config("gtx480", {"fp32.lanes=0.25"});
  const std::string text = to_described_ini(c);
  EXPECT_EQ(flatten(c), flatten(load_config(write(text))));
  EXPECT_NE(text.find("lanes = 0.25 "), std::string::npos);
  EXPECT_NE(text.find("; SM clock: core cycles are cycles of this clock (1 to 100000; MHz; product data)\n"),
            std::string::npos);
  EXPECT_EQ(text.find("]("), std::string::npos) << "no links";
}

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
  write("base = missing\n", "orphan.ini");
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
