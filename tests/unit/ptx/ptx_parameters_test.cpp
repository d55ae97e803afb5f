// SPDX-License-Identifier: MIT
// Parameters of functions, calls and kernels whose address is taken: PTX on one warp against plain C++.
#include <gtest/gtest.h>

#include <functional>

#include "ptx_machine.h"

namespace heddle {
namespace ptx_parameters_test {

using u8 = std::uint8_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::string text_of(const std::string& module, const std::string& code, const std::string& more = "") {
  return ".version 8.4\n.target sm_90\n.address_size 64\n" + module + ".visible .entry k(.param .u64 out" + more +
         ") {\n.reg .b64 %out, %d<8>; .reg .b32 %l, %r<8>; .reg .b16 %h<4>; .reg .pred %p<4>;\n"
         "mov.u32 %l, %tid.x; ld.param.u64 %out, [out]; mad.wide.u32 %out, %l, 4, %out; mov.u32 %r0, 0;\n" +
         code + "\nst.global.u32 [%out], %r0; ret; }\n";
}

void expect_lanes(const std::string& module, const std::string& code, const std::function<u32(u32)>& expected) {
  for (const bool independent : {false, true}) {
    ptx_machine machine(text_of(module, code));
    machine.independent = independent;
    const u64 out = machine.buffer(std::vector<u32>(32, 0x5555));
    machine.run("k", {1, 1, 1}, {32, 1, 1}, {out});
    const std::vector<u32> got = machine.read<u32>(out, 32);
    for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], expected(l)) << "lane " << l << "\n" << code;
  }
}

