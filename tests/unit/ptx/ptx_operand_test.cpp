// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "heddle/frontend/ptx/syntax/ast.h"
#include "ptx_parsed.h"

namespace ptx_operand_test {

using namespace ptx_parsed;
using kind = ast_operand::kind;

TEST(ptx_operand, identifiers) {
  EXPECT_EQ(operand("%r1").text, "%r1");
  EXPECT_EQ(operand("%tid.x").component, "x");
  EXPECT_EQ(operand("a.b3210").component, "b3210");
  EXPECT_TRUE(operand("-%r1").negate);
  EXPECT_TRUE(operand("!%p1").invert);
  EXPECT_EQ(operand("_").what, kind::sink);
  EXPECT_EQ(operand("_x").what, kind::identifier);
  EXPECT_EQ(operand("sym+4").what, kind::identifier);
  EXPECT_EQ(operand("sym+4").offset, 4);
  EXPECT_EQ(operand("sym+-4*2+1").offset, -7);
}

TEST(ptx_operand, integers) {
  EXPECT_EQ(operand("-1").bits, ~std::uint64_t{0});
  EXPECT_EQ(operand("-1").text, "-1");
  EXPECT_EQ(operand("0xFFu").bits, 255u);
  EXPECT_EQ(operand("017").bits, 15u);
  EXPECT_EQ(operand("0b101U").bits, 5u);
  EXPECT_EQ(operand("18446744073709551615").bits, ~std::uint64_t{0});
  EXPECT_EQ(operand("WARP_SZ").bits, 32u);
  EXPECT_EQ(operand("0").what, kind::integer);
}

TEST(ptx_operand, constant_expressions) {
  EXPECT_EQ(operand("(1<<3)+4").bits, 12u);
  EXPECT_EQ(operand("(1<<3)+4").text, "(1<<3)+4");
  EXPECT_EQ(operand("2+3*4-8/2").bits, 10u);
  EXPECT_EQ(operand("8%3").bits, 2u);
  EXPECT_EQ(operand("(8)%WARP_SZ").bits, 8u);
  EXPECT_EQ(operand("-7/2").bits, static_cast<std::uint64_t>(-3));
  EXPECT_EQ(operand("-8>>1").bits, static_cast<std::uint64_t>(-4));
  EXPECT_EQ(operand("(.u64)-8>>1").bits, 0x7FFFFFFFFFFFFFFCu);
  EXPECT_EQ(operand("1<<64").bits, 0u);
  EXPECT_EQ(operand("-1 < 1U").bits, 0u);
  EXPECT_EQ(operand("-1 < 1").bits, 1u);
  EXPECT_EQ(operand("1 ? 2 : 0 ? 3 : 4").bits, 2u);
  EXPECT_EQ(operand("0 ? 2 : 0 ? 3 : 4").bits, 4u);
  EXPECT_EQ(operand("~0 & 0xF ^ 1 | 0x10").bits, 0x1Eu);
  EXPECT_EQ(operand("!3 || 2 && 5").bits, 1u);
  EXPECT_EQ(operand("(-9223372036854775807-1)/-1").bits, 0x8000000000000000u);
}

TEST(ptx_operand, floats) {
  EXPECT_EQ(operand("0f3F800000").what, kind::f32);
  EXPECT_EQ(operand("0F3f800000").bits, 0x3F800000u);
  EXPECT_EQ(operand("-0f3F800000").bits, 0xBF800000u);
  EXPECT_EQ(operand("0d3FF0000000000000").what, kind::f64);
  EXPECT_EQ(operand("1.5").bits, 0x3FF8000000000000u);
  EXPECT_EQ(operand("1.5e-3").bits, 0x3F589374BC6A7EFAu);
  EXPECT_EQ(operand("1e1").bits, 0x4024000000000000u);
  EXPECT_EQ(operand("2.").bits, 0x4000000000000000u);
  EXPECT_EQ(one("mov.f64 %fd1, .5;").operands.at(1).bits, 0x3FE0000000000000u);
  EXPECT_EQ(operand("1.0+0f3F800000").bits, 0x4000000000000000u);
}

TEST(ptx_operand, addresses) {
  EXPECT_EQ(operand("[%rd1]").what, kind::address);
  EXPECT_EQ(operand("[%rd1]").text, "%rd1");
  EXPECT_EQ(operand("[%rd1+-8]").offset, -8);
  EXPECT_EQ(operand("[sym + 4 + 4]").offset, 8);
  EXPECT_EQ(operand("[sym+-4]").offset, -4);
  EXPECT_EQ(operand("[0x10]").offset, 16);
  EXPECT_TRUE(operand("[0x10]").text.empty());
  const auto t = operand("[tex, smp, {%f1, %f2}]");
  EXPECT_EQ(t.text, "tex");
  ASSERT_EQ(t.list.size(), 2u);
  EXPECT_EQ(t.list[0].text, "smp");
  EXPECT_EQ(t.list[1].what, kind::vector);
  EXPECT_EQ(t.list[1].list.size(), 2u);
}

TEST(ptx_operand, array_elements) {
  const auto m = parsed(
      ".global .u32 a[4]; .global .u64 b[4][2];\n"
      ".entry k() { ld.global.u32 r, a[2]; mov.u64 d, b[1]; { .shared .u8 a[9]; ld.shared.u8 r, a[1+1]; } }");
  const auto& s = m->functions.at(0).body.statements;
  EXPECT_EQ(s.at(0).instruction.operands.at(1).what, kind::address);
  EXPECT_EQ(s.at(0).instruction.operands.at(1).offset, 8);
  EXPECT_EQ(s.at(1).instruction.operands.at(1).what, kind::identifier);
  EXPECT_EQ(s.at(1).instruction.operands.at(1).offset, 16);
  EXPECT_EQ(s.at(2).block->statements.at(0).instruction.operands.at(1).offset, 2);
}

TEST(ptx_operand, vectors_and_pairs) {
  const auto v = one("mov.b64 {%r1, _}, %rd1;").operands.at(0);
  EXPECT_EQ(v.what, kind::vector);
  ASSERT_EQ(v.list.size(), 2u);
  EXPECT_EQ(v.list[1].what, kind::sink);
  const auto p = one("shfl.sync.down.b32 %r1|%p1, %r2, 1, 31, -1;");
  ASSERT_EQ(p.operands.size(), 5u);
  EXPECT_EQ(p.operands[0].what, kind::pair);
  EXPECT_EQ(p.operands[0].list.at(1).text, "%p1");
  EXPECT_EQ(operand("{a, b}|p").list.at(0).what, kind::vector);
  EXPECT_EQ(operand("3|4").bits, 7u);
}

TEST(ptx_operand, calls) {
  const auto a = one("call.uni (ret), f, (p0, p1);");
  ASSERT_EQ(a.operands.size(), 3u);
  EXPECT_EQ(a.operands[0].what, kind::list);
  EXPECT_EQ(a.operands[1].text, "f");
  EXPECT_EQ(a.operands[2].list.size(), 2u);
  const auto b = one("call (r), %rd1, (a, 3), proto;");
  ASSERT_EQ(b.operands.size(), 4u);
  EXPECT_EQ(b.operands[1].text, "%rd1");
  EXPECT_EQ(b.operands[2].list.at(1).bits, 3u);
  EXPECT_EQ(b.operands[3].text, "proto");
  EXPECT_EQ(one("call f;").operands.size(), 1u);
  EXPECT_TRUE(one("call f, ();").operands.at(1).list.empty());
}

TEST(ptx_operand, long_forms) {
  const auto t = one(
      "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r1], [%rd1, {%r2, %r3}], [%r4];");
  EXPECT_EQ(t.modifiers.at(3), "2d");
  EXPECT_EQ(t.modifiers.at(4), "shared::cluster");
  EXPECT_EQ(t.modifiers.at(6), "mbarrier::complete_tx::bytes");
  EXPECT_EQ(t.operands.size(), 3u);
  EXPECT_EQ(one("vote.ballot.sync.b32 %r1, %p1, -1;").mnemonic(), "vote.ballot.sync.b32");
  EXPECT_EQ(one("brx.idx %r1, ts;").operands.at(1).text, "ts");
}

}  // namespace ptx_operand_test
