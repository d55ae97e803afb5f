// SPDX-License-Identifier: MIT
// The program's memory depends on the blocks resident on the GPU, not on the length of a program or trace.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "tests/bench/bench_traces.h"
#include "tests/system/common/json_text.h"

namespace bounds_test {

namespace fs = std::filesystem;

// Peak memory use in bytes, from the metrics.
double peak_bytes(const std::string& arguments) {
  fs::create_directories(HEDDLE_SCRATCH "/bounds");
  const std::string metrics = HEDDLE_SCRATCH "/bounds/metrics.json";
  const std::string line =
      "'" HEDDLE_PROGRAM "' " + arguments + " --quiet --progress never --metrics '" + metrics + "'";
  EXPECT_EQ(std::system(line.c_str()), 0) << line;
  std::ifstream in(metrics);
  return nlohmann::json::parse(in)["host"]["peak_rss_bytes"].get<double>();
}

nlohmann::json metrics_of(const std::string& arguments) {
  peak_bytes(arguments);
  std::ifstream in(HEDDLE_SCRATCH "/bounds/metrics.json");
  nlohmann::json m = nlohmann::json::parse(in);
  m.erase("host");
  return m;
}

double peak_of_trace(unsigned blocks) {
  const fs::path folder = fs::path(HEDDLE_SCRATCH "/bounds") / std::to_string(blocks);
  fs::create_directories(folder);
  const double bytes =
      peak_bytes("replay '" + bench::write_trace(bench::trace_kind::streaming, folder, blocks) + "' --gpu v100");
  fs::remove_all(folder);
  return bytes;
}

// Sanitizers allocate additional memory.
#if defined(__SANITIZE_ADDRESS__)
constexpr bool own_memory = false;
#else
constexpr bool own_memory = true;
#endif

TEST(memory_bounds, a_v100_with_all_its_warps_resident_takes_less_than_500_megabytes) {
  if (!own_memory) GTEST_SKIP();
  EXPECT_LT(peak_bytes("run '" HEDDLE_WORKLOADS "/sgemm/job.json' --gpu v100"), 500e6);
}

TEST(memory_bounds, a_trace_takes_what_its_resident_blocks_take) {
  if (!own_memory) GTEST_SKIP();
  const double filled = peak_of_trace(3840);     // their arrays fill the L2, and six times as many as are resident
  const double long_one = peak_of_trace(25600);  // more than is ever kept in memory
  EXPECT_LT(long_one, 1.05 * filled);
  EXPECT_LT(long_one, 1e9);
}

// 60 blocks of 32 warps, each with 100 loads from random addresses: 264 bytes for each load.
std::string scattered_loads(const fs::path& folder) {
  fs::create_directories(folder);
  std::ofstream out(folder / "kernel-1.traceg");
  out << "-kernel name = scattered\n-kernel id = 1\n-grid dim = (60,1,1)\n-block dim = (1024,1,1)\n-shmem = 0\n-nregs = 16\n-binary version = 61\n"
         "-cuda stream id = 0\n-shmem base_addr = 0x00007f5000000000\n-local mem base_addr = 0x00007f4e00000000\n-nvbit version = 1.7\n"
         "-accelsim tracer version = 3\n\n#traces format = PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] "
         "[mem_addresses]\n\n";
  std::mt19937_64 random(1);
  char address[24];
  for (unsigned block = 0; block < 60; ++block) {
    out << "#BEGIN_TB\n\nthread block = " << block << ",0,0\n\n";
    for (unsigned warp = 0; warp < 32; ++warp) {
      out << "warp = " << warp << "\ninsts = 101\n";
      for (unsigned k = 0; k < 100; ++k) {
        // One sector for all lanes but the last, which is so far away that 32-bit differences do not suffice.
        out << "0100 ffffffff 1 R8 LDG.E 1 R2 4 0";
        const unsigned long long near = 0x7f4000000000 + random() % 4096 * 32;
        for (unsigned lane = 0; lane < 31; ++lane)
          out << (std::snprintf(address, sizeof address, " 0x%llx", near + random() % 8 * 4), address);
        out << (std::snprintf(address, sizeof address, " 0x%llx", near - (1ull << 34)), address) << " \n";
      }
      out << "0300 ffffffff 0 EXIT 0 0 \n\n";
    }
    out << "#END_TB\n\n";
  }
  std::ofstream(folder / "kernelslist.g") << "kernel-1.traceg\n";
  return (folder / "kernelslist.g").string();
}

TEST(memory_bounds, what_exceeds_the_memory_for_traces_lies_in_a_file) {
  if (!own_memory) GTEST_SKIP();
  const fs::path folder = fs::path(HEDDLE_SCRATCH "/bounds") / "scattered";
  const std::string replay = "replay '" + scattered_loads(folder) + "' --gpu gtx1080 --trace-memory ";
  const double in_memory = peak_bytes(replay + "1000");
  const double in_file = peak_bytes(replay + "4");
  // 40 blocks of 845 KB each are resident; with the file, at most segments of 64 loads for 32 warps each remain in
  // memory.
  EXPECT_GT(in_memory - in_file, 40 * (845e3 - 32 * 64 * 276) / 2);
  fs::remove_all(folder);
}

TEST(memory_bounds, blocks_run_from_a_file_as_from_memory) {
  for (const auto kind : {bench::trace_kind::tiled_product, bench::trace_kind::streaming, bench::trace_kind::divergent,
                          bench::trace_kind::transpose}) {
    const fs::path folder = fs::path(HEDDLE_SCRATCH "/bounds") / ("kind_" + std::to_string(static_cast<int>(kind)));
    fs::create_directories(folder);
    const std::string replay = "replay '" + bench::write_trace(kind, folder, 60) + "' --gpu rtx3070 --log-level error";
    EXPECT_EQ(metrics_of(replay), metrics_of(replay + " --trace-memory 0"));
    fs::remove_all(folder);
  }
}

}  // namespace bounds_test
