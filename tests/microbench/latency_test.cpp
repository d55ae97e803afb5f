// SPDX-License-Identifier: MIT
// Chains of single PTX instructions in one thread: latency of each against published figures. opcode_test.cpp covers
// units whose throughput matters, too.
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

namespace latency_test {

using microbench::code_sequence;

constexpr char jia[] = "Jia et al. 2018, table 4.1";
constexpr char jia_t4[] = "Jia et al. 2019 (T4)";
constexpr char maxas[] = "maxas";
constexpr char wong[] = "Wong et al. 2010 (recalled)";
constexpr char arafa_v[] = "Arafa et al. 2019, TITAN V";
constexpr char arafa_rtx[] = "Arafa et al. 2019, TITAN RTX";
constexpr char ppt[] = "PPT-GPU, from Arafa et al. 2019";
constexpr char port[] = "Abdelkhalik et al. 2022, in a port of PPT-GPU";
constexpr char huerta[] = "Huerta et al. 2025";
constexpr char artifact[] = "Huerta et al. 2025, artifact";
constexpr char nak[] = "given by NVIDIA to Mesa's compiler";
constexpr char recalled[] = "recalled";

// Reasons for differences of the model.
constexpr char overlaps[] =
    "Arafa et al. divide the time of a sequence that may overlap; the machine instruction is Jia et al.'s";
constexpr char bit_field[] =
    "one BFE of the machine's, which has it on all chips; from Volta on chips have none, and the compiler makes a sequence";
constexpr char sequence[] = "a sequence of lowering's own, not the compiler's";
constexpr char one_instruction[] = "one instruction here, several from the compiler";
constexpr char t4_has[] = "the T4's figure, 48 and 54, is taken (Jia et al. 2019)";
constexpr char together[] = "the lanes of a warp are together: it only issues";
constexpr char special[] = "Jia et al. measured 14 of MUFU on Pascal";
constexpr char bare_unit[] = "of the execution stage alone; Turing's measured figure is taken";
constexpr char half_of[] = "Huerta et al. measured 5 on the same architecture";
constexpr char double_of[] = "a port's table and not the paper's: the V100's unit is taken (Jia et al. 2018)";
constexpr char by_guide[] = "the programming guide's figure is taken";

struct figure {
  const char* gpus;
  const char* operations;  // words; '+' stands for a blank
  double published;
  const char* source;
  const char* explained = "";  // if empty, the model must agree
};

constexpr char maxwells[] = "gtx750ti gtx980";
constexpr char pascals[] = "p100 gtx1080 titanxp";
constexpr char turings[] = "rtx2060 rtx2080ti";
constexpr char ga10x[] = "rtx3070 rtx3080";
constexpr char amperes[] = "a100 rtx3070 rtx3080";
constexpr char nak_ampere[] = "a100 rtx3070 rtx3080 rtx4090";
constexpr char all_later[] = "a100 rtx3070 rtx3080 rtx4090 h100";

constexpr figure figures[] = {
    {"g80", "add.f32 mul.f32 fma.f32 add.u32 and.b32 shr.u32", 24, wong},
    {"gtx480", "fma.f32 add.u32", 18, recalled, by_guide},
    {"gtxtitan", "fma.f32 add.u32", 9, recalled, by_guide},
    {maxwells,
     "add.f32 mul.f32 fma.f32 add.u32 and.b32 lop3.b32 mov.b32 prmt.b32 selp.b32 shr.u32 bfe.u32 max.f32 max.u32", 6,
     maxas},
    {maxwells, "setp.f32 guard", 13, maxas},
    {maxwells, "add.f64 mul.f64 fma.f64", 45, ppt},
    {maxwells, "rcp.approx.f32", 4, ppt, special},
    {pascals,
     "add.f32 mul.f32 fma.f32 add.u32 and.b32 lop3.b32 mov.b32 selp.b32 shr.u32 bfe.u32 bfi.b32 max.f32 max.u32 vadd.u32",
     6, jia},
    {pascals, "setp.f32 guard", 12, jia},
    {pascals, "popc.b32 bfind.u32 rcp.approx.f32 cvt.s32.f32 cvt.f16.f32", 14, jia},
    {"p100", "add.f16x2 mul.f16x2 fma.f16x2", 6, jia},
    {"p100", "add.f64 mul.f64 fma.f64 max.f64", 8, jia},
    {"p100", "setp.f64", 12, jia},
    {"gtx1080 titanxp", "add.f64 mul.f64 fma.f64", 45, ppt},
    {pascals, "sin.approx.f32", 6, ppt, special},
    {"v100", "add.u32 shf.b32 lop3.b32 selp.b32 mov.b32 add.f32 fma.f32 mul.f32 setp.u32 setp.f32", 4, jia},
    {"v100", "mad.u32 max.f32 setp.f64", 5, jia},
    {"v100", "add.f16x2 mul.f16x2 fma.f16x2", 6, jia},
    {"v100", "add.f64 mul.f64 fma.f64", 8, jia},
    {"v100", "popc.b32", 10, jia},
    {"v100", "bfind.u32 brev.b32 rcp.approx.f32", 14, jia},
    {turings, "add.u32 shf.b32 lop3.b32 selp.b32 mov.b32 add.f32 fma.f32 mul.f32 setp.u32 setp.f32", 4, jia_t4},
    {turings, "mad.u32 max.f32", 5, jia_t4},
    {turings, "add.f16x2 mul.f16x2 fma.f16x2", 6, jia_t4},
    {turings, "popc.b32 bfind.u32 brev.b32 rcp.approx.f32", 15, jia_t4},
    {turings, "add.f64 mul.f64", 48, jia_t4},
    {turings, "fma.f64 setp.f64", 54, jia_t4},
    {all_later, "add.f32 mul.f32 fma.f32", 4, huerta},
    {amperes, "add.f16x2", 5, huerta},
    {nak_ampere, "setp.u32 setp.f32", 4, nak},
    {nak_ampere, "guard", 13, nak},
    {turings, "guard", 12, nak},
    {ga10x, "guard", 13, artifact},
    {ga10x, "fma.f64", 25, artifact, bare_unit},
    {"a100", "add.u32 add.f32 mad.u32", 4, port},
    {"a100", "rcp.approx.f32", 18, port},
    {"a100", "fma.f16x2", 4, port, half_of},
    {"a100", "fma.f64", 4, port, double_of},

    {"v100", "add.u32 and.b32 addc.u32 add.f32 mul.f32 fma.f32 setp.u32", 4, arafa_v},
    {"v100", "add.f16 mul.f16 fma.f16", 6, arafa_v},
    {"v100", "add.f64 mul.f64 fma.f64 two+clocks", 8, arafa_v},
    {"v100", "mul.u32 popc.b32 bfind.u32 cvt.s32.f32 mov.tid", 4, arafa_v, overlaps},
    {"v100", "brev.b32 clz.b32 mul24.lo.u32 sin.approx.f32", 8, arafa_v, overlaps},
    {"v100", "sad.u32", 4, arafa_v, sequence},
    {"v100", "cnot.b32", 7, arafa_v, sequence},
    {"v100", "mul24.hi.u32", 15, arafa_v, sequence},
    {"v100", "bfe.u32", 125, arafa_v, bit_field},
    {"v100", "div.s32 div.u32", 71, arafa_v, sequence},
    {"v100", "rem.s32 rem.u32", 72, arafa_v, sequence},
    {"v100", "div.f32", 504, arafa_v, sequence},
    {"v100", "rcp.f32 sqrt.f32", 60, arafa_v, sequence},
    {"v100", "div.f64", 606, arafa_v, sequence},
    {"v100", "rcp.f64", 57, arafa_v, sequence},
    {"v100", "sqrt.f64", 106, arafa_v, sequence},
    {"v100", "rsqrt.approx.f64", 8, arafa_v, overlaps},
    {"v100", "ex2.approx.f32", 16, arafa_v, sequence},
    {"v100", "rcp.approx.f32", 23, arafa_v, one_instruction},
    {"v100", "rsqrt.approx.f32 sqrt.approx.f32", 18, arafa_v, one_instruction},
    {"v100", "bar.warp", 5, arafa_v, together},

    {turings, "add.u32 and.b32 addc.u32 add.f32 mul.f32 fma.f32 setp.u32", 4, arafa_rtx},
    {turings, "add.f16 mul.f16 fma.f16", 6, arafa_rtx},
    {turings, "two+clocks", 8, arafa_rtx},
    {turings, "add.f64 mul.f64 fma.f64", 45, arafa_rtx, t4_has},
    {turings, "mul.u32 popc.b32 bfind.u32 cvt.s32.f32 mov.tid", 4, arafa_rtx, overlaps},
    {turings, "brev.b32 clz.b32 mul24.lo.u32 sin.approx.f32", 8, arafa_rtx, overlaps},
    {turings, "sad.u32", 4, arafa_rtx, sequence},
    {turings, "cnot.b32", 9, arafa_rtx, sequence},
    {turings, "mul24.hi.u32", 15, arafa_rtx, sequence},
    {turings, "bfe.u32", 119, arafa_rtx, bit_field},
    {turings, "div.s32 div.u32 rem.s32 rem.u32", 79, arafa_rtx, sequence},
    {turings, "div.f32", 335, arafa_rtx, sequence},
    {turings, "rcp.f32", 70, arafa_rtx, sequence},
    {turings, "sqrt.f32", 72, arafa_rtx, sequence},
    {turings, "div.f64", 1165, arafa_rtx, sequence},
    {turings, "rcp.f64", 251, arafa_rtx, sequence},
    {turings, "sqrt.f64", 366, arafa_rtx, sequence},
    {turings, "rsqrt.approx.f64", 12, arafa_rtx, overlaps},
    {turings, "ex2.approx.f32", 16, arafa_rtx, sequence},
    {turings, "rcp.approx.f32", 38, arafa_rtx, one_instruction},
    {turings, "rsqrt.approx.f32 sqrt.approx.f32", 25, arafa_rtx, one_instruction},
    {turings, "bar.warp", 5, arafa_rtx, together},
};

enum class operand { u32, f32, f64, f16, f16x2 };

struct operation {
  operand type;
  const char* step;           // one step of the chain of %x; %a and %b are constant
  unsigned instructions = 1;  // number of instructions per step, by which its cycles are divided
};

const std::map<std::string, operation> operations = {
    {"add.u32", {operand::u32, "add.u32 %x, %x, %a;"}},
    {"addc.u32", {operand::u32, "addc.u32 %x, %x, %a;"}},
    {"and.b32", {operand::u32, "and.b32 %x, %x, %a;"}},
    {"lop3.b32", {operand::u32, "lop3.b32 %x, %x, %a, %x, 0x96;"}},
    {"mov.b32", {operand::u32, "mov.b32 %y, %x; add.u32 %x, %y, %a;"}},
    {"prmt.b32", {operand::u32, "prmt.b32 %x, %x, %a, 0x2143;"}},
    {"selp.b32", {operand::u32, "selp.b32 %x, %x, %a, %p;"}},
    {"shr.u32", {operand::u32, "shr.u32 %x, %x, %a;"}},
    {"shf.b32", {operand::u32, "shf.l.wrap.b32 %x, %x, %x, %a;"}},
    {"bfe.u32", {operand::u32, "bfe.u32 %x, %x, 3, 7;"}},
    {"bfi.b32", {operand::u32, "bfi.b32 %x, %x, %a, 3, 7;"}},
    {"max.u32", {operand::u32, "max.u32 %x, %x, %a;"}},
    {"mad.u32", {operand::u32, "mad.lo.u32 %x, %x, %a, %x;"}},
    {"mul.u32", {operand::u32, "mul.lo.u32 %x, %x, %a;"}},
    {"mul24.lo.u32", {operand::u32, "mul24.lo.u32 %x, %x, %a;"}},
    {"mul24.hi.u32", {operand::u32, "mul24.hi.u32 %x, %x, %a;"}},
    {"sad.u32", {operand::u32, "sad.u32 %x, %x, %a, %x;"}},
    {"cnot.b32", {operand::u32, "cnot.b32 %x, %x;"}},
    {"vadd.u32", {operand::u32, "vadd.u32.u32.u32 %x, %x, %a;"}},
    {"popc.b32", {operand::u32, "popc.b32 %x, %x;"}},
    {"bfind.u32", {operand::u32, "bfind.u32 %x, %x;"}},
    {"brev.b32", {operand::u32, "brev.b32 %x, %x;"}},
    {"clz.b32", {operand::u32, "clz.b32 %x, %x;"}},
    {"div.s32", {operand::u32, "div.s32 %x, %x, %a;"}},
    {"div.u32", {operand::u32, "div.u32 %x, %x, %a;"}},
    {"rem.s32", {operand::u32, "rem.s32 %x, %x, %a;"}},
    {"rem.u32", {operand::u32, "rem.u32 %x, %x, %a;"}},
    {"mov.tid", {operand::u32, "mov.u32 %x, %tid.x;"}},
    {"two clocks", {operand::u32, ""}},
    {"bar.warp", {operand::u32, "bar.warp.sync 0xffffffff;"}},
    {"setp.u32", {operand::u32, "setp.ne.and.u32 %p, %a, %pass, %p;"}},
    {"guard", {operand::u32, "@%p setp.ne.u32 %p, %a, %pass;"}},
    {"setp.f32", {operand::f32, "setp.ne.and.f32 %p, %a, %b, %p;"}},
    {"setp.f64", {operand::f64, "setp.ne.and.f64 %p, %a, %b, %p;"}},
    {"add.f32", {operand::f32, "add.f32 %x, %x, %a;"}},
    {"mul.f32", {operand::f32, "mul.f32 %x, %x, %a;"}},
    {"fma.f32", {operand::f32, "fma.rn.f32 %x, %x, %a, %b;"}},
    {"max.f32", {operand::f32, "max.f32 %x, %x, %a; min.f32 %x, %x, %b;", 2}},
    {"div.f32", {operand::f32, "div.rn.f32 %x, %x, %a;"}},
    {"rcp.f32", {operand::f32, "rcp.rn.f32 %x, %x;"}},
    {"sqrt.f32", {operand::f32, "sqrt.rn.f32 %x, %x;"}},
    {"rcp.approx.f32", {operand::f32, "rcp.approx.ftz.f32 %x, %x;"}},
    {"sqrt.approx.f32", {operand::f32, "sqrt.approx.ftz.f32 %x, %x;"}},
    {"rsqrt.approx.f32", {operand::f32, "rsqrt.approx.ftz.f32 %x, %x;"}},
    {"sin.approx.f32", {operand::f32, "sin.approx.ftz.f32 %x, %x;"}},
    {"ex2.approx.f32", {operand::f32, "ex2.approx.f32 %x, %x;"}},
    {"cvt.s32.f32", {operand::f32, "cvt.rzi.s32.f32 %n, %x; cvt.rn.f32.s32 %x, %n;", 2}},
    {"cvt.f16.f32", {operand::f32, "cvt.rn.f16.f32 %h, %x; cvt.f32.f16 %x, %h;", 2}},
    {"add.f64", {operand::f64, "add.f64 %x, %x, %a;"}},
    {"mul.f64", {operand::f64, "mul.f64 %x, %x, %a;"}},
    {"fma.f64", {operand::f64, "fma.rn.f64 %x, %x, %x, %x;"}},
    {"max.f64", {operand::f64, "max.f64 %x, %x, %a;"}},
    {"div.f64", {operand::f64, "div.rn.f64 %x, %x, %a;"}},
    {"rcp.f64", {operand::f64, "rcp.rn.f64 %x, %x;"}},
    {"sqrt.f64", {operand::f64, "sqrt.rn.f64 %x, %x;"}},
    {"rsqrt.approx.f64", {operand::f64, "rsqrt.approx.ftz.f64 %x, %x;"}},
    {"add.f16", {operand::f16, "add.f16 %x, %x, %a;"}},
    {"mul.f16", {operand::f16, "mul.f16 %x, %x, %a;"}},
    {"fma.f16", {operand::f16, "fma.rn.f16 %x, %x, %a, %a;"}},
    {"add.f16x2", {operand::f16x2, "add.f16x2 %x, %x, %a;"}},
    {"mul.f16x2", {operand::f16x2, "mul.f16x2 %x, %x, %a;"}},
    {"fma.f16x2", {operand::f16x2, "fma.rn.f16x2 %x, %x, %a, %a;"}},
};

code_sequence chain_of(const operation& o) {
  code_sequence p{"", "", "", {o.step}, "selp.u32 %y, 1, 0, %p; xor.b32 %value, %value, %y; "};
  p.declarations = ".reg .u32 %y, %count; .reg .pred %p; ";
  p.before =
      "cvt.u32.u64 %count, %seed; and.b32 %count, %count, 1; add.u32 %count, %count, %thread; setp.ne.u32 %p, %count, 7; ";
  switch (o.type) {
    case operand::u32:
      p.declarations += ".reg .u32 %x, %a, %b;";
      p.before += "add.u32 %a, %count, 3; add.u32 %b, %count, 5; add.u32 %x, %count, 1000;";
      p.end += "xor.b32 %value, %value, %x;";
      break;
    case operand::f32:
      p.declarations += ".reg .f32 %x, %a, %b; .reg .s32 %n; .reg .f16 %h;";
      p.before += "cvt.rn.f32.u32 %a, %count; add.f32 %a, %a, 0f3F900000; add.f32 %b, %a, %a; add.f32 %x, %b, %a;";
      p.end += "mov.b32 %y, %x; xor.b32 %value, %value, %y;";
      break;
    case operand::f64:
      p.declarations += ".reg .f64 %x, %a, %b;";
      p.before +=
          "cvt.rn.f64.u32 %a, %count; add.f64 %a, %a, 0d3FF2000000000000; add.f64 %b, %a, %a; add.f64 %x, %b, %a;";
      p.end += "cvt.rn.f32.f64 %f, %x; mov.b32 %y, %f; xor.b32 %value, %value, %y;";
      p.declarations += " .reg .f32 %f;";
      break;
    case operand::f16:
      p.declarations += ".reg .f16 %x, %a;";
      p.before += "cvt.rn.f16.u32 %a, %count; add.f16 %x, %a, %a;";
      p.end += "cvt.rzi.u32.f16 %y, %x; xor.b32 %value, %value, %y;";
      break;
    case operand::f16x2:
      p.declarations += ".reg .b32 %x, %a;";
      p.before += "add.u32 %a, %count, 3; add.u32 %x, %count, 1000;";
      p.end += "xor.b32 %value, %value, %x;";
      break;
  }
  return p;
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  std::istringstream in(text);
  for (std::string word; in >> word;) {
    for (char& c : word)
      if (c == '+') c = ' ';
    words.push_back(word);
  }
  return words;
}

class latency : public ::testing::TestWithParam<std::string> {};

// All chains of a GPU run in sequence, each in two lengths; the difference is attributed to the chain.
TEST_P(latency, is_what_others_have_measured) {
  const std::string gpu = GetParam();
  constexpr unsigned shorter = 8, longer = 24;
  std::map<std::string, std::size_t> place;
  std::vector<microbench::launch> launches;
  std::string text;
  for (const figure& f : figures) {
    const auto gpus = words_of(f.gpus);
    if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) continue;
    for (const std::string& name : words_of(f.operations)) {
      ASSERT_EQ(operations.count(name), 1u) << name;
      if (!place.emplace(name, launches.size()).second) continue;
      for (const unsigned length : {shorter, longer}) {
        const std::string kernel = "chain_" + std::to_string(place[name]) + "_" + std::to_string(length);
        text += microbench::kernel(kernel, chain_of(operations.at(name)), length, 1);
        launches.push_back({kernel, 1});
      }
    }
  }
  const auto cycles = microbench::run("latency", gpu, microbench::module(text), launches);
  if (cycles.empty()) return;
  for (const figure& f : figures) {
    const auto gpus = words_of(f.gpus);
    if (std::find(gpus.begin(), gpus.end(), gpu) == gpus.end()) continue;
    for (const std::string& name : words_of(f.operations)) {
      const std::size_t at = place[name];
      double model = (cycles[at + 1] - cycles[at]) / (longer - shorter) / operations.at(name).instructions;
      if (name == "two clocks") model = cycles[at];
      if (name == "mov.b32") model -= (cycles[place["add.u32"] + 1] - cycles[place["add.u32"]]) / (longer - shorter);
      std::printf("%-10s %-16s latency %6.2f  published %4g  %+7.1f %%  %s%s%s\n", gpu.c_str(), name.c_str(), model,
                  f.published, 100 * (model / f.published - 1), f.source, *f.explained != 0 ? ": " : "", f.explained);
      if (*f.explained == 0) {
        EXPECT_NEAR(model, f.published, 0.01) << gpu << " " << name << " (" << f.source << ")";
      } else {
        EXPECT_GT(std::abs(model - f.published), 0.01) << gpu << " " << name << ": nothing is left to explain";
        microbench::expect_written("latency " + gpu + " " + name, model);
      }
    }
  }
}

TEST(explained_latencies, are_those_written_down) {
  std::set<std::string> rows;
  for (const figure& f : figures)
    for (const std::string& gpu : words_of(f.gpus))
      for (const std::string& name : words_of(f.operations))
        if (*f.explained != 0) rows.insert("latency " + gpu + " " + name);
  EXPECT_EQ(microbench::written_rows("latency"), rows);
}

INSTANTIATE_TEST_SUITE_P(all, latency,
                         ::testing::Values("g80", "gtx480", "gtxtitan", "gtx750ti", "gtx980", "p100", "gtx1080",
                                           "titanxp", "v100", "rtx2060", "rtx2080ti", "a100", "rtx3070", "rtx3080",
                                           "rtx4090", "h100"),
                         [](const auto& info) { return info.param; });

}  // namespace latency_test
