// SPDX-License-Identifier: MIT
// Worked examples of achieved occupancy, and the effect of block sizes on barriers, through the command line.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "tests/system/common/json_text.h"

namespace occupancy_examples_test {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

// Each warp iterates for its own time between two barriers, eight times.
const char* const uneven_kernel = R"(.version 6.0
.target sm_60
.address_size 64
.visible .entry uneven(.param .u32 turns, .param .u32 spread)
{
  .reg .b32 %r<9>;
  .reg .pred %p<3>;
  ld.param.u32 %r1, [turns];
  ld.param.u32 %r2, [spread];
  mov.u32 %r3, %tid.x;
  mov.u32 %r4, %ctaid.x;
  mov.u32 %r8, %ntid.x;
  mad.lo.u32 %r3, %r4, %r8, %r3;
  shr.u32 %r3, %r3, 5;
  mov.u32 %r5, 8;
round:
  .pragma "nounroll";
  mad.lo.u32 %r6, %r3, 7, %r5;
  mul.lo.u32 %r6, %r6, 2654435761;
  shr.u32 %r6, %r6, 24;
  mul.lo.u32 %r6, %r6, %r2;
  add.u32 %r6, %r6, %r1;
turn:
  .pragma "nounroll";
  sub.u32 %r6, %r6, 1;
  setp.ne.u32 %p1, %r6, 0;
  @%p1 bra turn;
  bar.sync 0;
  sub.u32 %r5, %r5, 1;
  setp.ne.u32 %p2, %r5, 0;
  @%p2 bra round;
  ret;
}
)";

// A kernel that keeps `values` numbers in registers over a loop of 300 iterations.
std::string keeping_kernel(unsigned values) {
  std::string text =
      ".version 6.0\n.target sm_60\n.address_size 64\n.visible .entry keeping(.param .u64 out)\n{\n  .reg .b32 %v<" +
      std::to_string(values + 2) +
      ">;\n  .reg .b64 %a;\n  .reg .pred %p;\n  ld.param.u64 %a, [out];\n  mov.u32 %v0, %tid.x;\n";
  const auto v = [](unsigned n) { return "%v" + std::to_string(n); };
  for (unsigned n = 1; n <= values; ++n) text += "  add.u32 " + v(n) + ", " + v(n - 1) + ", " + v(n - 1) + ";\n";
  text += "  mov.u32 " + v(values + 1) + ", 300;\nturn:\n  .pragma \"nounroll\";\n  sub.u32 " + v(values + 1) + ", " +
          v(values + 1) + ", 1;\n  setp.ne.u32 %p, " + v(values + 1) + ", 0;\n  @%p bra turn;\n";
  for (unsigned n = 1; n <= values; ++n) text += "  xor.b32 %v0, %v0, " + v(n) + ";\n";
  return text + "  st.global.u32 [%a], %v0;\n  ret;\n}\n";
}

