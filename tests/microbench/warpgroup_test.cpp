// SPDX-License-Identifier: MIT
// Cycles between products of a warpgroup (wgmma) that follow each other, compared with published figures.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "code_sequence.h"

namespace warpgroup_test {

using microbench::code_sequence;

constexpr char luo[] = "Luo et al. 2025, arXiv:2501.12084 (H800)";
constexpr char white_paper[] = "H100 white paper: the unit's rate";

/// f32 sums, both factors in shared memory.
struct product {
  const char* type;
  unsigned n, k;
  bool sparse;
  double published;  // cycles
  const char* source;
};
constexpr product products[] = {{"f16", 64, 16, false, 32, luo},           {"f16", 256, 16, false, 128, luo},
                                {"f16", 256, 32, true, 144, luo},          {"bf16", 256, 16, false, 128, white_paper},
                                {"tf32", 256, 8, false, 128, white_paper}, {"e4m3", 256, 32, false, 128, white_paper}};

code_sequence chain_of(const product& p) {
  std::string sums;
  code_sequence chain{".reg .b64 %a, %b; .reg .u32 %bits; .reg .f32 ", "", "", {}, ""};
  for (unsigned k = 0; k < p.n / 2; ++k) {
    const std::string d = "%d" + std::to_string(k) + "_";
    sums += (k == 0 ? "{" : ", ") + d + "$";
    chain.declarations += d + "<$>" + (k + 1 < p.n / 2 ? ", " : "; ");
    chain.begin += "mov.f32 " + d + "$, 0f00000000; ";
    chain.end += "mov.b32 %bits, " + d + "$; xor.b32 %value, %value, %bits; ";
  }
  chain.declarations += ".shared .align 1024 .b8 tile[40960]; ";
  chain.before = "mov.u64 %a, 0x4000004000010000; mov.u64 %b, 0x4000004000010200; mov.u32 %bits, 0x44444444; ";
  const std::string type = p.type, shape = "m64n" + std::to_string(p.n) + "k" + std::to_string(p.k);
  const bool halves = type == "f16" || type == "bf16";
  chain.steps = {"wgmma.mma_async" + std::string(p.sparse ? ".sp" : "") + ".sync.aligned." + shape + ".f32." + type +
                 "." + type + " " + sums + "}, %a, %b, " + (p.sparse ? "%bits, 0, " : "") + "1, 1, 1" +
                 (halves ? ", 0, 0; " : "; ") + "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 6;"};
  chain.end = "wgmma.wait_group.sync.aligned 0; " + chain.end;
  return chain;
}

TEST(warpgroup, products_take_what_others_have_measured) {
  constexpr unsigned shorter = 32, longer = 128;
  std::string text;
  std::vector<microbench::launch> launches;
  for (const product& p : products)
    for (const unsigned operations : {shorter, longer}) {
      const std::string name = "product_" + std::to_string(launches.size());
      text += microbench::kernel(name, chain_of(p), operations, 1);
      launches.push_back({name, 128});
    }
  const auto cycles = microbench::run("warpgroup", "h100", microbench::module(text), launches);
  ASSERT_EQ(cycles.size(), launches.size());
  for (std::size_t k = 0; k < std::size(products); ++k) {
    const product& p = products[k];
    const double model = (cycles[2 * k + 1] - cycles[2 * k]) / (longer - shorter);
    std::printf("warpgroup h100 m64n%uk%u %s%s: %7.2f  published %6.1f  %+5.1f %%  %s\n", p.n, p.k, p.type,
                p.sparse ? " sparse" : "", model, p.published, 100 * (model / p.published - 1), p.source);
    EXPECT_LT(std::abs(model / p.published - 1), 0.03) << p.type << " n" << p.n;
  }
}

}  // namespace warpgroup_test
