// SPDX-License-Identifier: MIT
// The surroundings of the execution units against published figures: sizes of instruction caches, the rate of
// barriers, and the number of warps that hides arithmetic latency.
#include <gtest/gtest.h>

#include <cstdio>
#include <string>
#include <vector>

#include "code_sequence.h"

namespace front_end_test {

using microbench::code_sequence;

// --- instruction caches

struct cache {
  const char* gpu;
  unsigned instruction_bytes;
  double first_kib, second_kib;
  const char* source;
  double from_l2 = 0;  // cycles by which constants take longer from the L2 than from the second level; 0: unpublished
};

constexpr cache caches[] = {
    {"g80", 8, 4, 8, "Wong et al. 2010, section IV-K"},
    {"gtx480", 8, 8, 32, "Jia et al. 2018, table 3.1 (K80 stands in)"},
    {"gtxtitan", 8, 8, 32, "Jia et al. 2018, table 3.1 (K80)", 128},
    {"gtx750ti", 8, 8, 32, "Jia et al. 2018, table 3.1 (M60)", 140},
    {"gtx980", 8, 8, 32, "Jia et al. 2018, table 3.1 (M60)", 140},
    {"p100", 8, 8, 128, "Jia et al. 2018, table 3.1", 140},
    {"gtx1080", 8, 8, 32, "Jia et al. 2018, table 3.1 (P4)", 138},
    {"titanxp", 8, 8, 32, "Jia et al. 2018, table 3.1 (P4)", 138},
    {"v100", 16, 12, 128, "Jia et al. 2018, table 3.1", 156},
    {"rtx2060", 16, 16, 46, "Jia et al. 2019 (T4)"},
    {"rtx2080ti", 16, 16, 46, "Jia et al. 2019 (T4)"},
    {"a100", 16, 32, 128, "Huerta et al. 2025, artifact (GA102 stands in)"},
    {"rtx3070", 16, 32, 128, "Huerta et al. 2025, artifact"},
    {"rtx3080", 16, 32, 128, "Huerta et al. 2025, artifact"},
    {"rtx4090", 16, 32, 128, "Huerta et al. 2025, artifact (GA102 stands in)"},
    {"h100", 16, 32, 128, "Huerta et al. 2025, artifact (GA102 stands in)"},
};

constexpr unsigned segment_bytes = 256;

// Code segments that each jump to the previous one: a sequential prefetcher does not help, and every segment outside
// the cache causes a stall.
code_sequence jumps(unsigned segments, unsigned instruction_bytes) {
  code_sequence p{
      ".reg .u32 %x<$>, %a;", "cvt.u32.u64 %a, %seed;", "add.u32 %x$, %a, 1;", {}, "xor.b32 %value, %value, %x$;"};
  for (unsigned at = 0; at < segments; ++at) {
    std::string text = "segment" + std::to_string(at) + ":";
    for (unsigned i = 1; i < segment_bytes / instruction_bytes; ++i) text += " add.u32 %x$, %x$, %a;";
    p.steps.push_back(text + " bra segment" +
                      std::to_string(at == 0   ? segments - 1
                                     : at == 1 ? segments
                                               : at - 1) +
                      ";");
  }
  p.steps.push_back("segment" + std::to_string(segments) + ":");
  return p;
}

class instruction_caches : public ::testing::TestWithParam<cache> {
 protected:
  // Cycles per segment, by the total size of all segments in KiB.
  std::vector<double> costs(const std::vector<double>& footprints) {
    std::string text;
    std::vector<microbench::launch> launches;
    std::vector<unsigned> segments;
    for (const double kib : footprints) {
      segments.push_back(static_cast<unsigned>(kib * 1024 / segment_bytes));
      launches.push_back({"jumps_" + std::to_string(launches.size()), 32});  // footprints may be equal
      text += microbench::kernel(launches.back().kernel, jumps(segments.back(), GetParam().instruction_bytes),
                                 segments.back() + 1, 1);
    }
    auto cycles = microbench::run("instruction_cache", GetParam().gpu, microbench::module(text), launches);
    for (std::size_t k = 0; k < cycles.size(); ++k) cycles[k] /= segments[k];
    return cycles;
  }

