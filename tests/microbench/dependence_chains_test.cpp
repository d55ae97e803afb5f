// SPDX-License-Identifier: MIT
// Parallel chains of dependent instructions in one warp take the cycles per instruction that latency and unit allow,
// with both kinds of dependence tracking. Software-controlled dependence uses stall counts for fixed latencies and six
// counters for variable ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "code_sequence.h"

namespace dependence_chains_test {

using microbench::code_sequence;

const std::map<std::string, code_sequence> code_sequences = {
    {"FFMA",
     {".reg .f32 %x<$>, %m, %a; .reg .u32 %bits;",
      "cvt.rn.f32.u64 %m, %seed; add.f32 %a, %m, %m;",
      "add.f32 %x$, %m, 0f3F800000;",
      {"fma.rn.f32 %x$, %x$, %m, %a;"},
      "mov.b32 %bits, %x$; xor.b32 %value, %value, %bits;"}},
    // One register pair for all operands, so that no two compete for a register bank.
    {"DFMA",
     {".reg .f64 %x<$>; .reg .u32 %low, %high;",
      "",
      "cvt.rn.f64.u64 %x$, %seed; add.f64 %x$, %x$, %x$;",
      {"fma.rn.f64 %x$, %x$, %x$, %x$;"},
      "mov.b64 {%low, %high}, %x$; xor.b32 %value, %value, %high;"}},
    {"MUFU",
     {".reg .f32 %x<$>, %m; .reg .u32 %bits;",
      "cvt.rn.f32.u64 %m, %seed;",
      "add.f32 %x$, %m, 0f3F800000;",
      {"rcp.approx.ftz.f32 %x$, %x$;"},
      "mov.b32 %bits, %x$; xor.b32 %value, %value, %bits;"}},
    // Words that contain their own address; all lanes read the same one.
    {"LDS",
     {".reg .u32 %x<$>; .shared .align 64 .b8 words[64];",
      "",
      "mov.u32 %x$, words; add.u32 %x$, %x$, 4*$; st.shared.u32 [%x$], %x$;",
      {"ld.shared.u32 %x$, [%x$];"},
      "xor.b32 %value, %value, %x$;"}},
};

struct figure {
  const char* gpu;
  const char* name;
  double latency;  // cycles from issue to dependent issue
  double results;  // a cycle and SM
  unsigned units;  // units per SM that share the rate: one in each sub-partition, or a shared one
  const char* latency_source;
  const char* rate_source;
};

constexpr char jia[] = "Jia et al. 2018, table 4.1";
constexpr char jia_stands_in[] = "Jia et al. 2018, table 4.1 (V100 stands in)";
constexpr char our_h100[] = "own measurement, tests/hardware/your_chip/h100.csv";
constexpr char memories[] = "Jia et al. 2018, table 3.1";
constexpr char arafa[] = "PPT-GPU, from Arafa et al. 2019";
constexpr char huerta[] = "Huerta et al. 2025";
constexpr char turing[] = "Jia et al. 2019 (T4, DADD), Turing stands in";
constexpr char abdelkhalik[] = "Abdelkhalik et al. 2022";
constexpr char guide[] = "CUDA programming guide";
constexpr char load_store[] = "32 load/store units an SM (white papers)";

constexpr figure figures[] = {
    {"v100", "FFMA", 4, 64, 4, jia, guide},
    {"v100", "DFMA", 8, 32, 4, jia, guide},
    {"v100", "MUFU", 14, 16, 4, jia, guide},
    {"v100", "LDS", 19, 32, 4, memories, load_store},
    {"gtx1080", "FFMA", 6, 128, 4, jia, guide},
    {"gtx1080", "DFMA", 45, 4, 1, arafa, guide},
    {"gtx1080", "MUFU", 14, 32, 4, jia, guide},
    {"gtx1080", "LDS", 23, 32, 4, memories, load_store},
    {"rtx3070", "FFMA", 4, 128, 4, huerta, guide},
    {"rtx3070", "DFMA", 48, 2, 1, turing, guide},
    {"rtx3070", "MUFU", 18, 16, 4, abdelkhalik, guide},
    {"rtx3070", "LDS", 24, 32, 4, huerta, "Huerta et al. 2025, table 1: one in 4 cycles"},
    {"h100", "FFMA", 4, 128, 4, huerta, guide},
    {"h100", "DFMA", 8, 64, 4, jia_stands_in, guide},
    {"h100", "MUFU", 17, 16, 4, our_h100, guide},
    {"h100", "LDS", 24, 32, 4, huerta, load_store},
};

constexpr unsigned chain_counts[] = {1, 2, 3, 4, 6, 8};

// Cycles per instruction, by number of chains. Each sequence is measured in two lengths, so that constant overhead
// cancels out.
std::vector<double> measure(const figure& f, const std::string& dependence) {
  constexpr unsigned shorter = 96, longer = 240;  // multiples of all numbers of chains
  std::string text;
  std::vector<microbench::launch> launches;
  for (const unsigned chains : chain_counts)
    for (const unsigned length : {shorter, longer}) {
      const std::string kernel = "chains_" + std::to_string(chains) + "_" + std::to_string(length);
      text += microbench::kernel(kernel, code_sequences.at(f.name), length, chains);
      launches.push_back({kernel, 32});
    }
  const auto cycles = microbench::run(std::string(f.name) + "_" + dependence, f.gpu, microbench::module(text), launches,
                                      "--set sub_partition.dependence=" + dependence);
  std::vector<double> each;
  for (std::size_t k = 0; k + 1 < cycles.size(); k += 2)
    each.push_back((cycles[k + 1] - cycles[k]) / (longer - shorter));
  return each;
}

class dependence_chains : public ::testing::TestWithParam<figure> {};

TEST_P(dependence_chains, take_what_latency_and_unit_allow_under_both_ways_of_dependence) {
  const figure& f = GetParam();
  const auto software = measure(f, "software"), scoreboard = measure(f, "scoreboard");
  ASSERT_EQ(software.size(), std::size(chain_counts));
  ASSERT_EQ(scoreboard.size(), std::size(chain_counts));
  const double interval = std::max(1.0, 32 / (f.results / f.units));  // a scheduler issues at most one per cycle
  for (std::size_t k = 0; k < std::size(chain_counts); ++k) {
    const double published = std::max(f.latency / chain_counts[k], interval);
    std::printf("%-8s %-4s %u chains: %6.2f cycles an instruction, %6.2f with a scoreboard, published %6.2f (%s; %s)\n",
                f.gpu, f.name, chain_counts[k], software[k], scoreboard[k], published, f.latency_source, f.rate_source);
    EXPECT_NEAR(software[k], published, 0.01) << chain_counts[k] << " chains";
    EXPECT_NEAR(scoreboard[k], published, 0.01) << chain_counts[k] << " chains";
  }
}

INSTANTIATE_TEST_SUITE_P(all, dependence_chains, ::testing::ValuesIn(figures),
                         [](const auto& info) { return std::string(info.param.gpu) + "_" + info.param.name; });

}  // namespace dependence_chains_test