void expect_refused(const std::string& module, const std::string& code, const std::string& message) {
  try {
    ptx_machine machine(text_of(module, code));
    machine.program("k");
    FAIL() << "not refused: " << code;
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

// Selects an element of a struct of four by index.
const char* const pick =
    ".func (.param .b32 v) pick(.param .align 4 .b8 s[16], .param .b32 n) {\n.reg .b64 %a, %n; .reg .b32 %x, %y;\n"
    "mov.b64 %a, s; ld.param.u32 %x, [n]; and.b32 %x, %x, 3; mul.wide.u32 %n, %x, 4; add.s64 %n, %a, %n; ld.param.u32 %y, [%n];\n"
    "ld.param.u32 %x, [s+4]; shl.b32 %x, %x, 8; add.u32 %y, %y, %x; st.param.b32 [v], %y; ret; }\n";

const char* const call_pick =
    "add.u32 %r1, %l, 100; add.u32 %r2, %l, 300;\n"
    "{ .param .align 4 .b8 a[16]; .param .b32 i; .param .b32 r; st.param.v2.b32 [a], {%l, 7}; st.param.b32 [a+8], %r1; st.param.b32 [a+12], %r2;\n"
    "st.param.b32 [i], %l; call.uni (r), pick, (a, i); ld.param.b32 %r0, [r]; }";

TEST(parameter_addresses, of_a_function_indexed_by_a_register) {
  expect_lanes(pick, call_pick, [](u32 l) {
    return (l % 4 == 0 ? l : l % 4 == 1 ? 7 : l % 4 == 2 ? l + 100 : l + 300) + (7 << 8);
  });
}

TEST(parameter_addresses, generic_and_with_an_offset) {
  const char* const module =
      ".func (.param .b32 v) f(.param .align 8 .b8 s[24]) {\n.reg .b64 %a; .reg .b32 %x, %y; .reg .pred %q;\n"
      "mov.b64 %a, s+8; cvta.param.u64 %a, %a; ld.u32 %x, [%a+4]; isspacep.local %q, %a; selp.u32 %y, 1000, 0, %q; add.u32 %x, %x, %y;\n"
      "st.param.b32 [v], %x; ret; }\n";
  expect_lanes(module, "{ .param .align 8 .b8 a[24]; st.param.v2.b32 [a+8], {1, %l}; call (%r0), f, (a); }",
               [](u32 l) { return l + 1000; });
}

TEST(parameter_addresses, of_what_a_call_returns) {
  const char* const module =
      ".func (.param .align 4 .b8 v[16]) f(.param .b32 n) {\n.reg .b32 %n; ld.param.u32 %n, [n]; st.param.v4.b32 [v], {%n, 11, 22, 33}; ret; }\n";
  expect_lanes(
      module,
      "{ .param .align 4 .b8 r[16]; .param .b32 n; .reg .b64 %z; st.param.b32 [n], %l; call.uni (r), f, (n);\n"
      "and.b32 %r1, %l, 3; mul.wide.u32 %d1, %r1, 4; mov.b64 %z, r; add.u64 %z, %z, %d1; ld.param.u32 %r0, [%z]; }",
      [](u32 l) { return l % 4 == 0 ? l : 11 * (l % 4); });
}

TEST(parameter_addresses, to_write_what_a_function_returns) {
  const char* const module =
      ".func (.param .align 4 .b8 v[8]) f(.param .b32 n) {\n.reg .b64 %a, %n; .reg .b32 %x; mov.b64 %a, v; ld.param.u32 %x, [n];\n"
      "st.param.v2.b32 [v], {5, 6}; and.b32 %x, %x, 1; mul.wide.u32 %n, %x, 4; add.u64 %a, %a, %n; st.param.b32 [%a], 77; ret; }\n";
  expect_lanes(
      module,
      "{ .param .align 4 .b8 r[8]; call.uni (r), f, (%l); ld.param.v2.b32 {%r1, %r2}, [r]; mad.lo.u32 %r0, %r1, 1000, %r2; }",
      [](u32 l) { return l % 2 ? 5077 : 77006; });
}

TEST(parameter_addresses, where_a_register_or_a_literal_is_passed) {
  const char* const module =
      ".func (.param .b64 v) f(.param .b64 a, .param .b32 b) {\n.reg .b64 %a, %b, %x; .reg .b32 %y; mov.b64 %a, a; mov.b64 %b, b;\n"
      "ld.param.u64 %x, [%a]; ld.param.u32 %y, [%b]; cvt.u64.u32 %a, %y; add.u64 %x, %x, %a; mov.b64 %b, v; st.param.b64 [%b], %x; ret; }\n";
  expect_lanes(module, "cvt.u64.u32 %d1, %l; call (%d2), f, (%d1, 1000); cvt.u32.u64 %r0, %d2;",
               [](u32 l) { return l + 1000; });
  expect_lanes(
      module,
      "call (%d2), f, (0x100000003, %l); shr.u64 %d3, %d2, 32; cvt.u32.u64 %r0, %d2; cvt.u32.u64 %r1, %d3; mad.lo.u32 %r0, %r1, 100, %r0;",
      [](u32 l) { return l + 103; });
}

// Every activation of a recursive function has its own parameters.
TEST(parameter_addresses, of_a_recursive_function) {
  const char* const module =
      ".func (.param .align 4 .b8 v[8]) f(.param .align 4 .b8 s[12], .param .b32 n) {\n.reg .b64 %a, %b; .reg .b32 %n, %x, %y, %z; .reg .pred %q;\n"
      ".param .align 4 .b8 t[12]; .param .align 4 .b8 r[8];\n"
      "mov.b64 %a, s; mov.b64 %b, v; ld.param.u32 %n, [n]; ld.param.u32 %x, [%a+8]; mov.u32 %y, 0; mov.u32 %z, 0; setp.eq.u32 %q, %n, 0; @%q bra E;\n"
      "st.param.b32 [t+8], %n; sub.u32 %n, %n, 1; call.uni (r), f, (t, %n); ld.param.v2.b32 {%y, %z}, [r];\n"
      "E: ld.param.u32 %n, [%a+8]; mad.lo.u32 %y, %y, 3, %n; add.u32 %z, %z, 1; st.param.b32 [%b], %y; st.param.b32 [%b+4], %z; ret; }\n";
  const std::function<u32(u32, u32)> f = [&](u32 s, u32 n) -> u32 { return (n == 0 ? 0 : f(n, n - 1)) * 3 + s; };
  expect_lanes(
      module,
      "rem.u32 %r1, %l, 6; { .param .align 4 .b8 s[12]; .param .align 4 .b8 r[8]; st.param.b32 [s+8], 50; call.uni (r), f, (s, %r1);\n"
      "ld.param.v2.b32 {%r2, %r3}, [r]; mad.lo.u32 %r0, %r3, 0x100000, %r2; }",
      [&](u32 l) { return (l % 6 + 1) * 0x100000 + f(50, l % 6); });
}

// Structures of 800 bytes, more than the registers can hold, through calls by name and through a recursive function.
TEST(parameter_addresses, none_but_the_parameters_are_large) {
  std::string fill;
  for (u32 k = 0; k < 200; ++k)
    fill += "add.u32 %r1, %l, " + std::to_string(k * k) + "; st.param.b32 [a+" + std::to_string(4 * k) + "], %r1;\n";
  const std::string module =
      ".func (.param .align 4 .b8 v[800]) same(.param .align 4 .b8 a[800]) { .reg .b32 %x; .reg .b64 %p, %q, %e; .reg .pred %c; mov.b64 %p, a; mov.b64 %q, v;\n"
      "add.u64 %e, %p, 800; L: ld.param.u32 %x, [%p]; st.param.b32 [%q], %x; add.u64 %p, %p, 4; add.u64 %q, %q, 4; setp.ne.u64 %c, %p, %e; @%c bra L; ret; }\n"
      ".func (.param .b32 v) sum(.param .align 4 .b8 a[800], .param .b32 n) { .reg .b32 %x, %y, %n; .reg .pred %q; .param .align 4 .b8 b[800];\n"
      "ld.param.u32 %n, [n]; ld.param.u32 %x, [a+400]; setp.eq.u32 %q, %n, 0; @%q bra E; sub.u32 %n, %n, 1; call.uni (b), same, (a);\n"
      "call.uni (%y), sum, (b, %n); add.u32 %x, %x, %y; E: st.param.b32 [v], %x; ret; }\n";
  expect_lanes(
      module,
      "{ .param .align 4 .b8 a[800]; .param .align 4 .b8 b[800];\n" + fill +
          "call.uni (b), same, (a); rem.u32 %r2, %l, 4; call.uni (%r3), sum, (b, %r2); ld.param.u32 %r4, [b+796]; add.u32 %r0, %r3, %r4; }",
      [](u32 l) { return (l % 4 + 1) * (l + 100 * 100) + l + 199 * 199; });
}

TEST(parameter_addresses, of_bytes) {
  const char* const module =
      ".func (.param .b32 v) f(.param .align 1 .b8 s[7]) {\n.reg .b64 %a; .reg .b32 %x, %y; .reg .b16 %h; mov.b64 %a, s; ld.param.u8 %x, [%a+6];\n"
      "ld.param.s8 %h, [%a+3]; cvt.s32.s16 %y, %h; add.s32 %x, %x, %y; st.param.b32 [v], %x; ret; }\n";
  expect_lanes(module,
               "{ .param .align 1 .b8 a[7]; st.param.b8 [a+3], -2; st.param.b8 [a+6], %l; call (%r0), f, (a); }",
               [](u32 l) { return l - 2; });
}

TEST(parameter_addresses, accesses_outside_are_refused) {
  const std::string module =
      ".func f(.param .align 4 .b8 s[16]) { .reg .b64 %a; .reg .b32 %x; mov.b64 %a, s; ld.param.u32 %x, [s+16]; ret; }\n";
  expect_refused(module, "{ .param .align 4 .b8 a[16]; call f, (a); }", "access outside parameter 's'");
  expect_refused("", "st.param.b32 [out], %l;", "cannot write kernel parameters");
}

// Kernel parameters: a structure of 37 bytes after a pointer.
std::vector<u32> run_with_structure(const std::string& module, const std::string& code) {
  ptx_machine machine(text_of(module, code, ", .param .align 8 .b8 s[8], .param .u32 last"));
  const u64 out = machine.buffer(std::vector<u32>(32, 0x5555));
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {out, 0x0706050403020100u, 900});
  return machine.read<u32>(out, 32);
}

TEST(kernel_parameter_addresses, generic) {
  const std::vector<u32> got = run_with_structure(
      ".func (.param .b32 v) read(.param .b64 p, .param .b32 n) { .reg .b64 %p, %n; .reg .b32 %x; ld.param.u64 %p, [p]; ld.param.u32 %x, [n]; and.b32 %x, %x, 7;\n"
      "cvt.u64.u32 %n, %x; add.u64 %p, %p, %n; ld.u8 %x, [%p]; st.param.b32 [v], %x; ret; }\n",
      "mov.b64 %d1, s; cvta.param.u64 %d2, %d1; call (%r0), read, (%d2, %l); ld.param.u8 %r1, [%d1+5]; mad.lo.u32 %r0, %r1, 100, %r0;\n"
      "mov.b64 %d3, last; ld.param.u32 %r2, [%d3]; add.u32 %r0, %r0, %r2; ld.param.u8 %r3, [s+1]; add.u32 %r0, %r0, %r3;");
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], l % 8 + 500 + 900 + 1);
}

