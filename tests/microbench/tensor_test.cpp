// SPDX-License-Identifier: MIT
// Latency and throughput of matrix instructions, measured by chains of them and compared with published figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "code_sequence.h"
#include "explained_values.h"

namespace tensor_test {

using microbench::code_sequence;

constexpr char sun_a100[] = "Sun et al. 2022, table 3";
constexpr char sun_3070ti[] = "Sun et al. 2022, table 4 (RTX 3070 Ti)";
constexpr char sun_2080ti[] = "Sun et al. 2022, table 5 (RTX 2080 Ti)";
constexpr char luo[] = "Luo et al. 2024, table VII";
constexpr char luo_h800[] = "Luo et al. 2024, table VII (H800)";
constexpr char abdelkhalik[] = "Abdelkhalik et al. 2022, table III";
constexpr char raihan[] = "Raihan et al. 2019 (recalled)";
constexpr char nak[] = "figures that NVIDIA gave to Mesa's compiler";
constexpr char gv100[] = "white paper of GV100, after the Cornell Virtual Workshop";

// Reasons for differences of the model.
constexpr char shallow[] = "products of half the depth fall behind there: 4 cycles each, where the model takes 3";
constexpr char lost[] =
    "the chip loses a cycle or more each time that the warp has issued all its chains, the model none";
constexpr char sun_measured[] = "Sun et al. measured 24.7 to 25.0 of it on the same chip";

// A matrix product and the registers of its factors and sums.
struct product {
  unsigned m, n, k;
  const char *sum, *factor;
  unsigned a, b, d;
  const char* instruction = "mma.sync.aligned";
};

const std::map<std::string, product> products = {
    {"f16.f16.k8", {16, 8, 8, "f16", "f16", 2, 1, 2}},
    {"f16.f16.k16", {16, 8, 16, "f16", "f16", 4, 2, 2}},
    {"f32.f16.k8", {16, 8, 8, "f32", "f16", 2, 1, 4}},
    {"f32.f16.k16", {16, 8, 16, "f32", "f16", 4, 2, 4}},
    {"f32.bf16.k16", {16, 8, 16, "f32", "bf16", 4, 2, 4}},
    {"f32.tf32.k4", {16, 8, 4, "f32", "tf32", 2, 1, 4}},
    {"f32.tf32.k8", {16, 8, 8, "f32", "tf32", 4, 2, 4}},
    {"s32.s8.m8k16", {8, 8, 16, "s32", "s8", 1, 1, 2}},
    {"s32.s8.k16", {16, 8, 16, "s32", "s8", 2, 1, 4}},
    {"s32.s8.k32", {16, 8, 32, "s32", "s8", 4, 2, 4}},
    {"f64.f64.k4", {8, 8, 4, "f64", "f64", 1, 1, 2}},
    {"wmma.f16", {16, 16, 16, "f16", "f16", 8, 8, 4, "wmma.mma.sync.aligned"}},
    {"wmma.f32", {16, 16, 16, "f32", "f16", 8, 8, 8, "wmma.mma.sync.aligned"}},
};

struct latency {
  const char* gpus;
  const char* name;
  double published;  // cycles to the next product that adds to the sums; for wmma to its last instruction
  const char* source;
  const char* explained = "";  // if empty, the model must agree
};

struct throughput {
  const char* gpus;
  const char* name;
  unsigned warps, chains;  // warps of the SM; chains of each warp
  double published;        // multiply-adds a cycle and SM
  const char* source;
  const char* explained = "";
};

constexpr char ptxas[] = "cycles that ptxas 13.0 leaves";
constexpr char quarter[] = "a quarter of the rate of tcgen05 (FlashGPU-Sim: 8192 FLOP a cycle and SM)";
constexpr char flashgpu[] = "FlashGPU-Sim's configuration of an RTX 5090";

constexpr char ga10x[] = "rtx3070 rtx3080";
constexpr char turings[] = "rtx2060 rtx2080ti";

constexpr latency latencies[] = {
    {"v100", "wmma.f32", 54, raihan},          {"v100", "wmma.f16", 64, raihan},
    {turings, "f32.f16.k8", 17.3, sun_2080ti}, {turings, "f16.f16.k8", 14.7, sun_2080ti},
    {turings, "s32.s8.m8k16", 11, sun_2080ti}, {"a100", "f32.f16.k16", 24.7, sun_a100},
    {"a100", "f32.f16.k8", 17.7, sun_a100},    {"a100", "f16.f16.k16", 24.4, sun_a100},
    {"a100", "f16.f16.k8", 17.7, sun_a100},    {"a100", "f32.tf32.k8", 25, sun_a100},
    {"a100", "f32.tf32.k4", 18.1, sun_a100},   {"a100", "s32.s8.m8k16", 15.9, sun_a100},
    {"a100", "s32.s8.k32", 24.7, sun_a100},    {"a100", "s32.s8.k16", 17.6, sun_a100},
    {"a100", "f16.f16.k8", 17.7, luo},         {"a100", "f16.f16.k16", 24.6, luo},
    {"a100", "f32.f16.k8", 17.5, luo},         {"a100", "f32.f16.k16", 26.0, luo, sun_measured},
    {"a100", "f32.tf32.k4", 17.8, luo},        {"a100", "f32.tf32.k8", 26.3, luo, sun_measured},
    {"a100", "s32.s8.k16", 17.6, luo},         {"a100", "s32.s8.k32", 26.0, luo, sun_measured},
    {"a100", "f64.f64.k4", 26, nak},           {ga10x, "f32.f16.k16", 33, sun_3070ti},
    {ga10x, "f32.f16.k8", 18.8, sun_3070ti},   {ga10x, "f16.f16.k16", 24, sun_3070ti},
    {ga10x, "f16.f16.k8", 17.7, sun_3070ti},   {ga10x, "f32.tf32.k8", 33.3, sun_3070ti},
    {ga10x, "f32.tf32.k4", 19.1, sun_3070ti},  {ga10x, "s32.s8.m8k16", 15.9, sun_3070ti},
    {ga10x, "s32.s8.k32", 24.3, sun_3070ti},   {ga10x, "s32.s8.k16", 17.7, sun_3070ti},
    {"rtx4090", "f16.f16.k8", 17.7, luo},      {"rtx4090", "f16.f16.k16", 24.6, luo},
    {"rtx4090", "f32.f16.k8", 18.8, luo},      {"rtx4090", "f32.f16.k16", 33.0, luo},
    {"rtx4090", "f32.tf32.k4", 19.2, luo},     {"rtx4090", "f32.tf32.k8", 33.4, luo},
    {"rtx4090", "s32.s8.k16", 17.3, luo},      {"rtx4090", "s32.s8.k32", 24.5, luo},
    {"h100", "f16.f16.k8", 16.0, luo_h800},    {"h100", "f16.f16.k16", 24.1, luo_h800},
    {"h100", "f32.f16.k8", 16.0, luo_h800},    {"h100", "f32.f16.k16", 24.1, luo_h800},
    {"h100", "f32.tf32.k4", 16.5, luo_h800},   {"h100", "f32.tf32.k8", 24.5, luo_h800},
    {"h100", "s32.s8.k16", 16.1, luo_h800},    {"h100", "s32.s8.k32", 24.0, luo_h800},
    {"b200", "f16.f16.k8", 20, ptxas},         {"b200", "f16.f16.k16", 20, ptxas},
    {"b200", "f32.f16.k8", 20, ptxas},         {"b200", "f32.f16.k16", 20, ptxas},
    {"b200", "f32.tf32.k4", 20, ptxas},        {"b200", "f32.tf32.k8", 20, ptxas},
    {"b200", "s32.s8.m8k16", 22, ptxas},       {"b200", "s32.s8.k32", 20, ptxas},
    {"rtx5090", "f16.f16.k8", 29, ptxas},      {"rtx5090", "f16.f16.k16", 29, ptxas},
    {"rtx5090", "f32.f16.k16", 34, flashgpu},  {"rtx5090", "s32.s8.m8k16", 34, ptxas},
};

// Luo et al. print TFLOPS and the peak; the unit's rate (multiply-adds per cycle and SM) corresponds to the peak. They
// do not give the number of warps. The RTX 4090 exceeded its peak at an unknown clock. Abdelkhalik et al. print the
// cycles of an instruction among others of its kind.
constexpr double of_peak(double tflops, double peak, double rate) { return tflops / peak * rate; }

constexpr throughput throughputs[] = {
    {"v100", "wmma.f32", 16, 2, 512, gv100},
    {"v100", "wmma.f16", 16, 2, 512, gv100},
    {turings, "f32.f16.k8", 4, 2, 252.4, sun_2080ti},
    {turings, "f32.f16.k8", 8, 1, 255.1, sun_2080ti},
    {turings, "f16.f16.k8", 4, 2, 467.9, sun_2080ti, lost},
    {turings, "f16.f16.k8", 8, 1, 509.4, sun_2080ti},
    {turings, "s32.s8.m8k16", 4, 3, 846.1, sun_2080ti, lost},
    {turings, "s32.s8.m8k16", 8, 2, 1012.6, sun_2080ti},
    {"a100", "f32.f16.k16", 4, 3, 897.6, sun_a100, lost},
    {"a100", "f32.f16.k16", 8, 2, 1004.2, sun_a100},
    {"a100", "f32.f16.k8", 4, 4, 800.2, sun_a100, lost},
    {"a100", "f32.f16.k8", 8, 3, 974.1, sun_a100, lost},
    {"a100", "f16.f16.k16", 4, 3, 907.1, sun_a100, lost},
    {"a100", "f16.f16.k16", 8, 2, 996.6, sun_a100},
    {"a100", "f16.f16.k8", 4, 4, 860.9, sun_a100, lost},
    {"a100", "f16.f16.k8", 8, 3, 1002.6, sun_a100},
    {"a100", "f32.tf32.k8", 4, 3, 435.9, sun_a100, lost},
    {"a100", "f32.tf32.k8", 8, 2, 492.4, sun_a100},
    {"a100", "f32.tf32.k4", 4, 4, 392.6, sun_a100, lost},
    {"a100", "f32.tf32.k4", 8, 3, 477.5, sun_a100, lost},
    {"a100", "s32.s8.m8k16", 4, 4, 813.2, sun_a100, lost},
    {"a100", "s32.s8.m8k16", 8, 2, 998.3, sun_a100},
    {"a100", "s32.s8.k32", 4, 3, 1812.4, sun_a100, lost},
    {"a100", "s32.s8.k32", 8, 2, 1986.5, sun_a100},
    {"a100", "s32.s8.k16", 4, 4, 1570.1, sun_a100, lost},
    {"a100", "s32.s8.k16", 8, 3, 1965.1, sun_a100},
    {ga10x, "f32.f16.k16", 4, 1, 248.2, sun_3070ti},
    {ga10x, "f32.f16.k16", 8, 1, 252.7, sun_3070ti},
    {ga10x, "f32.f16.k8", 4, 2, 253.9, sun_3070ti},
    {ga10x, "f32.f16.k8", 8, 1, 253.2, sun_3070ti},
    {ga10x, "f16.f16.k16", 4, 2, 509.4, sun_3070ti},
    {ga10x, "f16.f16.k16", 8, 1, 506.9, sun_3070ti},
    {ga10x, "f16.f16.k8", 4, 3, 511.8, sun_3070ti},
    {ga10x, "f16.f16.k8", 8, 2, 507.8, sun_3070ti},
    {ga10x, "f32.tf32.k8", 4, 1, 122.6, sun_3070ti},
    {ga10x, "f32.tf32.k8", 8, 1, 126.8, sun_3070ti},
    {ga10x, "f32.tf32.k4", 4, 2, 125.3, sun_3070ti},
    {ga10x, "f32.tf32.k4", 8, 1, 125.7, sun_3070ti},
    {ga10x, "s32.s8.m8k16", 4, 4, 848.9, sun_3070ti, lost},
    {ga10x, "s32.s8.m8k16", 8, 2, 1008.5, sun_3070ti},
    {ga10x, "s32.s8.k32", 4, 2, 1017.2, sun_3070ti},
    {ga10x, "s32.s8.k32", 8, 1, 1023.2, sun_3070ti},
    {ga10x, "s32.s8.k16", 4, 3, 1018.2, sun_3070ti},
    {ga10x, "s32.s8.k16", 8, 2, 1005.4, sun_3070ti},
    {"a100", "f16.f16.k8", 16, 2, of_peak(310.0, 312, 1024), luo},
    {"a100", "f16.f16.k16", 16, 2, of_peak(310.6, 312, 1024), luo},
    {"a100", "f32.f16.k8", 16, 2, of_peak(299.6, 312, 1024), luo},
    {"a100", "f32.f16.k16", 16, 2, of_peak(303.4, 312, 1024), luo},
    {"a100", "f32.tf32.k4", 16, 2, of_peak(149.5, 156, 512), luo},
    {"a100", "f32.tf32.k8", 16, 2, of_peak(151.5, 156, 512), luo},
    {"a100", "s32.s8.k16", 16, 2, of_peak(594.8, 624, 2048), luo},
    {"a100", "s32.s8.k32", 16, 2, of_peak(607.6, 624, 2048), luo},
    {"a100", "f16.f16.k16", 32, 1, 1024, abdelkhalik},
    {"a100", "f32.f16.k16", 32, 1, 1024, abdelkhalik},
    {"a100", "f32.bf16.k16", 32, 1, 1024, abdelkhalik},
    {"a100", "f32.tf32.k4", 32, 1, 512, abdelkhalik},
    {"a100", "f64.f64.k4", 32, 1, 64, abdelkhalik},
    {"a100", "s32.s8.k16", 32, 1, 2048, abdelkhalik},
    {"h100", "f16.f16.k8", 16, 2, of_peak(368.6, 756.5, 2048), luo_h800, shallow},
    {"h100", "f16.f16.k16", 16, 2, of_peak(494.4, 756.5, 2048), luo_h800},
    {"h100", "f32.f16.k8", 16, 2, of_peak(363.7, 756.5, 2048), luo_h800, shallow},
    {"h100", "f32.f16.k16", 16, 2, of_peak(490.7, 756.5, 2048), luo_h800},
    {"h100", "f32.tf32.k4", 16, 2, of_peak(180.6, 378, 1024), luo_h800, shallow},
    {"h100", "f32.tf32.k8", 16, 2, of_peak(246.4, 378, 1024), luo_h800},
    {"h100", "s32.s8.k16", 16, 2, of_peak(730.3, 1513, 4096), luo_h800, shallow},
    {"h100", "s32.s8.k32", 16, 2, of_peak(977.9, 1513, 4096), luo_h800},
    {"b200", "f32.f16.k16", 8, 2, 1024, quarter},
    {"b200", "s32.s8.k32", 8, 2, 2048, ptxas},
    {"rtx5090", "f32.f16.k16", 8, 2, 256, flashgpu},
    {"rtx5090", "f16.f16.k16", 8, 2, 512, ptxas},
};

// Published latencies are averages over loops with decimals; the model's latency is a whole number.
constexpr double latency_tolerance = 1;
constexpr double throughput_tolerance = 0.05;

// "{%x0, %x1}"; '$' in the name is the chain's number.
std::string list(const std::string& name, unsigned registers) {
  std::string text;
  for (unsigned k = 0; k < registers; ++k)
    text += (k == 0 ? "{%" : ", %") + name + static_cast<char>('a' + k) + (name == "d" ? "$" : "");
  return text + "}";
}

bool is_wmma(const product& p) { return std::string(p.instruction) != "mma.sync.aligned"; }

std::string step_of(const product& p) {
  const std::string shape = "m" + std::to_string(p.m) + "n" + std::to_string(p.n) + "k" + std::to_string(p.k),
                    sum = p.sum, factor = p.factor;
  const std::string types = is_wmma(p) ? ".row.col." + shape + "." + sum + "." + sum
                                       : "." + shape + ".row.col." + sum + "." + factor + "." + factor + "." + sum;
  return std::string(p.instruction) + types + " " + list("d", p.d) + ", " + list("a", p.a) + ", " + list("b", p.b) +
         ", " + list("d", p.d) + ";";
}

// Factors are arbitrary and sums begin at zero; other tests check the numerical results.
code_sequence chain_of(const product& p) {
  const std::string sum = p.sum, factor = p.factor;
  const std::string factor_type = factor == "f64" ? "f64" : "b32", sum_type = sum == "f16" ? "b32" : sum;
  code_sequence chain{".reg .u32 %bits; .reg .f32 %narrow; .reg ." + factor_type + " ", "", "", {step_of(p)}, ""};
  for (unsigned k = 0; k < p.a; ++k) chain.declarations += std::string("%a") + static_cast<char>('a' + k) + ", ";
  for (unsigned k = 0; k < p.b; ++k)
    chain.declarations += std::string("%b") + static_cast<char>('a' + k) + (k + 1 < p.b ? ", " : "; ");
  // All factors differ, so each has its own register, and each is written once, as in compiled code.
  chain.declarations += ".reg ." + std::string(factor == "f64" ? "f64" : "u32") + " %base; ";
  chain.before += factor == "f64" ? "cvt.rn.f64.u64 %base, %seed; " : "cvt.u32.u64 %base, %seed; ";
  for (unsigned k = 0; k < p.a + p.b; ++k) {
    const std::string name = std::string(k < p.a ? "%a" : "%b") + static_cast<char>('a' + (k < p.a ? k : k - p.a));
    chain.before += factor == "f64" ? "add.f64 " + name + ", %base, " + (k < p.a ? "%base; " : "0d3FF0000000000000; ")
                                    : "add.u32 " + name + ", %base, " + std::to_string(k + 1) + "; ";
  }
  const std::string start = sum == "f64" ? "0d0000000000000000" : sum == "f32" ? "0f00000000" : "0";
  for (unsigned k = 0; k < p.d; ++k) {
    const std::string d = std::string("%d") + static_cast<char>('a' + k);
    chain.declarations += ".reg ." + sum_type + " " + d + "<$>; ";
    chain.begin += "mov." + sum_type + " " + d + "$, " + start + "; ";
    chain.end +=
        sum == "f64" ? "cvt.rn.f32.f64 %narrow, " + d + "$; mov.b32 %bits, %narrow; " : "mov.b32 %bits, " + d + "$; ";
    chain.end += "xor.b32 %value, %value, %bits; ";
  }
  return chain;
}

// A whole wmma, which is several machine instructions, up to the use of its last results; or that use alone. A
// preceding wmma has gathered its factors in registers.
code_sequence single(const product& p, bool alone) {
  code_sequence one = chain_of(p);
  one.declarations += ".reg .u32 %y; .reg .f32 %f; ";
  one.before += "add.u32 %y, %thread, 1; mov.f32 %f, 0f3F800000; ";
  const auto sum = [](unsigned k) {
    return std::string("%d") + static_cast<char>('a' + k) + "$";
  };  // the last ones in both halves of the columns
  const std::string both = sum(p.d / 2 - 1) + ", " + sum(p.d - 1);
  const std::string use =
      std::string(p.sum) == "f32" ? "fma.rn.f32 %f, " + both + ", %f; " : "lop3.b32 %y, %y, " + both + ", 0x96; ";
  one.steps = {step_of(p) + " " + use + "bar.sync 0; mov.u32 %start, %clock; xor.b32 %y, %y, %start; bar.sync 0; " +
               (alone ? "" : step_of(p) + " ") + use};
  one.end += "xor.b32 %value, %value, %y; mov.b32 %y, %f; xor.b32 %value, %value, %y; ";
  return one;
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

bool is_of(const std::string& gpu, const char* gpus) {
  const auto all = words_of(gpus);
  return std::find(all.begin(), all.end(), gpu) != all.end();
}

std::string row(const std::string& gpu, const latency& l) { return "tensor " + gpu + " " + l.name + ": latency"; }
std::string row(const std::string& gpu, const throughput& t) {
  return "tensor " + gpu + " " + t.name + ": throughput of " + std::to_string(t.warps) + " warps with " +
         std::to_string(t.chains) + " chains each";
}

class tensor : public ::testing::TestWithParam<const char*> {
 protected:
  template <class figure>
  static void compare(const figure& f, double model, double tolerance) {
    std::printf("%-86s %7.2f  published %7.1f  %+6.1f %%  %s%s%s\n", row(GetParam(), f).c_str(), model, f.published,
                100 * (model / f.published - 1), f.source, *f.explained != 0 ? ": " : "", f.explained);
    if (*f.explained == 0) {
      EXPECT_LT(std::abs(model - f.published), tolerance) << row(GetParam(), f) << " (" << f.source << ")";
    } else {
      EXPECT_GE(std::abs(model - f.published), tolerance) << row(GetParam(), f) << ": nothing is left to explain";
      if (f.explained == lost) {
        EXPECT_GT(model, f.published) << "what the chip alone loses makes nothing slower here";
      }
      microbench::expect_written(row(GetParam(), f), model);
    }
  }
};

// Each product is measured in two lengths, whose difference counts. All kernels of a GPU run in sequence.
TEST_P(tensor, products_take_what_others_have_measured) {
  constexpr unsigned shorter = 48, longer = 144;  // of one, two, three and four chains
  const std::string gpu = GetParam();
  std::string text;
  std::vector<microbench::launch> launches;
  std::map<std::string, std::size_t> place;
  const auto add = [&](const std::string& key, const code_sequence& first, const code_sequence& second,
                       unsigned operations, unsigned more, unsigned chains, unsigned warps) {
    if (!place.emplace(key, launches.size()).second) return;
    const std::string name = "product_" + std::to_string(launches.size());
    text += microbench::kernel(name + "_short", first, operations, chains) +
            microbench::kernel(name + "_long", second, more, chains);
    launches.push_back({name + "_short", 32 * warps});
    launches.push_back({name + "_long", 32 * warps});
  };
  for (const latency& l : latencies) {
    if (!is_of(gpu, l.gpus)) continue;
    const product& p = products.at(l.name);
    if (is_wmma(p)) add(row(gpu, l), single(p, true), single(p, false), 1, 1, 1, 1);
    else add(row(gpu, l), chain_of(p), chain_of(p), shorter, longer, 1, 1);
  }
  for (const throughput& t : throughputs)
    if (is_of(gpu, t.gpus))
      add(row(gpu, t), chain_of(products.at(t.name)), chain_of(products.at(t.name)), shorter, longer, t.chains,
          t.warps);
  const auto cycles =
      microbench::run("tensor", gpu, microbench::module(text), launches, "--set sub_partition.scheduler=lrr");
  if (cycles.empty()) return;
  const auto difference = [&](const std::string& key) { return cycles[place[key] + 1] - cycles[place[key]]; };
  for (const latency& l : latencies)
    if (is_of(gpu, l.gpus))
      compare(l, difference(row(gpu, l)) / (is_wmma(products.at(l.name)) ? 1 : longer - shorter), latency_tolerance);
  for (const throughput& t : throughputs) {
    if (!is_of(gpu, t.gpus)) continue;
    const product& p = products.at(t.name);
    compare(t, double(t.warps) * (longer - shorter) * p.m * p.n * p.k / difference(row(gpu, t)),
            throughput_tolerance * t.published);
  }
}

TEST(explained_products, are_those_written_down) {
  std::set<std::string> rows;
  const auto add = [&](const auto& figures) {
    for (const auto& f : figures)
      for (const std::string& gpu : words_of(f.gpus))
        if (*f.explained != 0) rows.insert(row(gpu, f));
  };
  add(latencies);
  add(throughputs);
  EXPECT_EQ(microbench::written_rows("tensor"), rows);
}

INSTANTIATE_TEST_SUITE_P(all, tensor,
                         ::testing::Values("v100", "rtx2060", "rtx2080ti", "a100", "rtx3070", "rtx3080", "rtx4090",
                                           "h100", "b200", "rtx5090"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace tensor_test
