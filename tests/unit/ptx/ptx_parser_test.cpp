// SPDX-License-Identifier: MIT
// Parse results of PTX constructs. Errors are in ptx_parser_error_test.cpp.
#include <gtest/gtest.h>

#include <chrono>
#include <string>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/syntax/ast.h"
#include "ptx_parsed.h"

namespace ptx_parser_test {

using namespace ptx_parsed;
using heddle::isa::dtype;

TEST(ptx_module, blanks_of_every_kind) {
  const auto m = parsed(".entry\fk\f(\r\n)\t{\f\tret;\f}\f");
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

// A call that was inlined into one that was inlined, as nvcc -lineinfo writes it; another function; code of no place.
TEST(ptx_module, a_source_map_follows_lines_and_inlined_calls) {
  const auto m = parsed(
      ".entry k() {\n.loc 1 8 0\nmov.u32 %r1, 0;\n\n.loc 1 11 3\n.loc 1 6 3, function_name $L__info_string0, inlined_at 1 11 3\n"
      ".loc 2 3 9, function_name $L__info_string1, inlined_at 1 6 3\nret;\n}\n"
      ".entry other() {\nret;\n.loc 2 40 1\nret; }\n.file 1 \"/d/k.cu\"\n.file 2 \"/d\" \"h.cuh\"\n"
      ".section .debug_str { $L__info_string0: .b8 95,90,52,98,111,116,104,80,75,102,105,0\n$L__info_string1:\n.b8 102,0 }");
  ASSERT_NE(m->source, nullptr);
  const std::uint32_t first = m->functions.at(0).where.line;
  const auto text = [&](std::uint32_t line) { return m->source->text(first + line); };
  EXPECT_EQ(text(0), "");
  EXPECT_EQ(text(2), "/d/k.cu:8");
  EXPECT_EQ(m->source->short_text(first + 3), "k.cu:8");
  EXPECT_EQ(text(4), "/d/k.cu:11");
  EXPECT_EQ(text(5), "/d/k.cu:6 in both(float const*, int), called at /d/k.cu:11");
  EXPECT_EQ(text(7), "/d/h.cuh:3 in f, called at /d/k.cu:6 in both(float const*, int), called at /d/k.cu:11");
  EXPECT_EQ(m->source->short_stack(first + 7), "h.cuh:3, called at k.cu:6, called at k.cu:11");
  EXPECT_EQ(text(10), "") << "another function begins";
  EXPECT_EQ(text(12), "/d/h.cuh:40");
  EXPECT_EQ(parsed(".entry k() { ret; }")->source, nullptr);
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
  EXPECT_EQ(i.op, ptx_op::ld);
  EXPECT_EQ(one("frobnicate.x;").op, unknown_op);
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