TEST(kernel_parameter_addresses, are_distinguished_from_others) {
  const std::vector<u32> got = run_with_structure(
      "",
      "mov.b64 %d1, s; cvta.param.u64 %d2, %d1; isspacep.param %p0, %d2; add.u64 %d3, %d2, 64; isspacep.param %p1, %d3; isspacep.param %p2, %out;\n"
      "selp.u32 %r0, 1, 0, %p0; @%p1 add.u32 %r0, %r0, 2; @%p2 add.u32 %r0, %r0, 4; isspacep.global %p0, %d2; @%p0 add.u32 %r0, %r0, 8;\n"
      "cvta.to.param.u64 %d4, %d2; setp.ne.u64 %p0, %d4, %d1; @%p0 add.u32 %r0, %r0, 16;");
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], 1u);
}

TEST(kernel_parameter_addresses, that_a_function_reads_as_such) {
  const std::vector<u32> got = run_with_structure(
      ".func (.param .b32 v) read(.param .b64 p) { .reg .b64 %p; .reg .b32 %x; ld.param.u64 %p, [p]; ld.param::entry.u32 %x, [%p+4]; st.param.b32 [v], %x; ret; }\n",
      "mov.b64 %d1, s; call (%r0), read, (%d1);");
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], 0x07060504u);
}