class occupancy_examples : public ::testing::Test {
 protected:
  occupancy_examples()
      : place_(fs::path(HEDDLE_SCRATCH "/occupancy_examples") /
               ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(place_);
    std::ofstream(place_ / "uneven.ptx") << uneven_kernel;
  }
  json run(unsigned grid, unsigned block, unsigned turns, unsigned spread, const std::string& options) {
    const fs::path metrics = place_ / "metrics.json";
    const std::string command = "'" HEDDLE_PROGRAM "' run --kernel '" + (place_ / "uneven.ptx").string() + "' --grid " +
                                std::to_string(grid) + " --block " + std::to_string(block) +
                                " --arg u32:" + std::to_string(turns) + " --arg u32:" + std::to_string(spread) +
                                " --quiet --metrics '" + metrics.string() + "' " + options;
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
    std::ifstream in(metrics);
    return json::parse(in)["kernels"][0];
  }
  /// The device of a lecture: 768 threads, 8 blocks, 8,000 registers and 16 KB of shared memory per SM, without
  /// allocation granularity.
  std::string lecture_device() {
    const std::string file = (place_ / "lecture.ini").string();
    const std::string command =
        "'" HEDDLE_PROGRAM
        "' config --gpu g80 --set gpu.sm_count=1 --set sm.max_threads=768 --set sm.max_blocks=8"
        " --set sm.registers=8000 --set sm.registers_per_block=8000 --set sm.register_allocation_unit=1"
        " --set sm.warp_allocation_granularity=1 --set shared_memory.allocation_unit_bytes=1 >'" +
        file + "'";
    EXPECT_EQ(0, std::system(command.c_str()));
    return "--gpu '" + file + "'";
  }
  /// The output of the occupancy calculator.
  json ask(const std::string& what) {
    const fs::path out = place_ / "answer.json";
    EXPECT_EQ(0, std::system(("'" HEDDLE_PROGRAM "' occupancy " + what + " --json >'" + out.string() + "'").c_str()))
        << what;
    std::ifstream in(out);
    return json::parse(in);
  }
  void expect(const json& answer, unsigned blocks, unsigned warps, double occupancy,
              const std::vector<std::string>& limiters) {
    EXPECT_EQ(blocks, answer["blocks_per_sm"].get<unsigned>());
    EXPECT_EQ(warps, answer["active_warps"].get<unsigned>());
    EXPECT_DOUBLE_EQ(occupancy, answer["theoretical_occupancy"].get<double>());
    EXPECT_EQ(limiters, answer["limiters"].get<std::vector<std::string>>());
  }
  /// The most warps resident on one SM of `gpu` for a kernel that keeps `values` numbers, with more blocks than fit.
  unsigned most_warps(unsigned values, unsigned registers, unsigned threads, unsigned shared, unsigned blocks,
                      const std::string& gpu) {
    std::ofstream(place_ / "keeping.ptx") << keeping_kernel(values);
    const fs::path metrics = place_ / "metrics.json";
    const std::string command = "'" HEDDLE_PROGRAM "' run --kernel '" + (place_ / "keeping.ptx").string() +
                                "' --grid " + std::to_string(3 * blocks) + " --block " + std::to_string(threads) +
                                " --shared-bytes " + std::to_string(shared) + " --arg buf:4 --quiet --metrics '" +
                                metrics.string() + "' --set gpu.sm_count=1 " + gpu;
    EXPECT_EQ(0, std::system(command.c_str())) << command;
    std::ifstream in(metrics);
    const json m = json::parse(in);
    EXPECT_EQ(registers, m["kernels"][0]["registers_per_thread"].get<unsigned>());
    EXPECT_EQ(blocks, m["kernels"][0]["blocks_per_sm"].get<unsigned>());
    double most = 0;
    for (const json& share : m["sms"][0]["occupancy_over_time"]) most = std::max(most, share.get<double>());
    return static_cast<unsigned>(most * m["gpu"]["config"]["sm.max_warps"].get<unsigned>() + 0.5);
  }
  const fs::path place_;
};

double achieved(const json& kernel) { return kernel["metrics"]["achieved_occupancy"]; }

TEST_F(occupancy_examples, registers_of_768_threads_and_8000_registers) {
  const std::string gpu = lecture_device();
  expect(ask(gpu + " --threads 256 --regs 10"), 3, 24, 1, {"warps", "registers"});
  expect(ask(gpu + " --threads 256 --regs 11"), 2, 16, 16.0 / 24, {"registers"});
  EXPECT_EQ(24u, most_warps(8, 10, 256, 0, 3, gpu));
  EXPECT_EQ(16u, most_warps(9, 11, 256, 0, 2, gpu));
}

TEST_F(occupancy_examples, shared_memory_of_16_kb_and_8_blocks) {
  const std::string gpu = lecture_device();
  expect(ask(gpu + " --threads 32 --regs 10 --smem 2048"), 8, 8, 8.0 / 24, {"blocks", "shared_memory"});
  expect(ask(gpu + " --threads 32 --regs 10 --smem 4096"), 4, 4, 4.0 / 24, {"shared_memory"});
  expect(ask(gpu + " --threads 32 --regs 10 --smem 5120"), 3, 3, 3.0 / 24, {"shared_memory"});
  EXPECT_EQ(8u, most_warps(8, 10, 32, 2048, 8, gpu));
  EXPECT_EQ(4u, most_warps(8, 10, 32, 4096, 4, gpu));
  EXPECT_EQ(3u, most_warps(8, 10, 32, 5120, 3, gpu));
}

