// SPDX-License-Identifier: MIT
// Worked examples of achieved occupancy, and what block sizes do to barriers, through the command line.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

namespace {

namespace fs = std::filesystem;
using json = nlohmann::ordered_json;

// Each warp turns for a time of its own between two barriers, eight times over.
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
  mad.lo.u32 %r6, %r3, 7, %r5;
  mul.lo.u32 %r6, %r6, 2654435761;
  shr.u32 %r6, %r6, 24;
  mul.lo.u32 %r6, %r6, %r2;
  add.u32 %r6, %r6, %r1;
turn:
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

class occupancy_examples : public ::testing::Test {
 protected:
  occupancy_examples() : place_(fs::path(HEDDLE_SCRATCH) / ::testing::UnitTest::GetInstance()->current_test_info()->name()) {
    fs::create_directories(place_);
    std::ofstream(place_ / "uneven.ptx") << uneven_kernel;
  }
  json run(unsigned grid, unsigned block, unsigned turns, unsigned spread, const std::string& options) {
    const fs::path metrics = place_ / "metrics.json";
    const std::string command = "'" HEDDLE_PROGRAM "' run --kernel '" + (place_ / "uneven.ptx").string() + "' --grid " +
                                std::to_string(grid) + " --block " + std::to_string(block) + " --arg u32:" + std::to_string(turns) +
                                " --arg u32:" + std::to_string(spread) + " --quiet --metrics '" + metrics.string() + "' " + options;
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << command;
    std::ifstream in(metrics);
    return json::parse(in)["kernels"][0];
  }
  const fs::path place_;
};

double achieved(const json& kernel) { return kernel["metrics"]["achieved_occupancy"]; }

TEST_F(occupancy_examples, forty_five_blocks_on_15_sms_of_4_blocks_each_achieve_75_percent) {
  // Warps that take turns end together; the greedy policy lets some of a block end long before the others.
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

}  // namespace