// An address in the constant bank is enough if no generic address is needed: no local memory is used.
TEST(kernel_parameter_addresses, of_the_bank_need_no_memory) {
  const std::string code =
      "mov.b64 %d1, s; and.b32 %r1, %l, 7; cvt.u64.u32 %d2, %r1; add.u64 %d1, %d1, %d2; ld.param.u8 %r0, [%d1];";
  const std::vector<u32> got = run_with_structure("", code);
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], l % 8);
  ptx_machine machine(text_of("", code, ", .param .align 8 .b8 s[8]"));
  EXPECT_EQ(machine.program("k").local_bytes, 0u);
}

// Addresses of call parameters and of kernel parameters in one register.
TEST(kernel_parameter_addresses, beside_those_of_calls) {
  const std::vector<u32> got = run_with_structure(
      ".func (.param .align 8 .b8 v[8]) f() { st.param.v2.b32 [v], {21, 42}; ret; }\n",
      "{ .param .align 8 .b8 r[8]; call (r), f, (); mov.b64 %d1, r; mov.b64 %d2, s; setp.gt.u32 %p0, %l, 9; selp.b64 %d3, %d1, %d2, %p0; ld.param.u32 %r0, [%d3+4]; }");
  for (u32 l = 0; l < 32; ++l) EXPECT_EQ(got[l], l > 9 ? 42 : 0x07060504u);
}

}  // namespace ptx_parameters_test
}  // namespace heddle