TEST_F(occupancy_examples, compute_capability_5_0_of_128_threads_and_48_registers) {
  expect(ask("--gpu gtx750ti --threads 128 --regs 48 --smem 5000"), 10, 40, 0.625, {"registers"});
  expect(ask("--gpu gtx750ti --threads 128 --regs 48 --smem 10000"), 6, 24, 0.375, {"shared_memory"});
  EXPECT_EQ(40u, most_warps(45, 48, 128, 5000, 10, "--gpu gtx750ti"));
  EXPECT_EQ(24u, most_warps(45, 48, 128, 10000, 6, "--gpu gtx750ti"));
}

TEST_F(occupancy_examples, forty_five_blocks_on_15_sms_of_4_blocks_each_achieve_75_percent) {
  // Round-robin warps end together; the greedy policy lets some warps of a block end long before the others.
  const std::string gpu = "--gpu gtx1080 --set sub_partition.scheduler=lrr --set gpu.sm_count=15 --set sm.max_blocks=4";
  const json k = run(45, 512, 200, 0, gpu);
  EXPECT_EQ(1.0, k["theoretical_occupancy"].get<double>());
  EXPECT_NEAR(0.75, achieved(k), 0.01);
  EXPECT_NEAR(1.0, achieved(run(60, 512, 200, 0, gpu)), 0.015);
}

TEST_F(occupancy_examples, eight_blocks_of_256_threads_and_16_of_128_fill_64_warps) {
  for (const auto& [blocks, threads] : {std::pair{8u, 256u}, std::pair{16u, 128u}}) {
    const json k = run(blocks, threads, 400, 0, "--gpu gtx1080 --set sub_partition.scheduler=lrr --set gpu.sm_count=1");
    EXPECT_EQ(1.0, k["theoretical_occupancy"].get<double>());
    EXPECT_NEAR(1.0, achieved(k), 0.01) << blocks << " blocks of " << threads;
  }
}

TEST_F(occupancy_examples, barrier_stalls_fall_with_the_warps_of_a_block) {
  std::uint64_t before = ~std::uint64_t{0};
  for (const unsigned threads : {1024u, 512u, 256u, 128u, 64u}) {
    const json k = run(2048 / threads, threads, 20, 1, "--gpu gtx1080 --set gpu.sm_count=1");
    const auto sync = k["warp_cycles"]["sync"].get<std::uint64_t>();
    EXPECT_LT(sync, before) << "blocks of " << threads;
    before = sync;
  }
}

// The tables of docs/model/occupancy.md: warps that hide the latency of a chain, with round robin and greedy
// scheduling.
TEST_F(occupancy_examples, warps_hide_the_latency_of_arithmetic_as_the_page_says) {
  std::ifstream in(HEDDLE_SOURCE "/docs/model/occupancy.md");
  std::vector<std::string> warps;
  std::string gpu;
  unsigned compared = 0;
  for (std::string line; std::getline(in, line);) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, '|');)
      cells.push_back(cell.size() > 2 ? cell.substr(1, cell.size() - 2) : cell);
    if (cells.size() < 3) continue;
    if (cells[1].rfind("warps (`", 0) == 0) {
      gpu = cells[1].substr(8, cells[1].find('`', 8) - 8);
      warps = cells;
    }
    const std::string what = "IPC of the SM, `";
    if (cells[1].rfind(what, 0) != 0) continue;
    const std::string policy = cells[1].substr(what.size(), cells[1].size() - what.size() - 1);
    ASSERT_EQ(cells.size(), warps.size()) << line;
    for (std::size_t k = 2; k < cells.size(); ++k) {
      const unsigned count = static_cast<unsigned>(std::stoul(warps[k])), blocks = count > 32 ? 2 : 1;
      const fs::path metrics = place_ / "metrics.json";
      const std::string command =
          "'" HEDDLE_PROGRAM "' run --kernel '" HEDDLE_SOURCE "/testbench/occupancy/chain.ptx:chain' --grid " +
          std::to_string(blocks) + " --block " + std::to_string(32 * count / blocks) +
          " --arg buf:4096 --arg u32:100 --quiet --gpu " + gpu +
          " --set gpu.sm_count=1 --set sub_partition.scheduler=" + policy + " --metrics '" + metrics.string() + "'";
      ASSERT_EQ(0, std::system(command.c_str())) << command;
      std::ifstream file(metrics);
      EXPECT_NEAR(std::stod(cells[k]), json::parse(file)["kernels"][0]["metrics"]["ipc"].get<double>(), 0.00501)
          << command;
      ++compared;
    }
  }
  EXPECT_EQ(28u, compared);
}

}  // namespace occupancy_examples_test
