// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "heddle/frontend/sass_trace/code/translate.h"
#include "heddle/isa/matrix.h"
#include "sass_trace_files.h"

namespace heddle::sass_trace {
namespace sass_trace_opcodes_test {

using namespace sass_trace_test;
using c = isa::op_class;
using o = isa::opcode;

code_entry entry(generation g, const std::string& opcode, std::vector<std::uint8_t> results,
                 std::vector<std::uint8_t> operands, unsigned bytes = 0, std::int64_t immediate = 0) {
  static_fields f;
  f.pc = 0x40;
  f.opcode = opcode;
  f.results = std::move(results);
  f.operands = std::move(operands);
  f.bytes = bytes;
  f.immediate = immediate;
  return translate(g, f);
}

TEST(sass_trace_opcodes, floating_point_operations_follow_from_the_table) {
  using rule = isa::flop_rule;
  EXPECT_EQ(entry(generation::volta, "FFMA.FTZ", {1}, {2, 3, 4}).flops, rule::fused);
  EXPECT_EQ(entry(generation::volta, "FADD32I", {1}, {2}).flops, rule::one);
  EXPECT_EQ(entry(generation::volta, "HADD2", {1}, {2, 3}).flops, rule::one);
  EXPECT_EQ(entry(generation::volta, "HADD2.F32", {1}, {2}).flops, rule::none);  // a conversion
  EXPECT_EQ(entry(generation::ampere, "HMMA.16816.F32", {4}, {8, 12, 4}).flops, rule::product);
  EXPECT_EQ(entry(generation::ampere, "IMMA.16816.S8.S8", {4}, {8, 12, 4}).flops, rule::none);
  EXPECT_EQ(entry(generation::hopper, "QGMMA.64x128x32.F32.E4M3.E4M3", {24}, {24}).flops, rule::group);
}

TEST(sass_trace_opcodes, classes_by_generation) {
  const struct {
    generation g;
    const char* mnemonic;
    c timing;
    bool known;
  } cases[] = {
      {generation::pascal, "XMAD", c::int_multiply, true}, {generation::volta, "XMAD", c::int_multiply, false},
      {generation::volta, "HMMA", c::tensor, true},        {generation::pascal, "HMMA", c::tensor, false},
      {generation::turing, "UIADD3", c::int_add, true},    {generation::volta, "UIADD3", c::int_add, false},
      {generation::kepler, "FFMA", c::fp32_add, true},     {generation::hopper, "FFMA", c::fp32_add, true},
      {generation::ampere, "MUFU", c::sfu, true},          {generation::ampere, "DFMA", c::fp64_fma, true},
      {generation::maxwell, "HFMA2", c::half_add, true},   {generation::ampere, "SHFL", c::shuffle, true},
      {generation::ampere, "ISETP", c::int_compare, true}, {generation::ampere, "FMNMX", c::fp32_minmax, true},
      {generation::ampere, "SHF", c::int_shift, true},     {generation::ampere, "S2R", c::special_register, true},
      {generation::ampere, "VOTE", c::vote, true},         {generation::ampere, "I2F", c::conversion, true},
      {generation::ampere, "POPC", c::bit_count, true},    {generation::ampere, "BSSY", c::branch, true},
      {generation::ampere, "FNEW", c::fp32_add, false},    {generation::ampere, "DNEW", c::fp64_add, false},
      {generation::ampere, "HNEW", c::half_add, false},    {generation::ampere, "QMMA", c::tensor, false},
      {generation::ampere, "NEW", c::int_add, false},      {generation::ampere, "WHATSETP", c::int_compare, false}};
  for (const auto& k : cases) {
    const opcode_meaning m = meaning_of(k.g, k.mnemonic, 0, true);
    EXPECT_EQ(m.timing, k.timing) << k.mnemonic;
    EXPECT_EQ(m.known, k.known) << k.mnemonic;
  }
  generation g{};
  EXPECT_TRUE(generation_of(61, g));
  EXPECT_EQ(g, generation::pascal);
  EXPECT_TRUE(generation_of(89, g));
  EXPECT_EQ(g, generation::ampere);
  EXPECT_FALSE(generation_of(20, g));
}

TEST(sass_trace_opcodes, memory) {
  const struct {
    const char* opcode;
    unsigned traced;
    o op;
    isa::space space;
    unsigned bytes;
    unsigned results;
  } cases[] = {{"LDG.E.128.SYS", 16, o::ld, isa::space::global, 16, 4},
               {"LDG.E.64", 8, o::ld, isa::space::global, 8, 2},
               {"LDG.E", 4, o::ld, isa::space::global, 4, 1},
               {"LDG.E.U8", 1, o::ld, isa::space::global, 1, 1},
               {"LDS.U.128", 16, o::ld, isa::space::shared, 16, 4},
               {"LDS.S16", 4, o::ld, isa::space::shared, 2, 1},
               {"LDL.64", 8, o::ld, isa::space::local, 8, 2},
               {"LD.E", 4, o::ld, isa::space::generic, 4, 1},
               {"LDSM.16.M88.4", 16, o::ld, isa::space::shared, 16, 4},
               {"LDSM.16.M88.2", 16, o::ld, isa::space::shared, 16, 2},
               {"ATOMG.E.ADD.STRONG.GPU", 4, o::atom, isa::space::global, 4, 1},
               {"ATOMS.CAS.64", 8, o::atom, isa::space::shared, 8, 2},
               {"LDNEWS", 4, o::ld, isa::space::shared, 4, 1}};
  for (const auto& k : cases) {
    const code_entry e = entry(generation::ampere, k.opcode, {8}, {4, 6}, k.traced);
    EXPECT_EQ(e.instruction.op, k.op) << k.opcode;
    EXPECT_EQ(e.timing, c::load_store) << k.opcode;
    EXPECT_EQ(e.instruction.mem_space, k.space) << k.opcode;
    EXPECT_EQ(isa::size_of(e.instruction.type), k.bytes) << k.opcode;
    EXPECT_EQ(e.instruction.dst, 8u) << k.opcode;
    EXPECT_EQ(e.instruction.dst_count, k.results) << k.opcode;
  }
  const code_entry store = entry(generation::volta, "STG.E.128.SYS", {}, {4, 8}, 16);
  EXPECT_EQ(store.instruction.op, o::st);
  EXPECT_EQ(store.instruction.src[0].count, 2u);
  EXPECT_EQ(store.instruction.src[1].count, 4u);
  EXPECT_EQ(store.instruction.dst_count, 0u);
  const code_entry copy = entry(generation::ampere, "LDGSTS.E.BYPASS.128", {}, {3, 4}, 16);
  EXPECT_EQ(copy.instruction.op, o::ldgsts);
  EXPECT_EQ(copy.instruction.src[0].count, 1u);
  EXPECT_EQ(copy.instruction.src[1].count, 2u);
  EXPECT_TRUE(entry(generation::ampere, "ATOMS.POPC.INC.32", {}, {4}, 4).instruction.counts);
  EXPECT_FALSE(entry(generation::ampere, "ATOMS.ADD", {}, {4, 5}, 4).instruction.counts);
  // Without addresses the instruction takes a slot in the unit, but makes no access.
  EXPECT_EQ(entry(generation::ampere, "LDG.E", {8}, {4}).timing, c::shuffle);
  EXPECT_EQ(entry(generation::ampere, "LDL.64", {8}, {}).instruction.mem_space, isa::space::global);
  EXPECT_EQ(entry(generation::ampere, "LDC.64", {8}, {4}).instruction.op, o::ldc);
}

TEST(sass_trace_opcodes, widths_of_registers) {
  const code_entry mma = entry(generation::ampere, "HMMA.16816.F32", {12}, {4, 8, 12});
  EXPECT_EQ(mma.instruction.dst_count, 4u);
  EXPECT_EQ(mma.instruction.src[0].count, 4u);
  EXPECT_EQ(mma.instruction.src[1].count, 2u);
  EXPECT_EQ(mma.instruction.src[2].count, 4u);
  EXPECT_EQ(entry(generation::ampere, "HMMA.16816.F16", {12}, {4, 8, 12}).instruction.dst_count, 2u);
  EXPECT_EQ(entry(generation::ampere, "DFMA", {2}, {4, 6, 8}).instruction.src[2].count, 2u);
  EXPECT_EQ(entry(generation::ampere, "DFMA", {2}, {4, 6, 8}).instruction.dst_count, 2u);
  const code_entry wide = entry(generation::ampere, "IMAD.WIDE.U32", {2}, {4, 6, 8});
  EXPECT_EQ(wide.instruction.dst_count, 2u);
  EXPECT_EQ(wide.instruction.src[1].count, 1u);
  EXPECT_EQ(wide.instruction.src[2].count, 2u);
  EXPECT_EQ(entry(generation::ampere, "F2F.F64.F32", {2}, {4}).instruction.dst_count, 2u);
  EXPECT_EQ(entry(generation::ampere, "F2F.F32.F64", {2}, {4}).instruction.dst_count, 1u);
  EXPECT_EQ(entry(generation::ampere, "F2I.S64.TRUNC", {2}, {4}).instruction.dst_count, 2u);
  EXPECT_EQ(entry(generation::ampere, "F2I.TRUNC.NTZ", {2}, {4}).instruction.dst_count, 1u);
  EXPECT_EQ(entry(generation::ampere, "I2F.F64", {2}, {4}).instruction.dst_count, 2u);
  EXPECT_EQ(entry(generation::ampere, "FRND.F64", {2}, {4}).instruction.dst_count, 2u);
  EXPECT_EQ(entry(generation::hopper, "IADD3", {2, 3, 4}, {4}).instruction.dst_count, 3u);
  // No register range extends beyond R254, and R255 is not a register.
  EXPECT_EQ(entry(generation::ampere, "LDG.E.128", {253}, {254}, 16).instruction.dst_count, 2u);
  EXPECT_EQ(entry(generation::ampere, "LDG.E.128", {255}, {4}, 16).instruction.dst_count, 0u);
  EXPECT_EQ(entry(generation::ampere, "IADD3", {2}, {255, 3}).instruction.src[0].kind, isa::operand_kind::none);
}

TEST(sass_trace_opcodes, control) {
  EXPECT_EQ(entry(generation::ampere, "EXIT", {}, {}).instruction.op, o::exit);
  EXPECT_EQ(entry(generation::ampere, "BRA", {}, {}).instruction.op, o::bra);
  EXPECT_EQ(entry(generation::ampere, "BAR.SYNC.DEFER_BLOCKING", {}, {}).instruction.op, o::bar);
  EXPECT_EQ(entry(generation::ampere, "BAR.ARV", {}, {}).instruction.sub, 1u);
  EXPECT_EQ(entry(generation::ampere, "MEMBAR.SC.GPU", {}, {}).instruction.op, o::membar);
  EXPECT_EQ(entry(generation::ampere, "LDGDEPBAR", {}, {}).instruction.op, o::ldgdepbar);
  for (const int groups : {0, 1, 5}) {
    const isa::instruction wait = entry(generation::ampere, "DEPBAR.LE", {}, {}, 0, groups).instruction;
    EXPECT_EQ(wait.op, o::depbar);
    EXPECT_EQ(wait.sub, groups);
  }
  EXPECT_EQ(entry(generation::maxwell, "DEPBAR.LE", {}, {}, 0, 0).instruction.op, o::nop);
}

TEST(sass_trace_opcodes, matrices) {
  using t = isa::dtype;
  using s = isa::matrix_shape;
  const struct {
    const char* opcode;
    t type, source;
    s shape;
    unsigned result, a, b;
  } cases[] = {{"HMMA.884.F32.F32.STEP0", t::f32, t::f16, s::m8n8k4, 2, 2, 2},
               {"HMMA.884.F16.F16.STEP0", t::f16, t::f16, s::m8n8k4, 2, 2, 2},
               {"HMMA.1684.F32.TF32", t::f32, t::b32, s::m16n8k4, 4, 2, 1},
               {"HMMA.1688.F32", t::f32, t::f16, s::m16n8k8, 4, 2, 1},
               {"HMMA.1688.F32.BF16", t::f32, t::bf16, s::m16n8k8, 4, 2, 1},
               {"HMMA.1688.F16", t::f16, t::f16, s::m16n8k8, 2, 2, 1},
               {"HMMA.16816.F32", t::f32, t::f16, s::m16n8k16, 4, 4, 2},
               {"HGMMA.64x8x16.F32", t::f32, t::f16, s::m16n8k8, 4, 2, 1},
               {"QGMMA.64x8x32.F16.E4M3.E4M3", t::f16, t::e4m3x2, s::m16n8k8, 4, 2, 1},
               {"IMMA.8816.S8.S8", t::s32, t::s8, s::m8n8k16, 2, 1, 1},
               {"IMMA.16816.U8.U8", t::s32, t::s8, s::m16n8k16, 4, 2, 1},
               {"IMMA.16832.S8.S8", t::s32, t::s8, s::m16n8k32, 4, 4, 2},
               {"DMMA.884", t::s32, t::f64, s::m8n8k4, 4, 2, 2},
               {"DMMA.8x8x4", t::s32, t::f64, s::m8n8k4, 4, 2, 2},
               {"DMMA.16x8x4", t::s32, t::f64, s::m16n8k4, 8, 4, 2},
               {"DMMA.1688", t::s32, t::f64, s::m16n8k8, 8, 8, 4},
               {"DMMA.16x8x16", t::s32, t::f64, s::m16n8k16, 8, 16, 8}};
  for (const auto& k : cases) {
    const isa::instruction i = entry(generation::hopper, k.opcode, {8}, {16, 24, 32}).instruction;
    EXPECT_EQ(i.type, k.type) << k.opcode;
    EXPECT_EQ(i.src_type, k.source) << k.opcode;
    EXPECT_EQ(i.sub, static_cast<unsigned>(k.shape)) << k.opcode;
    EXPECT_EQ(i.dst_count, k.result) << k.opcode;
    EXPECT_EQ(i.src[0].count, k.a) << k.opcode;
    EXPECT_EQ(i.src[1].count, k.b) << k.opcode;
    EXPECT_EQ(i.src[2].count, k.result) << k.opcode;
  }
}

// Of a warp, in multiply-adds of the type by which the tensor cores' rate is given.
TEST(sass_trace_opcodes, multiply_adds_of_matrices) {
  const struct {
    const char* opcode;
    unsigned products;
  } cases[] = {{"HMMA.884.F32.F32.STEP0", 256},
               {"HMMA.1688.F32", 16 * 8 * 8},
               {"HMMA.16816.F32", 16 * 8 * 16},
               {"HMMA.SP.16832.F32", 16 * 8 * 16},
               {"IMMA.16832.S8.S8", 16 * 8 * 32},
               {"IMMA.SP.16864.S8.S8", 16 * 8 * 32},
               {"IMMA.8832.S4.S4", 8 * 8 * 32 / 2},
               {"IMMA.16832.U4.S4", 16 * 8 * 32 / 2},
               {"IMMA.16864.S4.U4.SAT", 16 * 8 * 64 / 2},
               {"BMMA.88128.XOR.POPC", 8 * 8 * 128 / 8},
               {"BMMA.168256.AND.POPC", 16 * 8 * 256 / 8},
               {"DMMA.884", 8 * 8 * 4},
               {"DMMA.1684", 16 * 8 * 4},
               {"DMMA.16x8x16", 16 * 8 * 16},
               {"HGMMA.64x8x16.F32", 16 * 8 * 16},
               {"HGMMA.64x256x16.F32.BF16", 16 * 256 * 16},
               {"HGMMA.SP.64x256x32.F32", 16 * 256 * 16},
               {"QGMMA.64x128x32.F32.E4M3.E5M2", 16 * 128 * 32},
               {"IGMMA.64x64x32.S8.S8", 16 * 64 * 32},
               {"BGMMA.64x16x256.AND.POPC", 16 * 16 * 256 / 8}};
  for (const auto& k : cases)
    EXPECT_EQ(isa::multiply_adds(entry(generation::hopper, k.opcode, {8}, {16, 24, 32}).instruction), k.products)
        << k.opcode;
}

// The size in the opcode counts, whatever the line says; without one that of the line, if it is a size.
TEST(sass_trace_opcodes, sizes_of_accesses) {
  using t = isa::dtype;
  const struct {
    const char* opcode;
    unsigned traced;
    t type;
  } cases[] = {{"LDG.E.U8", 4, t::u8},   {"LDG.E.S8", 4, t::s8},       {"LDG.E.U16", 4, t::u16},
               {"LDG.E.S16", 4, t::s16}, {"LDG.E", 8, t::b64},         {"LDG.E", 4, t::b32},
               {"LDG.E", 3, t::b32},     {"LDG.E.64", 4, t::b64},      {"LDS.U.128", 4, t::b128},
               {"LDS.U", 16, t::b128},   {"LD.E.B64", 4, t::b64},      {"LDL.S", 2, t::u16},
               {"LDS.B", 1, t::u8},      {"LDSM.16.M88.4", 4, t::b128}};
  for (const auto& k : cases)
    EXPECT_EQ(entry(generation::ampere, k.opcode, {8}, {4}, k.traced).instruction.type, k.type) << k.opcode;
  EXPECT_EQ(entry(generation::ampere, "ATOMG.E.ADD.128", {8}, {4, 6}, 16).instruction.type, t::b64);
  EXPECT_EQ(entry(generation::ampere, "ATOMG.E.EXCH.128.STRONG.GPU", {8}, {4, 6}, 16).instruction.type, t::b128);
  EXPECT_EQ(entry(generation::ampere, "RED.E.ADD.U8", {}, {4, 6}, 1).instruction.type, t::b32);
}

TEST(sass_trace_opcodes, caches_and_scopes) {
  using k = isa::cache_op;
  const auto load = [](const char* opcode) { return entry(generation::ampere, opcode, {8}, {4}, 4).instruction; };
  EXPECT_EQ(load("LDG.E.CONSTANT").cache, k::nc);
  EXPECT_EQ(load("LDG.E.CI").cache, k::nc);
  EXPECT_EQ(load("LDG.E.CG").cache, k::cg);
  EXPECT_EQ(load("LDG.E.STRONG.GPU").cache, k::volatile_);
  EXPECT_EQ(load("LDG.E.STRONG.CTA").cache, load("LDG.E").cache);
  EXPECT_EQ(load("LDG.E.GPU").cache, load("LDG.E").cache);
  for (const char* system : {"LDG.E.STRONG.SYS", "LDG.E.CV"}) EXPECT_TRUE(load(system).system) << system;
  for (const char* device : {"LDG.E.STRONG.GPU", "LDG.E.SYS", "LDG.E"}) EXPECT_FALSE(load(device).system) << device;
  EXPECT_EQ(load("LDG.E.STRONG.SYS").cache, k::volatile_);
  EXPECT_EQ(load("LDG.E.CV").cache, k::cv);

  const auto fence = [](const char* opcode) { return entry(generation::ampere, opcode, {}, {}).instruction.sub; };
  EXPECT_EQ(fence("MEMBAR.SC.CTA"), 0u);
  EXPECT_EQ(fence("MEMBAR.SC.GPU"), 1u);
  EXPECT_EQ(fence("MEMBAR.GL"), 1u);
  EXPECT_EQ(fence("MEMBAR.SC.SYS"), 2u);

  const auto sleep = [](std::int64_t time) {
    return entry(generation::ampere, "NANOSLEEP", {}, {}, 0, time).instruction.src[0].value;
  };
  EXPECT_EQ(sleep(-5), 0u);
  EXPECT_EQ(sleep(1000000), 1000000u);
  EXPECT_EQ(sleep(1000001), 1000000u);
}

}  // namespace sass_trace_opcodes_test
}  // namespace heddle::sass_trace
