// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "heddle/metrics/collect.h"
#include "testbench/job/job.h"
#include "testbench/run/progress.h"

namespace heddle::testbench {
namespace progress_test {

TEST(progress_test, the_line_fits_and_tells_the_time_left) {
  run_progress p;
  p.blocks_done = 10;
  p.blocks_launched = 40;
  p.warp_instructions = 3000000;
  p.grids.push_back({0, 40, 20, 10, 1000, 10000000, 3000000, false});
  progress_estimate estimate({{{"k", 1, 40, 8, 0}}, false});
  estimate.update(1001000, p, {0}, 20);  // the running ones have just begun
  EXPECT_EQ(progress_text(1234567, p, estimate, 2),
            "cycle 1,234,567, blocks 10/40, 1.5 M warp instructions/s, 1:00 min left");
}

TEST(progress_test, a_line_for_programs_is_json) {
  run_progress p;
  p.blocks_done = 10;
  p.blocks_launched = 40;
  p.warp_instructions = 3000000;
  p.grids.push_back({0, 40, 20, 10, 1000, 10000000, 3000000, false});
  progress_estimate estimate({{{"k", 1, 40, 8, 0}}, false});
  EXPECT_EQ(
      progress_json(1234567, p, estimate),
      R"({"progress": {"cycle": 1234567, "blocks_done": 10, "blocks": 40, "warp_instructions": 3000000, "seconds_left": null}})");
  estimate.update(1001000, p, {0}, 20);
  EXPECT_NE(progress_json(1234567, p, estimate).find("\"seconds_left\": 60}"), std::string::npos);
}

// Running blocks count by their age; later launches of a kernel count by what it took before.
TEST(progress_test, computed_kernels_are_estimated_by_blocks_that_have_ended) {
  progress_estimate estimate({{{"a", 2, 40, 8, 0}, {"b", 1, 10, 1, 0}}, false});
  run_progress p;
  p.grids.push_back({0, 40, 10, 0, 0, 0, 4000, false});
  p.warp_instructions = 4000;
  estimate.update(500, p, {0}, 1);
  EXPECT_LT(estimate.seconds_left(), 0) << "the length of a block is unknown";
  EXPECT_TRUE(estimate.more());
  EXPECT_EQ(estimate.blocks(), 90u);
  // Ten have ended after 1,000 cycles each, ten are 500 cycles old: 12,000 instructions of 15 blocks in 3 s.
  p.grids[0] = {0, 40, 20, 10, 0, 10000, 12000, false};
  p.warp_instructions = 12000;
  estimate.update(1500, p, {0}, 3);
  EXPECT_DOUBLE_EQ(estimate.seconds_left(), (25 + 40) * 800 / 4000.0) << "this launch and the same once more";
  EXPECT_TRUE(estimate.more()) << "of kernel b nothing is known";
  p.grids[0] = {0, 40, 40, 40, 0, 40000, 32000, true};
  p.grids.push_back({1, 10, 10, 10, 4000, 10000, 1000, true});
  p.grids.push_back({2, 40, 20, 10, 5000, 10000, 12000, false});
  p.warp_instructions = 45000;
  estimate.update(6500, p, {0, 1, 0}, 9);
  EXPECT_FALSE(estimate.more());
  EXPECT_NEAR(estimate.seconds_left(), 25 * 800 / 5000.0, 0.1);
}

// The length of a trace is known from the start; with data-dependent rounds the end is unknown.
TEST(progress_test, recorded_kernels_are_estimated_by_instructions) {
  progress_estimate estimate({{{"r", 3, 4, 0, 10000}}, false});
  run_progress p;
  p.grids.push_back({0, 4, 4, 0, 0, 0, 6000, false});
  p.warp_instructions = 6000;
  estimate.update(900, p, {0}, 2);
  EXPECT_DOUBLE_EQ(estimate.seconds_left(), 24000 / 3000.0);
  EXPECT_FALSE(estimate.more());
  EXPECT_EQ(progress_text(900, p, estimate, 2), "cycle 900, blocks 0/12, 0.003 M warp instructions/s, 8 s left");
  job j;
  operation round;
  round.what = operation::kind::repeat;
  round.max = 5;
  operation launch;
  launch.grid[0] = 6;
  launch.block[0] = 33;
  round.body = {launch};
  j.operations = {round};
  EXPECT_EQ(plan_of(j).launches.at(0).times, 5u);
  EXPECT_EQ(plan_of(j).launches.at(0).warps_per_block, 2u);
  EXPECT_FALSE(plan_of(j).open);
  j.operations[0].while_nonzero = "flag";
  EXPECT_EQ(plan_of(j).launches.at(0).times, 1u);
  EXPECT_TRUE(plan_of(j).open);
}

}  // namespace progress_test
}  // namespace heddle::testbench
