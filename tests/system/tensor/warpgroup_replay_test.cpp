// SPDX-License-Identifier: MIT
// Products of a warpgroup in traces: HGMMA, and the wait for its group.
#include "tests/system/run/replay_fixture.h"

namespace warpgroup_replay_test {

using namespace replay_fixture;

class replay_of_products : public replay {
 protected:
  /// Cycles of a block of four warps with `groups` groups of four products, of which one may be incomplete.
  double cycles(const char* gpu, const char* product, unsigned groups) {
    warp_lines w;
    for (unsigned g = 0; g < groups; ++g) {
      w.at(0).alu("WARPGROUP.ARRIVE", -1, {});
      for (unsigned k = 0; k < 4; ++k) w.alu(product, 24, {24});
    }
    w.alu("WARPGROUP.DEPBAR.LE", -1, {}).exit();
    kernel k;
    k.threads = 128;
    k.binary = 90;
    k.block({w, w, w, w});
    const outcome o = run_kernel(k, gpu);
    EXPECT_EQ(o.code, 0) << o.err;
    return metrics()["kernels"][0]["cycles"].get<double>();
  }
  double of_a_product(const char* gpu, const char* product) {
    return (cycles(gpu, product, 16) - cycles(gpu, product, 8)) / 32;
  }
};

TEST_F(replay_of_products, takes_what_a_program_takes) {
  EXPECT_NEAR(of_a_product("h100", "HGMMA.64x256x16.F32.BF16"), 128, 0.5);
  EXPECT_NEAR(of_a_product("h100", "HGMMA.64x64x16.F32"), 32, 0.5);
  EXPECT_NEAR(of_a_product("h100", "QGMMA.64x128x32.F32.E4M3.E4M3"), 64, 0.5);
}

TEST_F(replay_of_products, waits_until_the_last_one_is_complete) {
  EXPECT_GT(cycles("h100", "HGMMA.64x256x16.F32", 1), 4 * 128 + 64.0);
}

TEST_F(replay_of_products, uses_the_units_of_a_gpu_without_them) {
  EXPECT_GT(of_a_product("a100", "HGMMA.64x64x16.F32"), 32) << "at the rate of mma";
}

}  // namespace warpgroup_replay_test
