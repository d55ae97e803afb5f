// SPDX-License-Identifier: MIT
// Calls that cannot be inlined, stack memory, asynchronous copies: PTX on one warp against plain C++.
#include <gtest/gtest.h>

#include <functional>

#include "heddle/frontend/ptx/syntax/call_graph.h"
#include "ptx_machine.h"

namespace heddle {
namespace ptx_calls_test {

using u32 = std::uint32_t;
using u64 = std::uint64_t;

const char* const functions =
    ".func (.param .b32 v) fib(.param .b32 n) {\n.reg .b32 %n, %a, %b; .reg .pred %q; ld.param.b32 %n, [n]; setp.lt.u32 %q, %n, 2; @%q bra E;\n"
    "sub.u32 %a, %n, 1; call (%a), fib, (%a); sub.u32 %b, %n, 2; call (%b), fib, (%b); add.u32 %n, %a, %b; E: st.param.b32 [v], %n; ret; }\n"
    // Mutual recursion, with a register pair, a predicate and an own array across the call.
    ".func (.param .b64 v) odd(.param .b64 x, .param .b32 n);\n"
    ".func (.param .b64 v) even(.param .b64 x, .param .b32 n) {\n.reg .b64 %x, %y; .reg .b32 %n; .reg .pred %q, %r; .local .align 8 .b8 own[8];\n"
    "ld.param.b64 %x, [x]; ld.param.b32 %n, [n]; st.local.u64 [own], %x; setp.eq.u32 %q, %n, 0; mov.u64 %y, 1000; @%q bra E;\n"
    "setp.gt.u64 %r, %x, 5; sub.u32 %n, %n, 1; add.u64 %y, %x, 3; call (%y), odd, (%y, %n); ld.local.u64 %x, [own]; add.u64 %y, %y, %x;\n"
    "@%r add.u64 %y, %y, 1000000; E: st.param.b64 [v], %y; ret; }\n"
    ".func (.param .b64 v) odd(.param .b64 x, .param .b32 n) {\n.reg .b64 %x, %y; .reg .b32 %n; .reg .pred %q; ld.param.b64 %x, [x]; ld.param.b32 %n, [n];\n"
    "setp.eq.u32 %q, %n, 0; mov.u64 %y, 2000; @%q bra E; sub.u32 %n, %n, 1; call (%y), even, (%x, %n); add.u64 %y, %y, %y; E: st.param.b64 [v], %y; ret; }\n"
    ".func (.param .b32 v) twice(.param .b32 n) { .reg .b32 %n; ld.param.b32 %n, [n]; shl.b32 %n, %n, 1; st.param.b32 [v], %n; ret; }\n"
    ".func (.param .b32 v) next(.param .b32 n) { .reg .b32 %n; ld.param.b32 %n, [n]; add.u32 %n, %n, 1; st.param.b32 [v], %n; ret; }\n"
    ".func (.param .b32 v) unused(.param .b32 n) { .reg .b32 %n; frobnicate.u32 %n; ret; }\n"
    ".global .align 8 .u64 table[3] = {twice, next, fib};\n";

std::vector<u64> run(const std::string& code, const std::string& module = functions, unsigned threads = 32,
                     bool independent = false) {
  const std::string text =
      ".version 8.4\n.target sm_90\n.address_size 64\n" + module +
      ".visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b64 %in, %out, %d<8>; .reg .b32 %l, %r<8>; .reg .pred %p<4>;\n"
      ".shared .align 16 .b8 area[1024];\n"
      "mov.u32 %l, %tid.x; ld.param.u64 %in, [in]; ld.param.u64 %out, [out]; mad.wide.u32 %out, %l, 8, %out; mov.u64 %d0, 0;\n" +
      code + "\nst.global.u64 [%out], %d0; ret; }\n";
  ptx_machine machine(text);
  machine.independent = independent;
  std::vector<u32> numbers(256);
  for (u32 k = 0; k < numbers.size(); ++k) numbers[k] = 0x01010101u * (k + 1);
  const u64 in = machine.buffer(numbers), out = machine.buffer(std::vector<u64>(threads, 0x5555));
  machine.run("k", {1, 1, 1}, {threads, 1, 1}, {in, out});
  return machine.read<u64>(out, threads);
}

void expect_lanes(const std::string& code, const std::function<u64(unsigned)>& expected) {
  const std::vector<u64> got = run(code);
  for (unsigned l = 0; l < got.size(); ++l) EXPECT_EQ(got[l], expected(l)) << "lane " << l << "\n" << code;
}

u64 fib(unsigned n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
u64 odd(u64 x, unsigned n);
u64 even(u64 x, unsigned n) { return n == 0 ? 1000 : odd(x + 3, n - 1) + x + (x > 5 ? 1000000 : 0); }
u64 odd(u64 x, unsigned n) { return n == 0 ? 2000 : 2 * even(x, n - 1); }

TEST(recursion, of_one_function_with_lanes_at_different_depths) {
  expect_lanes("rem.u32 %r0, %l, 9; call (%r1), fib, (%r0); cvt.u64.u32 %d0, %r1;",
               [](unsigned l) { return fib(l % 9); });
}

TEST(recursion, from_several_places) {
  expect_lanes(
      "and.b32 %r0, %l, 3; call (%r1), fib, (%r0); add.u32 %r2, %r0, 4; call (%r3), fib, (%r2); mad.lo.u32 %r1, %r1, 100, %r3; cvt.u64.u32 %d0, %r1;",
      [](unsigned l) { return fib(l & 3) * 100 + fib((l & 3) + 4); });
}

TEST(recursion, of_functions_that_call_each_other) {
  expect_lanes("cvt.u64.u32 %d1, %l; and.b32 %r0, %l, 7; call (%d0), even, (%d1, %r0);",
               [](unsigned l) { return even(l, l & 7); });
}

TEST(recursion, under_a_guard) {
  expect_lanes(
      "setp.gt.u32 %p0, %l, 20; mov.u32 %r1, 7; and.b32 %r0, %l, 7; @%p0 call (%r1), fib, (%r0); cvt.u64.u32 %d0, %r1;",
      [](unsigned l) { return l > 20 ? fib(l & 7) : 7; });
}

// Each activation counts the active lanes at its end: those that called it, whatever they executed within.
TEST(recursion, lanes_of_one_call_reconverge_at_its_end_and_behind_it) {
  const char* const module =
      ".func (.param .b32 v) met(.param .b32 n) {\n.reg .b32 %n, %a, %m; .reg .pred %q; ld.param.b32 %n, [n]; mov.u32 %a, 0; setp.eq.u32 %q, %n, 0;\n"
      "@%q bra E; sub.u32 %n, %n, 1; call (%a), met, (%n); E: activemask.b32 %m; popc.b32 %m, %m; add.u32 %a, %a, %m; st.param.b32 [v], %a; ret; }\n";
  const auto depth = [](unsigned l) { return l * 7 % 5; };
  for (const bool independent : {false, true}) {
    const std::vector<u64> got = run(
        "mul.lo.u32 %r0, %l, 7; rem.u32 %r0, %r0, 5; mov.u32 %r1, 0; setp.ne.u32 %p0, %l, 3; @!%p0 bra B; call (%r1), met, (%r0);\n"
        "B: activemask.b32 %r2; popc.b32 %r2, %r2; mad.lo.u32 %r1, %r2, 1000, %r1; cvt.u64.u32 %d0, %r1;",
        module, 32, independent);
    for (unsigned l = 0; l < 32; ++l) {
      u64 expected = 32 * 1000;
      for (unsigned level = 0; l != 3 && level <= depth(l); ++level)
        for (unsigned other = 0; other < 32; ++other) expected += other != 3 && depth(other) >= level;
      EXPECT_EQ(got[l], expected) << "lane " << l << (independent ? " independent" : " stack");
    }
  }
}

// The same instruction in activations of different depth is not a common reconvergence point.
TEST(recursion, lanes_at_different_depths_do_not_wait_for_each_other) {
  const char* const module =
      ".func (.param .b32 v) walk(.param .b32 n) {\n.reg .b32 %n, %a, %m; .reg .pred %q; ld.param.b32 %n, [n]; mov.u32 %a, 1; and.b32 %m, %n, 1;\n"
      "setp.eq.u32 %q, %m, 0; @%q bra J; sub.u32 %n, %n, 1; call (%a), walk, (%n); shl.b32 %a, %a, 1; J: setp.lt.u32 %q, %n, 2; @%q bra E;\n"
      "sub.u32 %m, %n, 2; call (%m), walk, (%m); add.u32 %a, %a, %m; E: activemask.b32 %m; shr.u32 %m, %m, 31; add.u32 %a, %a, %m; st.param.b32 [v], %a; ret; }\n";
  const std::function<unsigned(unsigned, bool)> walk = [&](unsigned n, bool with_last) -> unsigned {
    unsigned a = 1;
    if (n & 1) a = 2 * walk(--n, with_last);
    if (n >= 2) a += walk(n - 2, with_last);
    return a + with_last;
  };
  for (const bool independent : {false, true}) {
    const std::vector<u64> got =
        run("shr.u32 %r0, %l, 2; call (%r1), walk, (%r0); cvt.u64.u32 %d0, %r1;", module, 32, independent);
    for (unsigned l = 28; l < 32; ++l)
      EXPECT_EQ(got[l], walk(7, true)) << "lane " << l;  // lane 31 is always among them
    EXPECT_EQ(got[0], 2u);  // its one activation includes all lanes of the first level, with lane 31
  }
}

TEST(recursion, is_found_around_rings_of_calls_and_not_beside_them) {
  // a -> b -> c -> a is a ring; c also reaches e -> f -> e; d only enters the ring, g only follows it; h calls itself.
  const auto function = [](const std::string& name, const std::vector<std::string>& calls) {
    std::string text = ".func " + name + "() { ";
    for (const std::string& c : calls) text += "call " + c + "; ";
    return text + "ret; }\n";
  };
  std::string text = ".version 8.0\n.target sm_75\n.address_size 64\n";
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", "h"}) text += std::string(".func ") + name + "();\n";
  text += function("a", {"b"}) + function("b", {"c", "g"}) + function("c", {"a", "e"}) + function("d", {"a"}) +
          function("e", {"f"}) + function("f", {"e"}) + function("g", {}) + function("h", {"h"});
  const ptx::call_graph graph(*ptx::parse(text, "k.ptx"));
  for (const char* name : {"a", "b", "c", "e", "f", "h"}) EXPECT_TRUE(graph.recursive(name)) << name;
  for (const char* name : {"d", "g"}) EXPECT_FALSE(graph.recursive(name)) << name;
}

TEST(call_chains, of_thousands_are_inlined) {
  std::string chain =
      ".func (.param .b32 v) f0(.param .b32 n) { .reg .b32 %n; ld.param.b32 %n, [n]; st.param.b32 [v], %n; ret; }\n";
  const unsigned length = 3000;
  for (unsigned k = 1; k <= length; ++k)
    chain += ".func (.param .b32 v) f" + std::to_string(k) +
             "(.param .b32 n) { .reg .b32 %n; ld.param.b32 %n, [n]; add.u32 %n, %n, 1; call (%n), f" +
             std::to_string(k - 1) + ", (%n); st.param.b32 [v], %n; ret; }\n";
  const auto result = run("call (%r1), f" + std::to_string(length) + ", (%l); cvt.u64.u32 %d0, %r1;", chain);
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(result[lane], lane + length);
}

// 2^40 calls of functions without an instruction of their own.
TEST(call_chains, that_double_at_each_level_are_not_inlined) {
  std::string chain = ".func f0() { ret; }\n";
  const unsigned levels = 40;
  for (unsigned k = 1; k <= levels; ++k) {
    const std::string call = "call f" + std::to_string(k - 1) + "; ";
    chain += ".func f" + std::to_string(k) + "() { " + call + call + "ret; }\n";
  }
  const auto result = run("setp.gt.u32 %p0, %l, 32; @%p0 call f40; cvt.u64.u32 %d0, %l;", chain);
  for (unsigned lane = 0; lane < 32; ++lane) EXPECT_EQ(result[lane], lane);
}

// A loop that ends only by a return, which becomes a guarded EXIT: the sides of the branch within still reconverge.
TEST(endless_loops, branches_reconverge_before_the_guarded_exit) {
  const std::vector<u64> got = run(
      "mov.u32 %r0, 0; mov.u32 %r1, 0;\n"
      "LOOP: add.u32 %r2, %l, %r0; and.b32 %r2, %r2, 3; setp.eq.u32 %p0, %r2, 0; @%p0 bra SIDE;\n"
      "mov.u32 %r3, 0; bra JOIN;\n"
      "SIDE: and.b32 %r3, %l, 7;\nTURN: sub.u32 %r3, %r3, 1; setp.gt.s32 %p2, %r3, 0; @%p2 bra TURN; mov.u32 %r3, 0;\n"
      "JOIN: activemask.b32 %r4; popc.b32 %r4, %r4; add.u32 %r1, %r1, %r4; add.u32 %r1, %r1, %r3; cvt.u64.u32 %d0, %r1; st.global.u64 [%out], %d0;\n"
      "add.u32 %r0, %r0, 1; setp.ge.u32 %p1, %r0, 6; @%p1 bra OUT; bra LOOP; OUT: ret;");
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(got[l], 6u * 32) << "lane " << l;
}

TEST(indirect_calls, through_a_table) {
  expect_lanes(
      "rem.u32 %r0, %l, 3; mul.wide.u32 %d1, %r0, 8; mov.u64 %d2, table; add.u64 %d1, %d1, %d2; ld.global.u64 %d3, [%d1]; and.b32 %r2, %l, 7;\n"
      "P: .callprototype (.param .b32 _) _ (.param .b32 _); call (%r1), %d3, (%r2), P; cvt.u64.u32 %d0, %r1;",
      [](unsigned l) { return l % 3 == 0   ? 2 * (l & 7)
                              : l % 3 == 1 ? (l & 7) + 1
                                           : fib(l & 7); });
}

TEST(indirect_calls, of_listed_targets) {
  expect_lanes(
      "mov.u64 %d1, twice; mov.u64 %d2, next; setp.lt.u32 %p0, %l, 9; selp.u64 %d3, %d1, %d2, %p0;\n"
      "T: .calltargets twice, next; call (%r1), %d3, (%l), T; cvt.u64.u32 %d0, %r1;",
      [](unsigned l) { return l < 9 ? 2 * l : l + 1; });
}

TEST(alloca, gives_each_lane_its_own) {
  expect_lanes(
      "add.u32 %r0, %l, 1; mul.wide.u32 %d1, %r0, 4; alloca.u64 %d2, %d1, 16; stacksave.u64 %d4; mov.u32 %r1, 0; mov.u64 %d3, %d2;\n"
      "L: st.local.u32 [%d3], %r1; add.u64 %d3, %d3, 4; add.u32 %r1, %r1, 1; setp.lt.u32 %p0, %r1, %r0; @%p0 bra L;\n"
      "alloca.u64 %d5, 16, 16; st.local.u64 [%d5], %d4; stackrestore.u64 %d4; alloca.u64 %d6, 16, 16; sub.u64 %d6, %d6, %d5;\n"
      "ld.local.u32 %r2, [%d3+-4]; cvt.u64.u32 %d0, %r2; mad.lo.u64 %d0, %d6, 1000, %d0;",
      [](unsigned l) { return l; });
}

TEST(short_asynchronous_copies, fill_what_the_source_lacks_with_zeros) {
  const auto copy = [](const std::string& rest) {
    return "mul.wide.u32 %d1, %l, 16; add.u64 %d1, %in, %d1; shl.b32 %r0, %l, 4; mov.u32 %r1, area; add.u32 %r0, %r0, %r1; and.b32 %r2, %l, 31; setp.gt.u32 %p0, %l, 7;\n" +
           rest +
           " cp.async.commit_group; cp.async.wait_group 0; cp.async.wait_all; ld.shared.u64 %d0, [%r0]; ld.shared.u64 %d2, [%r0+8]; mul.lo.u64 %d2, %d2, 3; add.u64 %d0, %d0, %d2;";
  };
  const auto expected = [](unsigned l, unsigned bytes) {
    std::uint8_t data[16] = {};
    for (unsigned k = 0; k < std::min(bytes, 16u); ++k) data[k] = static_cast<std::uint8_t>(4 * l + k / 4 + 1);
    u64 low, high;
    std::memcpy(&low, data, 8);
    std::memcpy(&high, data + 8, 8);
    return low + 3 * high;
  };
  expect_lanes(copy("cp.async.cg.shared.global [%r0], [%d1], 16;"), [&](unsigned l) { return expected(l, 16); });
  expect_lanes(copy("cp.async.ca.shared.global.L2::128B [%r0], [%d1], 16, %r2;"),
               [&](unsigned l) { return expected(l, l); });
  expect_lanes(copy("cp.async.cg.shared.global [%r0], [%d1], 16, %p0;"),
               [&](unsigned l) { return expected(l, l > 7 ? 0 : 16); });
  expect_lanes(
      copy(
          "@%p0 cp.async.ca.shared.global [%r0], [%d1], 8, 5; @!%p0 cp.async.ca.shared.global [%r0], [%d1], 4; @!%p0 st.shared.u32 [%r0+4], 0; st.shared.u64 [%r0+8], 0;"),
      [&](unsigned l) { return expected(l, l > 7 ? 5 : 4); });
}

TEST(video, sums_or_lists_differences) {
  const auto parts = [](u32 a, u32 b, unsigned bits) {
    std::vector<u32> d;
    for (unsigned k = 0; k < 32; k += bits) {
      const u32 m = (1u << bits) - 1, x = a >> k & m, y = b >> k & m;
      d.push_back(x > y ? x - y : y - x);
    }
    return d;
  };
  const auto a_of = [](unsigned l) { return l * 0x08143251u; };
  const std::string inputs = "mul.lo.u32 %r0, %l, 0x08143251; mov.u32 %r1, 0x80402010; ";
  for (const unsigned bits : {8u, 16u}) {
    const std::string op = bits == 8 ? "vabsdiff4" : "vabsdiff2";
    expect_lanes(inputs + op + ".u32.u32.u32.add %r2, %r0, %r1, %l; cvt.u64.u32 %d0, %r2;", [&](unsigned l) {
      u64 sum = l;
      for (const u32 d : parts(a_of(l), 0x80402010u, bits)) sum += d;
      return sum;
    });
    expect_lanes(inputs + op + ".u32.u32.u32 %r2, %r0, %r1, %l; cvt.u64.u32 %d0, %r2;", [&](unsigned l) {
      u64 all = 0;
      unsigned at = 0;
      for (const u32 d : parts(a_of(l), 0x80402010u, bits)) all |= u64{d} << at, at += bits;
      return all;
    });
  }
}

}  // namespace ptx_calls_test
}  // namespace heddle
