// SPDX-License-Identifier: MIT
// Parse results of PTX constructs. Errors are in ptx_parser_error_test.cpp.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/syntax/ast.h"

namespace ptx_parser_test {

using namespace heddle::ptx;
using heddle::isa::dtype;
using kind = ast_operand::kind;

std::shared_ptr<const ast_module> parsed(const std::string& text) {
  return parse(".version 8.0\n.target sm_80\n.address_size 64\n" + text, "t.ptx");
}

/// The first kernel's body.
std::shared_ptr<const ast_block> body(const std::string& text) {
  const auto m = parsed(".func f(); .entry k() {" + text + "}");
  return {m, &m->functions.at(1).body};
}

ast_instruction one(const std::string& text) { return body(text)->statements.at(0).instruction; }
ast_operand operand(const std::string& text) { return one("op " + text + ";").operands.at(0); }
ast_variable variable(const std::string& text) { return parsed(text)->variables.at(0); }

TEST(ptx_module, blanks_of_every_kind) {
  const auto m = parsed(".entry\vk\f(\r\n)\t{\v\fret;\f}\v");
  EXPECT_EQ(m->functions.at(0).name, "k");
  EXPECT_EQ(m->functions.at(0).body.statements.size(), 1u);
}

TEST(ptx_module, header) {
  const auto m = parse(".version 9.0\n.target sm_90a, texmode_independent, debug\n.address_size 64\n", "a.ptx");
  EXPECT_EQ(m->file, "a.ptx");
  EXPECT_EQ(m->version, "9.0");
  EXPECT_EQ(m->target, "sm_90a");
  EXPECT_EQ(m->target_options, (std::vector<std::string>{"texmode_independent", "debug"}));
  EXPECT_EQ(m->address_size, 64u);
  EXPECT_EQ(parse(".version 1.4 .target sm_13", "a.ptx")->address_size, 32u);
}

TEST(ptx_module, blanks_comments_and_lines) {
  const auto m = parse(
      "# 1 \"x.cu\"\r\n/* a\n b */ .version 8.0 // c\r\n.target sm_80\r\n\t@@DWARF .byte 0x1, \"\r\n.entry k(\\\n) { "
      "ret; }",
      "a");
  EXPECT_EQ(m->functions.at(0).where.line, 6u);
  EXPECT_EQ(m->functions.at(0).where.column, 8u);
  EXPECT_EQ(m->functions.at(0).body.statements.at(0).where.line, 7u);
}

TEST(ptx_module, directives_without_meaning_here) {
  const auto m = parsed(
      ".file 1 \"a.cu\"\n.file 2 \"dir\" \"b.cu\", 1700000000, 77\n.pragma \"nounroll\";\n"
      ".entry k() .pragma \"x\", \"y\"; {\n.loc 1 3 5\n.pragma \"z\";\nret;\n"
      ".loc 1 4 5, function_name $L__info_string0+12, inlined_at 1 22 3\nexit; }\n"
      ".section .debug_str { info: .b8 1, 2 { } .b64 $L__x-3 }\n.section .debug_loc { }");
  EXPECT_EQ(m->functions.at(0).body.statements.size(), 2u);
}

TEST(ptx_module, strings_hold_escaped_quotes) {
  const auto m = parsed(".file 1 \"a\\\"b\\\\.cu\"\n.entry k() { .pragma \"x\\\"y\"; ret; }");
  EXPECT_EQ(m->functions.at(0).body.statements.size(), 1u);
  EXPECT_THROW(parsed(".file 1 \"a.cu\\"), heddle::input_error);
  EXPECT_THROW(parsed(".file 1 \"a.cu\\\n\""), heddle::input_error);
}

// As ptxas 13 does.
TEST(ptx_module, only_line_markers_of_a_preprocessor_are_skipped) {
  const auto m = parsed(" # 1 \"x.cu\"\n\t#line 7 \"x.cu\"\n.entry k() {\n \t#1\t\"y\" 1 3\nret; # 4 \"z\"\n}");
  EXPECT_EQ(m->functions.at(0).body.statements.size(), 1u);
  for (const char* line : {"#if 0", "#endif", "#define x", "#undef x", "#pragma once", "#include \"a\"", "#line 5",
                           "# 1", "#", "# comment", "#line", "#lineno 3 \"f\"", "#file 1 \"x\""})
    EXPECT_THROW(parsed(".entry k() {\n" + std::string(line) + "\nret; }"), heddle::input_error) << line;
}

TEST(ptx_module, alias) {
  const auto m = parsed(".func g(); .func f() { ret; } .alias g, f;");
  ASSERT_EQ(m->aliases.size(), 1u);
  EXPECT_EQ(m->aliases[0].name, "g");
  EXPECT_EQ(m->aliases[0].target, "f");
}

TEST(ptx_variable, declarators) {
  const auto b = body(".reg .b32 %r<10>, x, $y; .reg .pred p; .reg .v4 .f32 v; .reg .b32 %none<0>;");
  ASSERT_EQ(b->variables.size(), 5u);
  EXPECT_EQ(b->variables[0].name, "%r");
  EXPECT_EQ(b->variables[0].range, 10u);
  EXPECT_EQ(b->variables[0].space, state_space::reg);
  EXPECT_EQ(b->variables[1].name, "x");
  EXPECT_EQ(b->variables[1].range, 0u);
  EXPECT_EQ(b->variables[2].name, "$y");
  EXPECT_EQ(b->variables[3].type, dtype::pred);
  EXPECT_EQ(b->variables[4].vector, 4u);
  EXPECT_EQ(b->variables[4].type, dtype::f32);
}

TEST(ptx_variable, arrays) {
  const auto v = variable(".shared .align 16 .b8 buf[2][3+1][5];");
  EXPECT_EQ(v.dims, (std::vector<std::int64_t>{2, 4, 5}));
  EXPECT_EQ(v.space, state_space::shared);
  EXPECT_EQ(v.elements(), 40u);
  EXPECT_EQ(v.size_bytes(), 40u);
  EXPECT_EQ(v.alignment(), 16u);
  const auto open = variable(".extern .shared .align 8 .f64 dyn[];");
  EXPECT_TRUE(open.is_extern);
  EXPECT_EQ(open.dims, (std::vector<std::int64_t>{-1}));
  EXPECT_EQ(open.elements(), 0u);
}

TEST(ptx_variable, natural_size_and_alignment) {
  EXPECT_EQ(variable(".global .u64 x;").size_bytes(), 8u);
  EXPECT_EQ(variable(".global .u64 x;").alignment(), 8u);
  EXPECT_EQ(variable(".global .v4 .f32 x[3];").size_bytes(), 48u);
  EXPECT_EQ(variable(".global .v4 .f32 x[3];").alignment(), 16u);
}

TEST(ptx_variable, linkage_attribute_bank_texture) {
  EXPECT_EQ(variable(".visible .global .attribute(.managed) .align 4 .u32 man = 3;").align, 4u);
  EXPECT_EQ(variable(".weak .const .u32 c;").space, state_space::constant);
  EXPECT_EQ(variable(".common .global .u32 c;").space, state_space::global);
  EXPECT_EQ(variable(".const[2] .u32 c;").name, "c");
  EXPECT_EQ(variable(".tex .u32 t;").type_name, "texref");
  EXPECT_EQ(
      parse(
          ".version 8.0\n.target sm_80, texmode_independent\n.global .samplerref s = { addr_mode_0 = wrap, force_unnormalized_coords = 1 };",
          "t.ptx")
          ->variables.at(0)
          .type_name,
      "samplerref");
}

TEST(ptx_initialiser, nested_rows_are_padded) {
  const auto v = variable(".global .s32 a[2][3] = {{1}, {-2, 3}};");
  ASSERT_EQ(v.initialiser.size(), 5u);
  EXPECT_EQ(v.initialiser[0].bits, 1u);
  EXPECT_EQ(v.initialiser[1].bits, 0u);
  EXPECT_EQ(v.initialiser[3].bits, 0xFFFFFFFEu);
  EXPECT_EQ(v.initialiser[4].bits, 3u);
}

TEST(ptx_initialiser, open_dimension_is_counted) {
  EXPECT_EQ(variable(".global .b8 a[] = {1, 2, 3};").dims[0], 3);
  EXPECT_EQ(variable(".global .b8 a[][4] = {{1}, {2}};").dims[0], 2);
  EXPECT_EQ(variable(".global .v2 .f32 a[] = {{1.0, 2.0}, {3.0, 4.0}};").dims[0], 2);
}

TEST(ptx_initialiser, conversion_to_the_element_type) {
  EXPECT_EQ(variable(".global .b8 a = -1;").initialiser.at(0).bits, 0xFFu);
  EXPECT_EQ(variable(".global .f32 a = 1.5;").initialiser.at(0).bits, 0x3FC00000u);
  EXPECT_EQ(variable(".global .f32 a = -0f3F800000;").initialiser.at(0).bits, 0xBF800000u);
  EXPECT_EQ(variable(".global .f64 a = 0f3F800000;").initialiser.at(0).bits, 0x3FF0000000000000u);
  EXPECT_EQ(variable(".global .f64 a = -(1.0+2)*3;").initialiser.at(0).bits, 0xC022000000000000u);
  EXPECT_EQ(variable(".global .b32 a = 0f3F800000;").initialiser.at(0).bits, 0x3F800000u);
}

TEST(ptx_initialiser, symbols) {
  const auto v = variable(".global .u64 a[6] = {x, y+4, generic(z)+8, 0xFF00(x), 0xFF(generic(y)+2), 7};");
  ASSERT_EQ(v.initialiser.size(), 6u);
  EXPECT_EQ(v.initialiser[0].symbol, "x");
  EXPECT_FALSE(v.initialiser[0].generic);
  EXPECT_EQ(v.initialiser[1].bits, 4u);
  EXPECT_EQ(v.initialiser[2].symbol, "z");
  EXPECT_TRUE(v.initialiser[2].generic);
  EXPECT_EQ(v.initialiser[2].bits, 8u);
  EXPECT_EQ(v.initialiser[3].mask, 0xFF00u);
  EXPECT_EQ(v.initialiser[4].mask, 0xFFu);
  EXPECT_TRUE(v.initialiser[4].generic);
  EXPECT_EQ(v.initialiser[4].bits, 2u);
  EXPECT_EQ(v.initialiser[5].bits, 7u);
}

TEST(ptx_function, entry_head) {
  const auto m = parsed(
      ".visible .entry k(.param .u64 .ptr .global .align 1 p, .param .align 8 .b8 s[24])\n"
      ".maxntid 128, 2\n.minnctapersm 3\n.maxnreg 64\n.explicitcluster .maxclusterrank 8\n{ ret; }\n"
      ".visible .entry l() .reqntid 32 .reqnctapercluster 2, 1, 1 .blocksareclusters { ret; }");
  const auto& f = m->functions.at(0);
  EXPECT_TRUE(f.is_entry);
  EXPECT_TRUE(f.has_body);
  EXPECT_FALSE(f.is_extern);
  ASSERT_EQ(f.parameters.size(), 2u);
  EXPECT_TRUE(f.parameters[0].pointer);
  EXPECT_EQ(f.parameters[0].align, 0u);
  EXPECT_EQ(f.parameters[1].size_bytes(), 24u);
  EXPECT_EQ(f.max_threads[0], 128u);
  EXPECT_EQ(f.max_threads[1], 2u);
  EXPECT_EQ(f.max_threads[2], 1u);
  EXPECT_EQ(f.min_blocks, 3u);
  EXPECT_EQ(f.max_registers, 64u);
  EXPECT_EQ(f.max_cluster_rank, 8u);
  EXPECT_EQ(m->functions.at(1).required_threads[0], 32u);
  EXPECT_EQ(m->functions.at(1).required_cluster[0], 2u);
  EXPECT_TRUE(m->functions.at(1).blocks_are_clusters);
  EXPECT_EQ(parsed(".entry k { ret; }")->functions.at(0).parameters.size(), 0u);
}

TEST(ptx_function, functions_and_declarations) {
  const auto m = parsed(
      ".extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);\n"
      ".func (.reg .u32 %1) %2 (.reg .u32 %3)\n.visible .func f .noreturn ;\n.weak .func g() .attribute(.unified(1, "
      "2)) { ret; }");
  ASSERT_EQ(m->functions.size(), 4u);
  EXPECT_TRUE(m->functions[0].is_extern);
  EXPECT_EQ(m->functions[0].returns.at(0).name, "r");
  EXPECT_EQ(m->functions[0].parameters.size(), 2u);
  EXPECT_EQ(m->functions[1].name, "%2");
  EXPECT_EQ(m->functions[1].returns.at(0).space, state_space::reg);
  EXPECT_FALSE(m->functions[1].has_body);
  EXPECT_TRUE(m->functions[2].no_return);
  EXPECT_TRUE(m->functions[3].has_body);
}

// Open64 omitted the semicolon after a declaration.
TEST(ptx_function, declarations_end_with_the_next_definition) {
  for (const char* next :
       {".func g() { ret; }", ".entry g() { ret; }", ".visible .func g() { ret; }", ".extern .func g();",
        ".weak .func g() { ret; }", ".global .u32 v;\n.func g() { ret; }", ".const .u32 v;\n.func g() { ret; }"}) {
    const auto m = parsed(std::string(".extern .func (.param .b32 r) f (.param .b64 a)\n") + next);
    ASSERT_EQ(m->functions.size(), 2u) << next;
    EXPECT_FALSE(m->functions[0].has_body) << next;
    EXPECT_EQ(m->functions[1].name, "g") << next;
  }
}

TEST(ptx_function, old_kernels_declare_parameters_in_the_body) {
  const char* rest = " .target sm_10 .entry k { .reg .u32 r; .param .u64 a; .param .u32 b; exit; }";
  const auto old = parse(std::string(".version 1.3") + rest, "a");
  EXPECT_EQ(old->functions.at(0).parameters.size(), 2u);
  EXPECT_EQ(old->functions.at(0).body.variables.size(), 1u);
  EXPECT_EQ(parse(std::string(".version 1.4") + rest, "a")->functions.at(0).parameters.size(), 0u);
}

TEST(ptx_statement, labels_blocks_tables) {
  const auto b = body(
      "L1: { .reg .u32 r; $L__2: mov.u32 r, 1; { .reg .u32 r; } } ts: .branchtargets L1, L3;\n"
      "ct: .calltargets f, f; pr : .callprototype (.param .b32 _) _ (.param .b64 _, .param .b8 _[16]) .noreturn; L3:");
  ASSERT_EQ(b->statements.size(), 6u);
  EXPECT_EQ(b->statements[0].what, ast_statement::kind::label);
  EXPECT_EQ(b->statements[0].label, "L1");
  EXPECT_EQ(b->statements[1].what, ast_statement::kind::block);
  EXPECT_EQ(b->statements[1].block->variables.at(0).name, "r");
  EXPECT_EQ(b->statements[1].block->statements.size(), 3u);
  EXPECT_EQ(b->statements[2].what, ast_statement::kind::branch_targets);
  EXPECT_EQ(b->statements[2].label, "ts");
  EXPECT_EQ(b->statements[2].targets, (std::vector<std::string>{"L1", "L3"}));
  EXPECT_EQ(b->statements[3].what, ast_statement::kind::call_targets);
  EXPECT_EQ(b->statements[4].what, ast_statement::kind::call_prototype);
  EXPECT_EQ(b->statements[4].prototype->parameters.at(1).size_bytes(), 16u);
  EXPECT_TRUE(b->statements[4].prototype->no_return);
  EXPECT_EQ(b->statements[5].label, "L3");
}

TEST(ptx_statement, guards_and_mnemonics) {
  const auto i = one("@!%p1 ld.global.nc.L2::128B.v2.f32 {%f1, %f2}, [%rd1+8];");
  EXPECT_EQ(i.guard, "%p1");
  EXPECT_TRUE(i.guard_negate);
  EXPECT_EQ(i.opcode, "ld");
  EXPECT_EQ(i.modifiers, (std::vector<std::string>{"global", "nc", "L2::128B", "v2", "f32"}));
  EXPECT_EQ(i.mnemonic(), "ld.global.nc.L2::128B.v2.f32");
  EXPECT_FALSE(one("@p bra L;").guard_negate);
  EXPECT_EQ(one("mma.sync.aligned.m16n8k16 .row.col.f32 x;").modifiers.at(2), "m16n8k16");
  EXPECT_EQ(one("frobnicate.2d.v4.x;").mnemonic(), "frobnicate.2d.v4.x");
  EXPECT_TRUE(one("ret;").operands.empty());
}

TEST(ptx_statement, positions) {
  const auto m = parsed(".entry k() {\n  add.u32\n    %r1, %r2,\n\t-7;\n}");
  const auto& i = m->functions.at(0).body.statements.at(0).instruction;
  EXPECT_EQ(i.where.line, 5u);
  EXPECT_EQ(i.where.column, 3u);
  EXPECT_EQ(i.operands.at(1).where.line, 6u);
  EXPECT_EQ(i.operands.at(1).where.column, 10u);
  EXPECT_EQ(i.operands.at(2).where.line, 7u);
  EXPECT_EQ(i.operands.at(2).where.column, 2u);
}

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

TEST(ptx_speed, long_input_in_linear_time) {
  std::string text = ".entry k() {\n";
  while (text.size() < 4'000'000)
    text += "\tfma.rn.f32 \t%f1, %f2, 0f3F800000, %f3;\n\tld.global.f32 %f2, [%rd1+128]; // x\n";
  text += "}";
  const auto start = std::chrono::steady_clock::now();
  const auto m = parsed(text);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
  EXPECT_GT(m->functions.at(0).body.statements.size(), 80000u);
  EXPECT_LT(taken.count(), 5.0);  // loose, for sanitizers and busy machines; a quadratic parser takes minutes
}

}  // namespace ptx_parser_test