  // KiB of code other than the segments: the kernel's start and end, and the lines that the stream buffer prefetches
  // after the last segment.
  [[nodiscard]] double around() const { return GetParam().instruction_bytes == 16 ? 1.5 : 0.5; }

  // Measures footprints around a size and finds the largest one before the cost has risen by a tenth of the step.
  // Returns the step.
  double expect_knee(double size) {
    std::vector<double> footprints;
    for (const double share : {0.625, 0.75, 0.875, 0.9375, 0.96875, 1.0, 1.03125, 1.0625, 1.125, 1.25, 1.5})
      footprints.push_back(size * share);
    const auto cost = costs(footprints);
    if (cost.empty()) return 0;
    const double low = cost.front(), high = cost.back();
    EXPECT_GT(high, low + 10) << "no knee";
    double knee = 0;
    for (std::size_t k = 0; k < cost.size() && cost[k] < low + 0.1 * (high - low); ++k) knee = footprints[k];
    std::printf(
        "%-10s knee at %6.2f KiB and %.1f around them (published %g, %s): %.1f cycles a segment of %u bytes before, %.1f behind\n",
        GetParam().gpu, knee, around(), size, GetParam().source, low, segment_bytes, high);
    EXPECT_LE(knee, size);
    EXPECT_GE(knee + around(), size * 15 / 16);  // the resolution of the footprints
    return high - low;
  }
};

TEST_P(instruction_caches, first_level_has_its_size) { expect_knee(GetParam().first_kib); }

// Behind it is the L2, to which code has the same way as constants.
TEST_P(instruction_caches, second_level_has_its_size) {
  const double step = expect_knee(GetParam().second_kib);
  if (GetParam().from_l2 == 0) return;
  EXPECT_NEAR(step, GetParam().from_l2, 1) << "Jia et al. 2018, table 3.1";
}

INSTANTIATE_TEST_SUITE_P(all, instruction_caches, ::testing::ValuesIn(caches),
                         [](const auto& info) { return std::string(info.param.gpu); });

// --- barriers

struct barrier {
  const char* gpu;
  double threads_per_cycle;
  const char* source = "CUDA programming guide, __syncthreads()";
};

constexpr char recalled[] = "recalled of the CUDA programming guide, __syncthreads()";

constexpr barrier barriers[] = {
    {"g80", 8, recalled},
    {"gtx480", 16, recalled},
    {"gtxtitan", 128},
    {"gtx750ti", 64},
    {"gtx980", 64},
    {"p100", 32},
    {"gtx1080", 64},
    {"titanxp", 64},
    {"v100", 16},
    {"rtx2060", 16},
    {"rtx2080ti", 16},
    {"a100", 16, recalled},
    {"rtx3070", 16, recalled},
    {"rtx3080", 16, recalled},
    {"rtx4090", 16, recalled},
    {"h100", 16, recalled},
};

class barrier_rate : public ::testing::TestWithParam<barrier> {};

// Blocks of two sizes: the difference in threads passes a barrier at the published rate.
TEST_P(barrier_rate, is_the_published_one) {
  const code_sequence p{"", "", "", {"bar.sync 0;"}, ""};
  const std::string text =
      microbench::module(microbench::kernel("barriers_16", p, 16, 1) + microbench::kernel("barriers_48", p, 48, 1));
  const bool small = std::string(GetParam().gpu) == "g80";
  const unsigned many = small ? 512 : 1024, few = many / 2;
  const auto cycles = microbench::run("barrier", GetParam().gpu, text,
                                      {{"barriers_16", 32},
                                       {"barriers_48", 32},
                                       {"barriers_16", few},
                                       {"barriers_48", few},
                                       {"barriers_16", many},
                                       {"barriers_48", many}});
  if (cycles.empty()) return;
  const double one = (cycles[1] - cycles[0]) / 32, half = (cycles[3] - cycles[2]) / 32,
               whole = (cycles[5] - cycles[4]) / 32;
  const double rate = (many - few) / (whole - half);
  std::printf(
      "%-10s barrier of one warp %5.1f cycles, of %u threads %5.1f; threads a cycle and SM %6.2f (published %g, %s)\n",
      GetParam().gpu, one, many, whole, rate, GetParam().threads_per_cycle, GetParam().source);
  EXPECT_NEAR(rate, GetParam().threads_per_cycle, 0.02 * GetParam().threads_per_cycle);
}

INSTANTIATE_TEST_SUITE_P(all, barrier_rate, ::testing::ValuesIn(barriers),
                         [](const auto& info) { return std::string(info.param.gpu); });

// --- warps that hide the latency of arithmetic

struct hiding {
  const char* gpu;
  unsigned schedulers;  // of an SM
  unsigned warps;
  const char* source;
};

constexpr hiding hiding_cases[] = {
    {"g80", 1, 6, "CUDA programming guide: 192 threads hide 24 cycles"},
    {"gtx480", 2, 22, "CUDA programming guide: 22 cycles"},
    {"gtxtitan", 4, 44, "CUDA programming guide: 11 cycles, 4 schedulers"},
    {"gtx750ti", 4, 24, "CUDA programming guide: 6 cycles, 4 schedulers"},
    {"gtx980", 4, 24, "CUDA programming guide: 6 cycles, 4 schedulers"},
    {"gtx1080", 4, 24, "CUDA programming guide: 6 cycles, 4 schedulers"},
    {"titanxp", 4, 24, "CUDA programming guide: 6 cycles, 4 schedulers"},
    {"p100", 2, 12, "CUDA programming guide: 6 cycles, 2 schedulers"},
};

class latency_hiding : public ::testing::TestWithParam<hiding> {};

// Each warp is a single chain. The cycles stay constant with more warps until all issue cycles are used. Warps beyond
// the block size are in a second block.
TEST_P(latency_hiding, takes_the_published_warps) {
  const code_sequence p{".reg .f32 %x<$>, %m, %a; .reg .u32 %bits;",
                        "cvt.rn.f32.u64 %m, %seed; add.f32 %a, %m, %m;",
                        "add.f32 %x$, %m, 0f3F800000;",
                        {"fma.rn.f32 %x$, %x$, %m, %a;"},
                        "mov.b32 %bits, %x$; xor.b32 %value, %value, %bits;"};
  const std::string text =
      microbench::module(microbench::kernel("chain_short", p, 128, 1) + microbench::kernel("chain_long", p, 384, 1));
  const unsigned schedulers = GetParam().schedulers;
  const unsigned largest_block = std::string(GetParam().gpu) == "g80" ? 512 : 1024;
  const unsigned most = GetParam().warps / schedulers + 2;  // for each scheduler
  std::vector<microbench::launch> launches;
  for (unsigned w = 1; w <= most; ++w) {
    const unsigned threads = 32 * w * schedulers, blocks = threads > largest_block ? 2 : 1;
    launches.push_back({"chain_short", threads / blocks, blocks});
    launches.push_back({"chain_long", threads / blocks, blocks});
  }
  const auto cycles = microbench::run("hiding", GetParam().gpu, text, launches);
  if (cycles.empty()) return;
  unsigned enough = 0;
  const double alone = cycles[1] - cycles[0];
  for (unsigned w = 1; w <= most; ++w)
    if (cycles[2 * w - 1] - cycles[2 * w - 2] <= 1.01 * alone) enough = w;
  std::printf("%-10s %u warps fill the issue slots (published %u, %s)\n", GetParam().gpu, enough * schedulers,
              GetParam().warps, GetParam().source);
  EXPECT_EQ(enough * schedulers, GetParam().warps);
}

INSTANTIATE_TEST_SUITE_P(all, latency_hiding, ::testing::ValuesIn(hiding_cases),
                         [](const auto& info) { return std::string(info.param.gpu); });

}  // namespace front_end_test
