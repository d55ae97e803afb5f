// SPDX-License-Identifier: MIT
// docs/model/your_chip.md: microbenchmarks, and the configuration that a fit writes from them.
#include <cstdio>
#include <fstream>

#include "tests/system/correlate/correlate_fixture.h"

namespace your_chip_test {

using namespace correlate_tests;

// The microbenchmarks for a chip of one's own (docs/model/your_chip.md), measured on a hidden GPU whose parameters
// differ from those of the configuration: each row tells, and a fit finds the values again.
TEST_F(correlations, microbenchmarks_find_the_parameters_of_a_hidden_gpu) {
  const std::map<std::string, std::string> hidden = {{"fp32.latency_cycles", "5"},
                                                     {"int.multiply_latency_cycles", "7"},
                                                     {"fp64.fma_latency_cycles", "13"},
                                                     {"sfu.latency_cycles", "19"},
                                                     {"ldst.shuffle_latency_cycles", "29"},
                                                     {"sm.barrier_latency_cycles", "12"},
                                                     {"shared_memory.latency_cycles", "25"},
                                                     {"l1.latency_cycles", "33"},
                                                     {"l2.latency_cycles", "230"},
                                                     {"fp32.lanes", "32"},
                                                     {"int.multiply_lanes", "8"},
                                                     {"fp64.lanes", "16"},
                                                     {"sfu.lanes", "8"},
                                                     {"l1.read_cycles", "1.3"},
                                                     {"l2.atomic_interval_cycles", "1.6"},
                                                     {"cwd.dispatch_interval_cycles", "4"}};
  const std::string place = HEDDLE_SOURCE "/tests/hardware/your_chip/", head = "gpu,kernel,run,use,cycles,origin\n";
  std::string mine = "base = v100\n[gpu]\nname = mine\nsm_count = 4\n", changed;
  for (const auto& [key, value] : hidden) changed += " --set " + key + "=" + value;
  write("mine.ini", mine);
  // The rows of the program's table: {ROW(name), "key", grid, block, rounds, bytes, stride}.
  std::ifstream source(place + "your_chip.cu");
  std::map<std::string, std::string> run_of, key_of;
  for (std::string line; std::getline(source, line);) {
    char kernel[32], key[64];
    int grid, block, rounds, bytes, stride;
    if (std::sscanf(line.c_str(), "    {ROW(%31[a-z0-9_]), \"%63[a-z0-9_.]\", %d, %d, %d, %d, %d}", kernel, key, &grid,
                    &block, &rounds, &bytes, &stride) != 7)
      continue;
    // A sixteenth of the blocks, where there are many: what they take is proportional.
    std::string& r = run_of[kernel];
    r = "--kernel " + place + "your_chip.ptx:" + kernel + " --grid " + std::to_string(std::max(1, grid / 16)) +
        " --block " + std::to_string(block) + " --arg buf:8192";
    if (bytes != 0) r += " --arg buf:" + std::to_string(bytes);
    r += " --arg s32:" + std::to_string(rounds);
    if (stride != 0) r += " --arg s32:" + std::to_string(stride) + " --arg s32:" + std::to_string(bytes);
    r += " --set instruction_cache.second_level_misses=fixed";
    key_of[kernel] = key;
  }
  ASSERT_EQ(key_of.size(), hidden.size());
  std::string measured = head, rows = head;
  for (const auto& [kernel, run] : run_of) measured += "mine.ini," + kernel + "," + run + changed + ",compared,1,x\n";
  write("hidden.csv", measured);
  good({"hidden.csv", "--csv", "hidden_found.csv"});
  for (const auto& [kernel, run] : run_of) {
    const std::string cycles = row_of("hidden_found.csv", "cycles", kernel).at("heddle");
    EXPECT_GT(std::stod(cycles), 10'000) << kernel << ": long enough that a launch's own cycles do not count";
    rows += "mine.ini," + kernel + "," + run + ",identifies " + key_of[kernel] + "," + cycles + ",x\n";
  }
  write("rows.csv", rows);
  good({"rows.csv", "--csv", "found.csv"});
  for (const auto& [kernel, run] : run_of)
    EXPECT_GT(std::abs(number("found.csv", "cycles", "error_pct", kernel)), 5)
        << kernel << " does not tell " << key_of[kernel];

  const std::string two = "sfu.lanes,shared_memory.latency_cycles";
  const std::string table = good({"rows.csv", "--fit", two, "--ini", "fitted.ini"});
  EXPECT_NE(table.find("shared_memory.latency_cycles"), std::string::npos);
  const std::string ini = read("fitted.ini");
  EXPECT_NE(ini.find("[shared_memory]\nlatency_cycles = 25 "), std::string::npos) << ini;
  EXPECT_NE(ini.find("[sfu]\nlanes = 8 "), std::string::npos) << ini;
  EXPECT_NE(ini.find("; fitted to shared_chase: "), std::string::npos) << ini;
  command_ = "config";
  const std::string config = good({"--gpu", "fitted.ini"});
  EXPECT_NE(config.find("name = fitted\n"), std::string::npos) << config;
  EXPECT_NE(config.find("sm_count = 4\n"), std::string::npos) << "the base is mine.ini";
  command_ = "correlate";
  refused({"rows.csv", "--fit", "all", "--ini", "mine.ini"}, "mine.ini");
  refused({"rows.csv", "--ini", "f.ini"}, "--ini writes what --fit finds");
  refused({"rows.csv", "--fit", "all", "--ini", "f.txt"}, "expected FILE.ini");
  write(
      "both.csv",
      "gpu,kernel,run,use,cycles,origin\nv100,a,tiny.json,identifies fp32.lanes,7,x\np100,a,tiny.json,compared,7,x\n");
  refused({"both.csv", "--fit", "all", "--ini", "f.ini"}, "--ini is for one chip");
}

}  // namespace your_chip_test
