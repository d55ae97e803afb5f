// SPDX-License-Identifier: MIT
// Uses of variables and vector registers in third-party programs: PTX on one warp against plain C++.
#include <gtest/gtest.h>

#include "ptx_machine.h"

namespace heddle {
namespace ptx_variables_test {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

std::string module_of(const std::string& declarations, const std::string& code, const std::string& more = "") {
  return ".version 8.4\n.target sm_90\n.address_size 64\n" + declarations + ".visible .entry k(.param .u64 out" + more +
         ") {\n.reg .b64 %out, %d<8>; .reg .b32 %l, %r<8>; .reg .b16 %h<4>; .reg .f32 %f<4>; .reg .pred %p<4>;\n"
         "mov.u32 %l, %tid.x; ld.param.u64 %out, [out]; mad.wide.u32 %out, %l, 8, %out; mov.u64 %d0, 0;\n" +
         code + "\nst.global.u64 [%out], %d0; ret; }\n";
}

std::vector<u64> run(const std::string& declarations, const std::string& code, unsigned threads = 32) {
  ptx_machine machine(module_of(declarations, code));
  const u64 out = machine.buffer(std::vector<u64>(threads, 0x5555));
  machine.run("k", {1, 1, 1}, {threads, 1, 1}, {out});
  return machine.read<u64>(out, threads);
}

void expect_lanes(const std::string& declarations, const std::string& code, u64 (*expected)(u64)) {
  const std::vector<u64> got = run(declarations, code);
  for (unsigned l = 0; l < got.size(); ++l) EXPECT_EQ(got[l], expected(l)) << "lane " << l << "\n" << code;
}

void expect_refused(const std::string& declarations, const std::string& code, const std::string& message) {
  try {
    ptx_machine(module_of(declarations, code)).program("k");
    FAIL() << "not refused: " << code;
  } catch (const input_error& e) {
    EXPECT_NE(std::string(e.what()).find(message), std::string::npos) << e.what();
  }
}

// 32-bit addresses: loads from a kernel parameter that is directly followed by the next one.
std::string narrow_kernel(const std::string& size, const std::string& code) {
  return ".version 6.5\n.target sm_52\n.address_size " + size +
         "\n.visible .entry k(.param .u32 a, .param .u32 b, .param .u32 c) {\n.reg .u32 %r<8>; .reg .pred %p<2>; .reg .f32 %f<16>;\n"
         "ld.param.u32 %r0, [a]; ld.param.u32 %r1, [b];\n" +
         code + "\nret; }\n";
}

void expect_at_b(const std::string& code, u32 expected) {
  for (const char* size : {"32", "64"}) {
    SCOPED_TRACE(std::string(size) + " bits: " + code);
    ptx_machine machine(narrow_kernel(size, code));
    const u64 a = machine.buffer(std::vector<u32>{7, 8, 9, 10}), b = machine.buffer(std::vector<u32>(8, 0));
    machine.run("k", {1, 1, 1}, {1, 1, 1}, {a, b, 3});
    EXPECT_EQ(machine.read<u32>(b, 1)[0], expected);
  }
}

TEST(narrow_addresses, of_a_parameter_do_not_take_the_next_one_as_their_high_word) {
  expect_at_b("ld.global.u32 %r2, [%r0]; st.global.u32 [%r1], %r2;", 7);
  expect_at_b("ld.u32 %r2, [%r0+4]; st.u32 [%r1], %r2;", 8);
  expect_at_b("ld.volatile.global.v2.u32 {%r2, %r3}, [%r0+8]; st.global.u32 [%r1], %r3;", 10);
  expect_at_b(
      "atom.global.add.u32 %r2, [%r0], 5; ld.global.u32 %r3, [%r0]; mad.lo.u32 %r2, %r2, 100, %r3; st.global.u32 [%r1], %r2;",
      712);
  expect_at_b("red.global.add.u32 [%r0], 5; ld.global.u32 %r3, [%r0]; st.global.u32 [%r1], %r3;", 12);
  expect_at_b(
      "cvta.to.global.u32 %r2, %r0; cvta.to.global.u32 %r3, %r1; ld.global.u32 %r2, [%r2]; st.global.u32 [%r3], %r2;",
      7);
}

TEST(narrow_addresses, are_global_for_isspacep) {
  expect_at_b(
      "isspacep.global %p0, %r0; isspacep.shared %p1, %r0; selp.u32 %r2, 1, 0, %p0; @%p1 add.u32 %r2, %r2, 2; st.global.u32 [%r1], %r2;",
      1);
}

TEST(narrow_addresses, of_constants_and_functions) {
  const std::string declarations =
      ".const .u32 con[2] = {4, 6};\n.func (.reg .u32 r) f(.reg .u32 a) { add.u32 r, a, 3; ret; }\n.global .u32 table[2] = {0, f};\n";
  const auto run_one = [&](const std::string& code, u32 expected) {
    std::string text = narrow_kernel("32", code);
    text.insert(text.find(".visible"), declarations);
    ptx_machine machine(text);
    const u64 a = machine.buffer(std::vector<u32>{7}), b = machine.buffer(std::vector<u32>(1, 0));
    machine.run("k", {1, 1, 1}, {1, 1, 1}, {a, b, 3});
    EXPECT_EQ(machine.read<u32>(b, 1)[0], expected) << code;
  };
  run_one("mov.u32 %r2, con; cvta.const.u32 %r2, %r2; ld.u32 %r3, [%r2+4]; st.global.u32 [%r1], %r3;", 6);
  run_one(
      "ld.global.u32 %r2, [table+4]; P: .callprototype (.reg .u32 _) _ (.reg .u32 _); ld.param.u32 %r3, [c]; call (%r3), %r2, (%r3), P; st.global.u32 [%r1], %r3;",
      6);
}

TEST(narrow_addresses, are_no_values_of_64_bits) {
  ptx_machine machine(
      ".version 6.5\n.target sm_52\n.address_size 64\n.visible .entry k(.param .u32 a, .param .u32 b) {\n.reg .u32 %r<4>; .reg .u64 %d<2>;\n"
      "ld.param.u32 %r0, [a]; cvta.to.global.u64 %d0, %r0; st.global.u32 [%d0], %r0; ret; }\n");
  EXPECT_THROW(machine.program("k"), input_error);
}

TEST(vector_registers, of_a_range_are_vectors) {
  expect_lanes(
      "",
      ".reg .v2 .b16 %v<3>; mov.b32 %v1, 0x00050003; mov.v2.b16 %v2, {%v1.y, %v1.x}; mov.b32 %r0, %v2; cvt.u64.u32 %d0, %r0;",
      [](u64) -> u64 { return 0x00030005; });
  expect_lanes(
      "",
      ".reg .v4 .u32 %q<2>; mov.v4.u32 %q0, {%l, 1, 2, 3}; mov.v4.u32 %q1, {7, 8, 9, %l}; add.u32 %r0, %q0.w, %q1.w; cvt.u64.u32 %d0, %r0;",
      [](u64 l) { return l + 3; });
  expect_refused("", ".reg .v2 .b16 %v<2>; mov.b32 %v2, %r0;", "%v2");
}

const char* const swap =
    ".func (.reg .v2 .u32 r) swap(.reg .v2 .u32 a) { mov.u32 r.x, a.y; mov.u32 r.y, a.x; ret; }\n"
    // Recursive: it has one body, and its vector outlives the call in it.
    ".func (.reg .v2 .u32 r) sums(.reg .v2 .u32 a) { .reg .v2 .u32 %t; .reg .pred %q; mov.v2.u32 r, a; setp.eq.u32 %q, a.x, 0; @%q ret;\n"
    "sub.u32 %t.x, a.x, 1; add.u32 %t.y, a.y, 2; call (r), sums, (%t); add.u32 r.y, r.y, a.x; ret; }\n";

TEST(vector_registers, are_arguments_and_results) {
  expect_lanes(swap, ".reg .v2 .u32 %v; mov.v2.u32 %v, {%l, 77}; call (%v), swap, (%v); mov.b64 %d0, %v;",
               [](u64 l) { return l << 32 | 77; });
  expect_lanes(swap, ".reg .v2 .u32 %v<4>; mov.v2.u32 %v3, {%l, 77}; call (%v1), swap, (%v3); mov.b64 %d0, %v1;",
               [](u64 l) { return l << 32 | 77; });
}

TEST(vector_registers, outlive_a_recursive_call) {
  expect_lanes(
      swap, ".reg .v2 .u32 %v; and.b32 %r0, %l, 3; mov.v2.u32 %v, {%r0, 10}; call (%v), sums, (%v); mov.b64 %d0, %v;",
      [](u64 l) {
        const u64 n = l % 4;
        return (10 + 2 * n + n * (n + 1) / 2) << 32;
      });
}

TEST(vector_registers, of_another_length_are_refused) {
  expect_refused(swap, ".reg .v4 .u32 %v; .reg .v2 .u32 %w; call (%w), swap, (%v);", "expected 2 elements");
  expect_refused(swap, ".reg .v2 .f32 %v; call (%v), swap, (%v);", "expected one for .u32");
}

TEST(variables_in_functions, of_global_and_constant_memory_are_static) {
  expect_lanes(
      "",
      ".global .u32 g[2] = {4, 5}; .const .u32 c[2] = {60, 70}; ld.global.u32 %r0, [g+4]; ld.const.u32 %r1, [c+4]; add.u32 %r0, %r0, %r1;\n"
      "cvt.u64.u32 %d0, %r0;",
      [](u64) -> u64 { return 75; });
  const char* const counters =
      ".func (.reg .u32 r) first() { .global .u32 n = 100; atom.global.add.u32 r, [n], 1; ret; }\n"
      ".func (.reg .u32 r) second() { .global .u32 n = 5000; { .global .u32 n = 9; ld.global.u32 r, [n]; } atom.global.add.u32 r, [n], r; ret; }\n";
  const std::vector<u64> got =
      run(counters,
          "call (%r0), first, (); call (%r0), first, (); call (%r1), second, (); call (%r1), second, ();\n"
          "mad.lo.u32 %r0, %r0, 10000, %r1; cvt.u64.u32 %d0, %r0;",
          1);
  EXPECT_EQ(got[0], 101u * 10000 + 5009);
}

TEST(variables_in_functions, name_each_other_in_initialisers) {
  expect_lanes(
      ".global .u32 g = 1;\n",
      ".global .u32 g = 22; .global .u64 at = g; ld.global.u64 %d1, [at]; ld.global.u32 %r0, [%d1]; cvt.u64.u32 %d0, %r0;",
      [](u64) -> u64 { return 22; });
}

TEST(variables_in_functions, of_shared_memory_are_one_for_all_calls) {
  expect_lanes(
      ".func (.reg .u32 r) put(.reg .u32 a, .reg .pred w) { .shared .u32 s; @w st.shared.u32 [s], a; ld.shared.u32 r, [s]; ret; }\n",
      "setp.eq.u32 %p0, %l, %l; setp.ne.u32 %p1, %l, %l; call (%r0), put, (41, %p0); bar.warp.sync -1; call (%r1), put, (1, %p1); cvt.u64.u32 %d0, %r1;",
      [](u64) -> u64 { return 41; });
}

TEST(generic_accesses, of_a_name_reach_its_state_space) {
  expect_lanes(
      "", ".local .align 8 .u64 own; add.u32 %r0, %l, 3; cvt.u64.u32 %d1, %r0; st.u64 [own], %d1; ld.u64 %d0, [own];",
      [](u64 l) { return l + 3; });
  expect_lanes(
      ".shared .align 8 .u32 area[32];\n",
      "st.u32 [area], 6; atom.add.u32 %r0, [area], 1; red.add.u32 [area], 1; ld.u32 %r1, [area]; cvt.u64.u32 %d0, %r1;",
      [](u64) -> u64 { return 70; });
  expect_refused("", ".local .u64 own; st.global.u64 [own], %d0;",
                 "'own' is not in the state space of 'st.global.u64'");
  expect_refused("", "ld.u64 %d0, [out];", "'out' is not in the state space of 'ld.u64'");
}

TEST(local_variables, of_module_scope_are_each_threads_own) {
  const char* const declarations =
      ".local .align 8 .b8 own[256];\n"
      ".func put(.reg .u32 a) { .reg .u64 %a; mov.u64 %a, own; mad.wide.u32 %a, a, 8, %a; st.local.u32 [%a], a; ret; }\n"
      ".func (.reg .u32 r) depth(.reg .u32 a) { .reg .pred %q; .reg .u32 %t; st.local.u32 [own+4], a; setp.eq.u32 %q, a, 0; @%q bra E; sub.u32 %t, a, 1;\n"
      "call (%t), depth, (%t); E: ld.local.u32 r, [own+4]; ret; }\n";
  expect_lanes(
      declarations,
      "and.b32 %r0, %l, 7; call put, (%r0); mov.u64 %d1, own; cvta.local.u64 %d1, %d1; mad.wide.u32 %d1, %r0, 8, %d1; ld.u32 %r1, [%d1];\n"
      "cvt.u64.u32 %d0, %r1;",
      [](u64 l) { return l % 8; });
  expect_lanes(declarations, "mov.u32 %r0, 3; call (%r1), depth, (%r0); add.u32 %r1, %r1, 50; cvt.u64.u32 %d0, %r1;",
               [](u64) -> u64 { return 50; });
}

TEST(register_operands, may_have_a_constant_added) {
  expect_lanes("",
               ".local .align 8 .u64 own; cvt.u64.u32 %d1, %l; st.local.u64 [own], %d1 + 1; ld.local.u64 %d0, [own];",
               [](u64 l) { return l + 1; });
  expect_lanes("", "mul.lo.u32 %r0, %l+2, 3; cvt.u64.u32 %d0, %r0;", [](u64 l) { return 3 * (l + 2); });
  expect_refused("", "add.f32 %f0, %f1+2, %f2;", "expected an integer register");
  expect_refused("", "mov.u32 %r0+4, %r1;", "is a sum, expected a register");
}

TEST(wide_accesses, of_32_bytes_are_two_halves) {
  expect_lanes(
      ".global .align 32 .u32 g[8] = {1, 2, 4, 8, 16, 32, 64, 128};\n.global .align 32 .u64 w[4];\n",
      ".reg .u32 %a<8>; .reg .u64 %q<4>; ld.global.v8.u32 {%a0, %a1, %a2, _, %a4, %a5, %a6, %a7}, [g]; add.u32 %a0, %a0, %a1; add.u32 %a0, %a0, %a2;\n"
      "add.u32 %a0, %a0, %a4; add.u32 %a0, %a0, %a5; add.u32 %a0, %a0, %a6; add.u32 %a0, %a0, %a7; cvt.u64.u32 %d1, %a0;\n"
      "st.global.v4.u64 [w], {%d1, 1000, 2000, %d1}; mov.u64 %q0, w; ld.v4.b64 {%q1, %q0, %q2, %q3}, [%q0]; add.u64 %d0, %q0, %q1; add.u64 %d0, %d0, %q2;\n"
      "add.u64 %d0, %d0, %q3;",
      [](u64) -> u64 { return 2 * 247 + 3000; });
  expect_refused(".shared .align 32 .b8 s[32];\n", "ld.shared.v4.b64 {%d1, %d2, %d3, %d4}, [s];",
                 "unsupported type or form");
}

TEST(kernel_addresses, are_values) {
  const std::vector<u64> got =
      run(".visible .entry other() { ret; }\n", "mov.u64 %d0, k; mov.u64 %d1, other; xor.b64 %d0, %d0, %d1;", 1);
  EXPECT_NE(got[0], 0u);
}

TEST(dynamic_parallelism, is_refused_with_what_to_do_instead) {
  expect_refused(
      ".extern .func (.param .b32 v) cudaLaunchDeviceV2(.param .b64 a, .param .b64 b);\n",
      "{ .param .b64 a; .param .b64 b; .param .b32 v; call.uni (v), cudaLaunchDeviceV2, (a, b); }",
      "kernels that launch kernels (CUDA dynamic parallelism) are not modelled, expected the inner kernels among the job's launches");
}

TEST(texture_reference_handles, come_from_the_host) {
  ptx_machine machine(module_of(".global .texref image;\n", "mov.u64 %d0, image;"));
  const u64 out = machine.buffer(std::vector<u64>(1, 0x5555));
  machine.write(ptx_machine::memory_base, u64{42});  // as a host does
  machine.run("k", {1, 1, 1}, {1, 1, 1}, {out});
  EXPECT_EQ(machine.read<u64>(out, 1)[0], 42u);
}

}  // namespace ptx_variables_test
}  // namespace heddle
