// SPDX-License-Identifier: MIT
// Latency and throughput of each instruction class on each GPU, measured by kernels and compared with published
// figures.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "code_sequence.h"
#include "explained_values.h"

namespace opcode_test {

using microbench::code_sequence;

const std::string f32_fold = "mov.b32 %bits, %x$; xor.b32 %value, %value, %bits;";
const std::string u32_fold = "xor.b32 %value, %value, %x$;";

// The chain of each class. Operands are computed, because a parameter would be read from constant memory each time.
// clang-format off
const std::map<std::string, code_sequence> code_sequences = {
    {"ffma", {".reg .f32 %x<$>, %m, %a; .reg .u32 %bits;", "cvt.rn.f32.u64 %m, %seed; add.f32 %a, %m, %m;",
              "add.f32 %x$, %m, 0f3F800000;", {"fma.rn.f32 %x$, %x$, %m, %a;"}, f32_fold}},
    {"fmnmx", {".reg .f32 %x<$>, %m, %a; .reg .u32 %bits;", "cvt.rn.f32.u64 %m, %seed; add.f32 %a, %m, %m;",
               "add.f32 %x$, %m, 0f3F800000;", {"max.f32 %x$, %x$, %m;", "min.f32 %x$, %x$, %a;"}, f32_fold}},
    {"iadd", {".reg .u32 %x<$>, %a;", "cvt.u32.u64 %a, %seed;", "add.u32 %x$, %a, $;", {"add.u32 %x$, %x$, %a;"}, u32_fold}},
    {"lop", {".reg .u32 %x<$>, %a;", "cvt.u32.u64 %a, %seed;", "add.u32 %x$, %a, $;", {"xor.b32 %x$, %x$, %a;"}, u32_fold}},
    {"cvt8", {".reg .u32 %x<$>, %a;", "cvt.u32.u64 %a, %seed;", "add.u32 %x$, %a, $;", {"cvt.s32.s8 %x$, %x$;"}, u32_fold}},
    {"shl", {".reg .u32 %x<$>, %a;", "cvt.u32.u64 %a, %seed;", "add.u32 %x$, %a, $;", {"shl.b32 %x$, %x$, %a;"}, u32_fold}},
    {"imad", {".reg .u32 %x<$>, %a, %m;", "cvt.u32.u64 %a, %seed; add.u32 %m, %a, %thread;", "add.u32 %x$, %a, $;",
              {"mad.lo.u32 %x$, %x$, %m, %a;"}, u32_fold}},
    {"imnmx", {".reg .u32 %x<$>, %a, %m;", "cvt.u32.u64 %a, %seed; add.u32 %m, %a, %thread;", "add.u32 %x$, %a, $;",
               {"max.u32 %x$, %x$, %m;", "min.u32 %x$, %x$, %a;"}, u32_fold}},
    // Each takes the predicate of the previous one as input; there are only seven predicates.
    {"isetp", {".reg .pred %x<$>; .reg .u32 %a, %bit;", "cvt.u32.u64 %a, %seed;", "setp.ne.u32 %x$, %a, $;",
               {"setp.ne.and.u32 %x$, %a, %pass, %x$;"}, "selp.u32 %bit, 1, 0, %x$; add.u32 %value, %value, %bit;"}},
    {"popc", {".reg .u32 %x<$>, %a;", "cvt.u32.u64 %a, %seed;", "add.u32 %x$, %a, $;", {"popc.b32 %x$, %x$;"}, u32_fold}},
    {"flo", {".reg .u32 %x<$>, %a;", "cvt.u32.u64 %a, %seed;", "add.u32 %x$, %a, $;", {"bfind.u32 %x$, %x$;"}, u32_fold}},
    {"brev", {".reg .u32 %x<$>, %a;", "cvt.u32.u64 %a, %seed;", "add.u32 %x$, %a, $;", {"brev.b32 %x$, %x$;"}, u32_fold}},
    // Alternating floats and integers.
    {"mixed", {".reg .f32 %x<$>, %m, %a; .reg .u32 %n<$>, %b, %bits;", "cvt.rn.f32.u64 %m, %seed; add.f32 %a, %m, %m; cvt.u32.u64 %b, %seed;",
               "add.f32 %x$, %m, 0f3F800000; add.u32 %n$, %b, $;", {"fma.rn.f32 %x$, %x$, %m, %a;", "add.u32 %n$, %n$, %b;"},
               f32_fold + " xor.b32 %value, %value, %n$;"}},
    {"mufu", {".reg .f32 %x<$>, %m; .reg .u32 %bits;", "cvt.rn.f32.u64 %m, %seed;", "add.f32 %x$, %m, 0f3F800000;",
              {"rcp.approx.ftz.f32 %x$, %x$;"}, f32_fold}},
    {"f2i", {".reg .f32 %x<$>, %m; .reg .s32 %n<$>; .reg .u32 %bits;", "cvt.rn.f32.u64 %m, %seed;", "add.f32 %x$, %m, 0f3F800000;",
             {"cvt.rzi.s32.f32 %n$, %x$;", "cvt.rn.f32.s32 %x$, %n$;"}, f32_fold}},
    // From 8.6 on integers are converted elsewhere.
    {"f2i_alone", {".reg .f32 %x<$>, %m; .reg .s32 %n<$>; .reg .u32 %bits;", "cvt.rn.f32.u64 %m, %seed;", "add.f32 %x$, %m, 0f3F800000;",
                   {"cvt.rzi.s32.f32 %n$, %x$; mov.b32 %x$, %n$;"}, f32_fold}},
    {"d2f", {".reg .f64 %x<$>; .reg .f32 %n<$>; .reg .u32 %low, %high;", "", "cvt.rn.f64.u64 %x$, %seed;",
             {"cvt.rn.f32.f64 %n$, %x$;", "cvt.f64.f32 %x$, %n$;"}, "mov.b64 {%low, %high}, %x$; xor.b32 %value, %value, %high;"}},
    {"dadd", {".reg .f64 %x<$>; .reg .u32 %low, %high;", "", "cvt.rn.f64.u64 %x$, %seed; add.f64 %x$, %x$, %x$;",
              {"add.f64 %x$, %x$, %x$;"}, "mov.b64 {%low, %high}, %x$; xor.b32 %value, %value, %high;"}},
    // One register pair for all operands, so that no two compete for a register bank.
    {"dfma", {".reg .f64 %x<$>; .reg .u32 %low, %high;", "", "cvt.rn.f64.u64 %x$, %seed; add.f64 %x$, %x$, %x$;",
              {"fma.rn.f64 %x$, %x$, %x$, %x$;"}, "mov.b64 {%low, %high}, %x$; xor.b32 %value, %value, %high;"}},
    {"hfma2", {".reg .b32 %x<$>, %m, %a;", "cvt.u32.u64 %m, %seed; add.u32 %a, %m, %thread;", "add.u32 %x$, %a, $;",
               {"fma.rn.f16x2 %x$, %x$, %m, %a;"}, u32_fold}},
    // Words that contain their own address; all lanes read the same one.
    {"lds", {".reg .u32 %x<$>; .shared .align 64 .b8 words[64];", "", "mov.u32 %x$, words; add.u32 %x$, %x$, 4*$; st.shared.u32 [%x$], %x$;",
             {"ld.shared.u32 %x$, [%x$];"}, u32_fold}},
    {"shfl", {".reg .u32 %x<$>;", "", "add.u32 %x$, %thread, $;", {"shfl.sync.bfly.b32 %x$, %x$, 1, 31, 0xffffffff;"}, u32_fold}},
};
// clang-format on

struct figure {
  const char* gpus;
  const char* name;
  double latency;              // cycles from issue to dependent issue; 0: none published
  double throughput;           // lanes per cycle and SM; 0: none published
  const char* source;          // of the latency
  const char* explained = "";  // reason for a difference; if empty, the model must agree
  // Source of the throughput: the guide's table of arithmetic instructions, or another one.
  const char* table = "CUDA programming guide";
};

constexpr char jia[] = "Jia et al. 2018, table 4.1";
constexpr char jia_t4[] = "Jia et al. 2019 (T4)";
constexpr char memories[] = "Jia et al. 2018, table 3.1";
constexpr char maxas[] = "maxas";
constexpr char guide[] = "CUDA programming guide: warps that hide a latency";
constexpr char wong[] = "Wong et al. 2010 (recalled)";
constexpr char huerta[] = "Huerta et al. 2025";
constexpr char ptxas[] = "cycles that ptxas 13.0 leaves";
constexpr char no_source[] = "";
constexpr char xmad[] = "86 cycles were measured of IMAD, which no compiler emits here: three XMAD stand for it";

constexpr char narrow_half[] =
    "the guide prints 256 results of halves; the white paper of GA102 has fp32's rate, half of that (recalled)";
constexpr char full_rate[] =
    "lowering masks and shifts, at the rate of such instructions, where the chip has a conversion";
// clang-format off
constexpr char last_warps[] = "warps that are given the shared lanes run ahead and end first, and the last ones alone do not fill them";
constexpr char recalled[] = "recalled";

constexpr char maxwells[] = "gtx750ti gtx980";
constexpr char pascals[] = "gtx1080 titanxp";
constexpr char turings[] = "rtx2060 rtx2080ti";
constexpr char ga10x[] = "rtx3070 rtx3080";
constexpr char later[] = "a100 rtx3070 rtx3080 rtx4090 h100";

constexpr figure figures[] = {
    {"g80", "ffma", 24, 8, wong}, {"g80", "fmnmx", 24, 8, wong}, {"g80", "iadd", 24, 8, wong}, {"g80", "shl", 24, 8, wong},
    {"g80", "imad", 0, 0, no_source}, {"g80", "imnmx", 24, 8, wong}, {"g80", "isetp", 24, 8, wong}, {"g80", "mufu", 28, 2, wong},
    {"g80", "f2i", 0, 0, no_source}, {"g80", "lop", 24, 8, wong},

    {"gtx480", "ffma", 22, 32, guide}, {"gtx480", "fmnmx", 22, 32, guide}, {"gtx480", "iadd", 22, 32, guide},
    {"gtx480", "shl", 22, 16, guide}, {"gtx480", "imad", 22, 16, guide}, {"gtx480", "imnmx", 22, 32, guide},
    {"gtx480", "isetp", 22, 32, guide}, {"gtx480", "popc", 0, 16, no_source}, {"gtx480", "mufu", 0, 4, no_source},
    {"gtx480", "f2i", 0, 16, no_source}, {"gtx480", "dfma", 22, 4, guide}, {"gtx480", "lop", 22, 32, guide},
    {"gtx480", "cvt8", 0, 16, no_source, full_rate},

    {"gtxtitan", "ffma", 11, 192, guide, last_warps}, {"gtxtitan", "fmnmx", 11, 160, guide},
    {"gtxtitan", "iadd", 11, 160, guide}, {"gtxtitan", "shl", 11, 64, guide}, {"gtxtitan", "imad", 11, 32, guide},
    {"gtxtitan", "imnmx", 11, 160, guide}, {"gtxtitan", "isetp", 11, 160, guide, last_warps},
    {"gtxtitan", "popc", 0, 32, no_source}, {"gtxtitan", "mufu", 0, 32, no_source}, {"gtxtitan", "f2i", 0, 32, no_source},
    {"gtxtitan", "dfma", 11, 64, guide}, {"gtxtitan", "lop", 11, 160, guide}, {"gtxtitan", "cvt8", 0, 128, no_source, full_rate},
     {"gtxtitan", "shfl", 0, 32, no_source},

    {maxwells, "ffma", 6, 128, maxas}, {maxwells, "fmnmx", 6, 64, maxas}, {maxwells, "iadd", 6, 128, maxas},
    {maxwells, "shl", 6, 64, maxas}, {maxwells, "imad", 86, 0, jia, xmad}, {maxwells, "imnmx", 6, 64, maxas},
    {maxwells, "isetp", 13, 64, maxas}, {maxwells, "popc", 0, 32, no_source}, {maxwells, "mufu", 0, 32, no_source},
    {maxwells, "f2i", 0, 32, no_source}, {maxwells, "dfma", 45, 4, "PPT-GPU, from Arafa et al. 2019"},
    {maxwells, "lop", 6, 128, maxas}, {maxwells, "cvt8", 0, 32, no_source, full_rate}, {maxwells, "shfl", 0, 32, no_source},

    {"p100", "ffma", 6, 64, jia}, {"p100", "fmnmx", 6, 32, jia}, {"p100", "iadd", 6, 64, jia}, {"p100", "shl", 6, 32, jia},
    {"p100", "imad", 86, 0, jia, xmad}, {"p100", "imnmx", 6, 32, jia}, {"p100", "isetp", 12, 32, jia}, {"p100", "popc", 14, 16, jia},
    {"p100", "flo", 14, 16, jia}, {"p100", "mufu", 14, 16, jia}, {"p100", "f2i", 14, 16, jia}, {"p100", "dadd", 8, 32, jia},
    {"p100", "dfma", 8, 32, jia}, {"p100", "hfma2", 6, 64, jia},
    {"p100", "shfl", 0, 32, no_source}, {"p100", "lop", 6, 64, jia}, {"p100", "cvt8", 0, 16, no_source, full_rate},

    {pascals, "ffma", 6, 128, jia}, {pascals, "fmnmx", 6, 64, jia}, {pascals, "iadd", 6, 128, jia}, {pascals, "shl", 6, 64, jia},
    {pascals, "imad", 86, 0, jia, xmad}, {pascals, "imnmx", 6, 64, jia}, {pascals, "isetp", 12, 64, jia}, {pascals, "popc", 14, 32, jia},
    {pascals, "flo", 14, 32, jia},
    {pascals, "mufu", 14, 32, jia}, {pascals, "f2i", 14, 32, jia}, {pascals, "dfma", 45, 4, "PPT-GPU, from Arafa et al. 2019"},
    {pascals, "hfma2", 0, 1, no_source}, {pascals, "shfl", 0, 32, no_source}, {pascals, "lop", 6, 128, jia},
    {pascals, "cvt8", 0, 32, no_source, full_rate},

    {"v100", "ffma", 4, 64, jia}, {"v100", "fmnmx", 5, 64, jia}, {"v100", "iadd", 4, 64, jia}, {"v100", "shl", 4, 64, jia},
    {"v100", "imad", 5, 64, jia}, {"v100", "imnmx", 0, 64, no_source}, {"v100", "isetp", 4, 64, jia}, {"v100", "popc", 10, 16, jia},
    {"v100", "flo", 14, 16, jia}, {"v100", "brev", 14, 16, jia}, {"v100", "dadd", 8, 32, jia},
    {"v100", "mufu", 14, 16, jia}, {"v100", "f2i", 0, 16, no_source}, {"v100", "dfma", 8, 32, jia}, {"v100", "hfma2", 6, 64, jia},
    {"v100", "shfl", 0, 32, no_source}, {"v100", "lop", 4, 64, jia}, {"v100", "cvt8", 0, 16, no_source, full_rate},

    {turings, "ffma", 4, 64, jia_t4}, {turings, "fmnmx", 5, 64, jia_t4}, {turings, "iadd", 4, 64, jia_t4}, {turings, "shl", 4, 64, jia_t4},
    {turings, "imad", 5, 64, jia_t4}, {turings, "imnmx", 0, 64, no_source}, {turings, "isetp", 4, 64, jia_t4},
    {turings, "popc", 15, 16, jia_t4}, {turings, "mufu", 15, 16, jia_t4}, {turings, "f2i", 0, 16, no_source},
    {turings, "flo", 15, 16, jia_t4}, {turings, "brev", 15, 16, jia_t4}, {turings, "dadd", 48, 2, jia_t4},
    {turings, "dfma", 54, 2, jia_t4}, {turings, "hfma2", 6, 64, jia_t4},
    {turings, "shfl", 0, 32, no_source}, {turings, "lop", 4, 64, jia_t4}, {turings, "cvt8", 0, 16, no_source, full_rate},

    {later, "ffma", 4, 0, huerta}, {later, "iadd", 0, 64, no_source}, {later, "shl", 0, 64, no_source}, {later, "imad", 0, 64, no_source},
    {later, "fmnmx", 0, 64, no_source}, {later, "imnmx", 0, 64, no_source}, {"a100 rtx3070 rtx3080 rtx4090", "isetp", 4, 64, "given by NVIDIA to Mesa's compiler"},
    {"h100", "isetp", 0, 64, no_source},
    {later, "popc", 0, 16, no_source}, {later, "mufu", 0, 16, no_source, "", recalled}, {later, "f2i_alone", 0, 16, no_source},
    {later, "shfl", 0, 32, no_source}, {later, "lop", 0, 64, no_source}, {later, "cvt8", 0, 64, no_source},
    {"a100", "ffma", 4, 64, huerta}, {"a100", "dfma", 0, 32, no_source, "", recalled}, {"a100", "hfma2", 5, 128, huerta},
    {ga10x, "ffma", 4, 128, huerta}, {ga10x, "dfma", 0, 2, no_source, "", recalled}, {ga10x, "hfma2", 5, 128, huerta, narrow_half},
    {"rtx4090", "ffma", 4, 128, huerta}, {"rtx4090", "dfma", 0, 2, no_source, "", recalled}, {"rtx4090", "hfma2", 5, 64, huerta},
    {maxwells, "d2f", 0, 4, no_source, "", recalled}, {pascals, "d2f", 0, 4, no_source, "", recalled},
    {"p100 v100 a100", "d2f", 0, 16, no_source, "", recalled}, {turings, "d2f", 0, 2, no_source, "", recalled},
    {ga10x, "d2f", 0, 2, no_source, "", recalled}, {"rtx4090", "d2f", 0, 2, no_source, "", recalled},
    {"gtx980", "lds", 23, 0, memories}, {"p100", "lds", 24, 0, memories}, {"gtx1080", "lds", 23, 0, memories},
    {"v100", "lds", 19, 0, memories},
    {"h100", "ffma", 4, 128, huerta}, {"h100", "dfma", 0, 64, no_source, "", recalled}, {"h100", "hfma2", 5, 128, huerta},
    {"b200", "ffma", 4, 128, ptxas, "", ptxas}, {"b200", "iadd", 0, 64, no_source, "", ptxas}, {"b200", "dfma", 8, 64, ptxas, "", ptxas},
    {"b200", "dadd", 8, 64, ptxas, "", ptxas}, {"b200", "hfma2", 4, 64, ptxas, "", ptxas}, {"b200", "shl", 4, 64, ptxas, "", ptxas},
    {"b200", "imad", 4, 64, ptxas, "", ptxas}, {"b200", "lop", 4, 64, ptxas, "", ptxas},
    {"rtx5090", "ffma", 4, 128, huerta}, {"rtx5090", "iadd", 4, 128, ptxas}, {"rtx5090", "fmnmx", 5, 0, ptxas},
    {"rtx5090", "imnmx", 5, 0, ptxas}, {"rtx5090", "dfma", 64, 2, ptxas, "", ptxas}, {"rtx5090", "dadd", 64, 2, ptxas, "", ptxas},
    {"rtx5090", "hfma2", 4, 64, ptxas}, {"rtx5090", "shl", 4, 64, ptxas}, {"rtx5090", "imad", 4, 64, ptxas}, {"rtx5090", "lop", 4, 0, ptxas},
    {"b200 rtx5090", "mufu", 0, 16, no_source, "", recalled},
};
// clang-format on

struct row {
  std::string gpu;
  const figure* published;
};

std::vector<row> rows() {
  std::vector<row> all;
  for (const figure& f : figures) {
    std::istringstream gpus(f.gpus);
    for (std::string gpu; gpus >> gpu;) all.push_back({gpu, &f});
  }
  return all;
}

std::string latency_row(const row& r) { return "opcode " + r.gpu + " " + r.published->name + " latency"; }
std::string throughput_row(const row& r) { return "opcode " + r.gpu + " " + r.published->name + " throughput"; }

class opcode : public ::testing::TestWithParam<row> {};

// Each sequence has two lengths, so that constant overhead cancels out.
constexpr unsigned short_sequence = 128, long_sequence = 384;
// Where schedulers share lanes, some warps run ahead and end first, and the last ones do not fill these lanes for a
// while. The sequences are therefore longer, but still fit the first instruction cache.
constexpr unsigned short_sequence_of_shared_lanes = 304, long_sequence_of_shared_lanes = 912;

struct measured {
  double latency = 0, throughput = 0;  // cycles; lanes a cycle and SM
};

measured measure(const std::string& gpu, const char* name) {
  const code_sequence& p = code_sequences.at(name);
  const bool shares = gpu == "gtxtitan";
  const unsigned shorter = shares ? short_sequence_of_shared_lanes : short_sequence,
                 longer = shares ? long_sequence_of_shared_lanes : long_sequence;
  const double operations = longer - shorter;
  const unsigned chains = std::string(name) == "isetp" ? 4 : 8;
  const unsigned threads = gpu == "g80" ? 256 : 1024;
  const std::string text = microbench::module(microbench::kernel("dependent_short", p, shorter, 1) +
                                              microbench::kernel("dependent_long", p, longer, 1) +
                                              microbench::kernel("independent_short", p, shorter, chains) +
                                              microbench::kernel("independent_long", p, longer, chains));
  const auto cycles = microbench::run(
      name, gpu, text,
      {{"dependent_short", 32}, {"dependent_long", 32}, {"independent_short", threads}, {"independent_long", threads}},
      "--set sub_partition.scheduler=lrr");  // all warps end together: measures the unit's rate
  if (cycles.size() != 4) return {};
  return {(cycles[1] - cycles[0]) / operations, threads * operations / (cycles[3] - cycles[2])};
}

TEST_P(opcode, agrees_with_published_figures) {
  const figure& f = *GetParam().published;
  const measured m = measure(GetParam().gpu, f.name);
  if (HasFailure()) return;
  const double latency = m.latency, throughput = m.throughput;
  std::printf("%-10s %-6s latency %6.2f", GetParam().gpu.c_str(), f.name, latency);
  if (f.latency > 0) std::printf(" (published %g, %+.1f %%, %s)", f.latency, 100 * (latency / f.latency - 1), f.source);
  std::printf(", throughput %6.2f", throughput);
  if (f.throughput > 0)
    std::printf(" (published %g, %+.1f %%, %s)", f.throughput, 100 * (throughput / f.throughput - 1), f.table);
  std::printf("%s%s\n", *f.explained != 0 ? ": " : "", f.explained);
  const bool must_agree = *f.explained == 0;
  if (f.latency > 0 && must_agree) {
    EXPECT_NEAR(latency, f.latency, 0.01);
  }
  if (f.throughput > 0 && must_agree) {
    EXPECT_NEAR(throughput, f.throughput, 0.01 * f.throughput);
  }
  if (!must_agree) {  // an explanation that is no longer needed must be removed
    EXPECT_TRUE((f.latency > 0 && std::abs(latency - f.latency) > 0.01) ||
                (f.throughput > 0 && std::abs(throughput - f.throughput) > 0.01 * f.throughput));
    EXPECT_TRUE(f.explained == full_rate || f.throughput == 0 || throughput < 1.01 * f.throughput)
        << "faster than the chip";
    if (f.latency > 0) microbench::expect_written(latency_row(GetParam()), latency);
    if (f.throughput > 0) microbench::expect_written(throughput_row(GetParam()), throughput);
  }
}

TEST(explained_opcodes, are_those_written_down) {
  std::set<std::string> explained;
  for (const row& r : rows()) {
    if (*r.published->explained == 0) continue;
    if (r.published->latency > 0) explained.insert(latency_row(r));
    if (r.published->throughput > 0) explained.insert(throughput_row(r));
  }
  EXPECT_EQ(microbench::written_rows("opcode"), explained);
}

// Up to Kepler the same core executes both kinds (white papers of Fermi and GK110); from Volta on integers have
// separate units (white paper of GV100), and the limit is the scheduler's issue rate of one instruction per cycle.
TEST(opcode_mix, floats_and_integers_take_the_same_cores_up_to_kepler) {
  const struct {
    const char* gpu;
    double most;
  } chips[] = {{"g80", 8}, {"gtx480", 32}, {"gtxtitan", 192}, {"gtx1080", 128}, {"v100", 128}};
  for (const auto& chip : chips) {
    const double throughput = measure(chip.gpu, "mixed").throughput;
    std::printf("%-10s FFMA and IADD in turn: %6.2f lanes a cycle and SM (cores or issue allow %g)\n", chip.gpu,
                throughput, chip.most);
    EXPECT_LE(throughput, 1.005 * chip.most) << chip.gpu;
    EXPECT_GE(throughput, 0.85 * chip.most) << chip.gpu;
  }
}

INSTANTIATE_TEST_SUITE_P(all, opcode, ::testing::ValuesIn(rows()), [](const auto& info) {
  return info.param.gpu + "_" + info.param.published->name + "_" + std::to_string(info.index);
});

}  // namespace opcode_test
