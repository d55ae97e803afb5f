// SPDX-License-Identifier: MIT
// Positions and messages of parser errors: every message is compared as a whole.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/syntax/ast.h"

namespace ptx_parser_error_test {

struct error_case {
  std::string text;  // text after the three header lines; with a leading "!": the whole source
  std::string message;
};

const std::string header = ".version 8.0\n.target sm_80\n.address_size 64\n";

std::string message_of(const error_case& c) {
  const std::string source = c.text.rfind('!', 0) == 0 ? c.text.substr(1) : header + c.text;
  try {
    static_cast<void>(heddle::ptx::parse(source, "t.ptx"));
  } catch (const heddle::input_error& e) {
    return e.what();
  }
  return "no error";
}

void check(const std::vector<error_case>& cases) {
  for (const error_case& c : cases) EXPECT_EQ(message_of(c), "t.ptx:" + c.message) << c.text.substr(0, 200);
}

TEST(ptx_errors, modules) {
  check({
      {"!", "1:1: unexpected end of file, expected '.version' at the start of the module"},
      {"!\n .target sm_80", "2:2: unexpected '.target', expected '.version' at the start of the module"},
      {"!.version x", "1:10: unexpected 'x', expected a version such as 8.0"},
      {"!.version 8.0", "1:13: unexpected end of file, expected '.target' in the module"},
      {"!.version 8.0 .target 3", "1:22: unexpected '3', expected a target such as sm_80"},
      {"!.version 8.0 .target sm_80 .address_size 16", "1:42: address size 16, expected 32 or 64"},
      {".foo;", "4:1: unknown directive '.foo', expected a variable, a function or a directive of a module"},
      {";", "4:1: unexpected ';', expected a directive"},
      {".visible add;", "4:10: unexpected 'add', expected a variable or function"},
      {".alias f g;", "4:10: unexpected 'g', expected ','"},
  });
}

TEST(ptx_errors, characters) {
  check({
      {"/* \n", "4:1: unterminated comment, expected '*/' before the end of the file"},
      {".pragma \"x;\n\"", "4:9: unterminated string, expected '\"' before the end of the line"},
      {".global .u32 \xC3\xA4;", "4:14: unexpected byte 0xC3, expected plain ASCII text"},
      {".global .u32\v x;", "4:13: unexpected byte 0x0B, expected plain ASCII text"},
      {std::string(".global .u32 \0;", 15), "4:14: unexpected byte 0x00, expected plain ASCII text"},
      {".global .u32 `;", "4:14: unexpected character '`', expected a token of PTX"},
      {".global .u32 x = 0f123;", "4:18: malformed number, expected 8 hexadecimal digits after '0f'"},
      {".global .f64 x = 0d3FF000000000000G;", "4:18: malformed number, expected 16 hexadecimal digits after '0d'"},
      {".global .u32 x = 0xU;", "4:18: malformed number, expected hexadecimal digits"},
      {".global .u32 x = 089;", "4:18: malformed number, expected octal digits, found '8'"},
      {".global .u32 x = 12ab;", "4:18: malformed number, expected decimal digits, found 'a'"},
      {".global .u32 x = 18446744073709551616;", "4:18: integer too large, expected at most 64 bits"},
      {".global .f32 x = 1.5e+;", "4:18: malformed number, expected the digits of its exponent"},
      {".global .f32 x = 1.5x;", "4:18: malformed number, expected a blank or an operator after its digits"},
  });
}

TEST(ptx_errors, unterminated) {
  check({
      {".entry k()\n{\n ret;\n", "5:1: unterminated '{', expected '}' before the end of the file"},
      {".entry k()\n{\n { ret;\n", "6:2: unterminated '{', expected '}' before the end of the file"},
      {".entry k() { ld.u32 %r1, [%rd1", "4:26: unterminated '[', expected ']' before the end of the file"},
      {".entry k(.param .u32 x,", "4:9: unterminated '(', expected ')' before the end of the file"},
      {".global .u32 x[3] = {1,", "4:21: unterminated '{', expected '}' before the end of the file"},
      {".section .debug_info {\n.b8 1", "4:22: unterminated '{', expected '}' before the end of the file"},
      {".global .attribute(.managed .u32 x;", "4:19: unterminated '(', expected ')' before the end of the file"},
  });
}

TEST(ptx_errors, declarations) {
  check({
      {".global x;", "4:9: unexpected 'x', expected a type (.b32, .f64, .pred, ...)"},
      {".global .u33 x;", "4:9: unexpected '.u33', expected a type (.b32, .f64, .pred, ...)"},
      {".global .u32 .u32 x;", "4:14: unexpected '.u32', expected a name"},
      {".global .u32;", "4:13: unexpected ';', expected a name"},
      {".global .align 3 .u32 x;", "4:16: alignment 3, expected a power of two"},
      {".global .u32 x y;", "4:16: unexpected 'y', expected ',', '=' or ';'"},
      {".global .u32 x[2][];", "4:19: unexpected ']', expected the size of the dimension"},
      {".global .u32 x[-1];", "4:15: array dimension is no size, expected a non-negative integer"},
      {".global .u32 x[0x7fffffffffff];", "4:15: array 'x' is too large, expected at most 1 TiB"},
      {".reg .u32 %r<99999999999>;",
       "4:14: '99999999999' is too large, expected the number of names of at most 16777216"},
      {".global .u32 x = ;", "4:18: unexpected ';', expected an initial value"},
      {".global .u32 x = 1.5;", "4:18: floating-point value for a variable of type .u32, expected an integer"},
      {".global .f32 x = 1;", "4:18: integer value for a variable of type .f32, expected a floating-point value"},
      {".global .u32 x[2] = {1, 2, 3};", "4:28: too many initial values, expected at most 2 in this variable"},
      {".global .u32 x[2][2] = {{1, 2, 3}};", "4:33: too many initial values, expected at most 2 in this row"},
      {".global .u32 x[2][2] = {1, {2}};", "4:28: unexpected '{', expected a value, as the row before is not complete"},
      {".global .u32 x[2] = 1;", "4:21: unexpected '1', expected '{'"},
      {".global .u32 x = {1};", "4:18: unexpected '{', expected a single value"},
      {".global .u32 x = 1/0;", "4:19: division by zero, expected a divisor other than 0"},
      {".global .u32 x = 1.0 & 2;", "4:22: operator '&' on a floating-point value, expected integers"},
      {".global .u32 x[3000000][2] = {{1},{2}, {}, {3, 4, 5}};",
       "4:52: too many initial values, expected at most 2 in this row"},
      {".global .u8 x[9][2000000] = {{1}, {2}};",
       "4:36: initialiser leaves out too many values, expected at most 1048576"},
  });
}

TEST(ptx_errors, functions) {
  check({
      {".entry (", "4:8: unexpected '(', expected the kernel's name"},
      {".func 3;", "4:7: unexpected '3', expected the function's name"},
      {".entry k(.u32 x)", "4:10: unexpected '.u32', expected a state space (.reg, .param, ...)"},
      {".entry k(.param .u32 x .param .u32 y)", "4:24: unexpected '.param', expected ',' or ')'"},
      {".entry k() .maxntid x {}", "4:21: unexpected 'x', expected a number of threads or blocks"},
      {".entry k() .fancy 3 {}", "4:12: unknown directive '.fancy', expected '{' or ';' after the head of 'k'"},
      {".entry k() ret;", "4:12: unexpected 'ret', expected '{' or ';'"},
  });
}

TEST(ptx_errors, statements) {
  check({
      {".entry k() { ret }", "4:18: unexpected '}', expected an operand or ';'"},
      {".entry k() { ret;; }", "4:18: unexpected ';', expected an instruction, a label, a declaration or '}'"},
      {".entry k() {\n\tadd.u32 %r1, ;", "5:15: unexpected ';', expected an operand"},
      {".entry k() { add.u32 %r1 %r2; }", "4:26: unexpected '%r2', expected ',' or ';'"},
      {".entry k() { .fancy 3; }",
       "4:14: unknown directive '.fancy', expected a declaration, an instruction, a label or '}'"},
      {".entry k() { @3 bra L; }", "4:15: unexpected '3', expected a predicate register"},
      {".entry k() { @p .u32; }", "4:17: unexpected '.u32', expected an instruction"},
      {".entry k() { @p L: }", "4:18: unexpected ':', expected an operand or ';'"},
      {".entry k() { ts: .branchtargets 3; }", "4:33: unexpected '3', expected a label"},
      {".entry k() { .loc 1 x 3 }", "4:21: unexpected 'x', expected a line"},
      {".entry k() { .weak add; }", "4:20: unexpected 'add', expected a state space (.shared, .global, ...)"},
  });
}

TEST(ptx_errors, operands) {
  check({
      {".entry k() { op []; }", "4:18: unexpected ']', expected a register, a variable or a constant address"},
      {".entry k() { op [%r1+%r2]; }", "4:22: unexpected '%r2', expected a constant offset"},
      {".entry k() { op [%r1; }", "4:21: unexpected ';', expected '+', ',' or ']'"},
      {".entry k() { op {%r1; }", "4:21: unexpected ';', expected ',' or '}'"},
      {".entry k() { call (r, f; }", "4:24: unexpected ';', expected ',' or ')'"},
      {".entry k() { op (3; }", "4:19: unexpected ';', expected an operator or ')'"},
      {".entry k() { op %r1.u32; }",
       "4:20: unexpected '.u32', expected a component (.x, .y, .z, .w, or .r, .g, .b, .a) or ','"},
      {".entry k() { op %r1|; }", "4:21: unexpected ';', expected an operand"},
      {".entry k() { op x[1]; }", "4:17: 'x' is indexed, expected an array declared above"},
      {".entry k() { .shared .u32 x[4]; op x[%r1]; }", "4:38: unexpected '%r1', expected a constant index"},
      {".entry k() { op [%r1+1.5]; }", "4:22: floating-point offset, expected an integer number of bytes"},
      {".entry k() { op -x+4; }", "4:17: '-' before 'x', expected it before a register"},
      {".entry k() { op \"x\"; }", "4:17: unexpected string, expected an operand or ';'"},
      {".entry k() { op ~1.0; }", "4:17: operator '~' on a floating-point value, expected an integer"},
      {".entry k() { op 1 ? 2; }", "4:22: unexpected ';', expected an operator or ':'"},
  });
}

TEST(ptx_errors, nesting_is_limited) {
  const std::string deep = "nested too deeply, expected at most 256 levels";
  const auto ends_with_depth = [&](const std::string& text) {
    const std::string message = message_of({text, ""});
    return message.size() > deep.size() && message.compare(message.size() - deep.size(), deep.size(), deep) == 0;
  };
  for (const char* opening : {"{", "(", "[", "-", "~", "!", "1?", "1+(", "1?1:"}) {
    std::string nest;
    for (int i = 0; i < 100000; ++i) nest += opening;
    const bool bracket = std::string(opening) == "[";
    EXPECT_EQ(ends_with_depth(".entry k() { op " + nest), !bracket) << opening;  // '[' within '[' is not in the grammar
  }
  EXPECT_TRUE(ends_with_depth(".entry k() " + std::string(100000, '{')));
  EXPECT_EQ(message_of({".global .u32 x[2] = " + std::string(100000, '{'), ""}),
            "t.ptx:4:22: unexpected '{', expected a value");
  EXPECT_EQ(message_of({".entry k() " + std::string(200, '{') + std::string(200, '}'), ""}), "no error");
}

}  // namespace ptx_parser_error_test
