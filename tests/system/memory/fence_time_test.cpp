// SPDX-License-Identifier: MIT
// How long fences take on an H100, and that its code is there when a launch begins: tests/hardware/h100/orders.csv.
#include <gtest/gtest.h>

#include <string>

#include "tests/system/common/json_text.h"
#include "tests/system/common/ptx_run.h"

namespace fence_time_test {

using ptx_runs::module_of;
using ptx_runs::run;

/// Cycles of one of 16 instructions in a row.
double cycles_of(const std::string& instruction, const std::string& options = "", unsigned threads = 1) {
  std::string code = "mov.u32 %r3, %clock;\n";
  for (int k = 0; k < 16; ++k) code += instruction + "\n";
  // The sum of what the instructions may have computed is stored first, so that they are not dropped.
  code += "mov.u32 %r4, %clock;\nsub.u32 %r3, %r4, %r3;\nst.global.f32 [%o], %f1;\nst.global.u32 [%o], %r3;";
  std::string text = module_of("", code);
  text.replace(text.find("sm_80"), 5, "sm_90");
  const ptx_runs::outcome o = run(text, "h100", 1, threads, options);
  EXPECT_EQ(o.code, 0) << instruction << "\n" << o.err;
  return o.words.empty() ? 0 : o.words[0] / 16.0;
}

TEST(fence_time, of_a_release_is_the_way_to_the_l2_and_back_twice) {
  for (const char* fence : {"membar.gl;", "fence.acq_rel.gpu;", "fence.sc.gpu;", "fence.release.gpu;"})
    EXPECT_NEAR(cycles_of(fence) / 635.6, 1, 0.03) << fence;
  EXPECT_NEAR(cycles_of("st.release.gpu.global.u32 [%o], %r0;") / 633.8, 1, 0.03);
  // An access that is in flight at the fence is waited for meanwhile.
  EXPECT_NEAR(cycles_of("st.global.u32 [%o], %r0; fence.acq_rel.gpu;") / 640.8, 1, 0.03);
  EXPECT_LT(cycles_of("fence.acq_rel.gpu;", "--set ldst.fence_latency_cycles=0 --set ldst.fence_interval_cycles=0"),
            20);
}

// Fences of four warps come every 300 cycles, so that each warp has one in 1,200. Two warps wait for nothing.
TEST(fence_time, is_longer_behind_fences_of_the_same_sub_partition) {
  const auto cycles = [](unsigned warps, const char* fence = "fence.acq_rel.cluster;") {
    return cycles_of(fence, "--set ldst.fence_interval_cycles=300", warps * 32);
  };
  for (const unsigned warps : {1u, 4u, 8u}) EXPECT_NEAR(cycles(warps) / 635.6, 1, 0.03) << warps;
  EXPECT_NEAR(cycles(16) / (4 * 300), 1, 0.03);
  EXPECT_LT(cycles(16, "fence.acq_rel.cta;"), 40);
  EXPECT_LT(cycles(16, "fence.acquire.gpu;"), 40);
}

TEST(fence_time, is_short_within_a_block_to_acquire_and_between_proxies) {
  for (const char* fence : {"membar.cta;", "fence.acq_rel.cta;", "fence.acquire.gpu;",
                            "fence.mbarrier_init.release.cluster;", "fence.proxy.async.shared::cta;"})
    EXPECT_LT(cycles_of(fence), 20) << fence;
}

// Straight code of 16 KiB: 4.09 cycles an instruction on the chip, also when it runs for the first time.
TEST(launch_prefetch, brings_the_code_along) {
  const auto cycles = [](const std::string& options) {
    std::string many;
    for (int k = 0; k < 64; ++k) many += "fma.rn.f32 %f1, %f1, %f1, %f1;\n";
    return cycles_of(many, options) / 64;
  };
  EXPECT_NEAR(cycles("") / 4.09, 1, 0.05);
  EXPECT_GT(cycles("--set instruction_cache.launch_prefetch_bytes=0"), 6);
}

// The first level reads ahead behind a kernel's end, whose lines must not be asked of the L2.
TEST(launch_prefetch, holds_what_is_read_ahead_of_a_short_kernel) {
  const auto read_bytes = [](const std::string& options) {
    const ptx_runs::outcome o =
        run(module_of("", "st.global.u32 [%o], %r2;"), "h100", 132, 32, options + " --metrics m.json");
    EXPECT_EQ(o.code, 0) << o.err;
    const auto m = nlohmann::json::parse(ptx_runs::content(ptx_runs::place_of_test() / "m.json"));
    return m["kernels"][0]["memory"]["l2"]["read_bytes"].get<std::uint64_t>();
  };
  EXPECT_EQ(read_bytes(""), 0u);
  EXPECT_GE(read_bytes("--set instruction_cache.launch_prefetch_bytes=0"), 132u * 9 * 128)
      << "a line of code, eight behind it";
}

}  // namespace fence_time_test
