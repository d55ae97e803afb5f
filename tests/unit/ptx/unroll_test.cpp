// SPDX-License-Identifier: MIT
// Unrolling of loops: trips that are computed, what is chosen, why a loop stays, and that results are those of the
// loop.
#include <gtest/gtest.h>

#include <optional>
#include <random>

#include "heddle/frontend/ptx/hir/if_convert.h"
#include "heddle/frontend/ptx/hir/optimise.h"
#include "heddle/frontend/ptx/loops/plan_loops.h"
#include "heddle/frontend/ptx/loops/unroll.h"
#include "heddle/frontend/ptx/resolve/translate/resolver.h"
#include "ptx_machine.h"

namespace heddle {
namespace unroll_test {

using ptx::loop_plan;
using ptx::unroll_refusal;

const char* const head = ".version 8.0\n.target sm_80\n.address_size 64\n";
const char* const registers =
    "{ .reg .pred %p<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<9>; .reg .f64 %e<9>; .shared .b32 s[64];"
    "ld.param.u64 %d1, [o]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [m]; mov.u32 %r3, 0; mov.u32 %r9, %tid.x; mov.f32 %f1, "
    "0f3F800000; mul.wide.u32 %d2, %r9, 4; add.s64 %d3, %d1, %d2;\n";

std::string kernel(const std::string& body, const std::string& directive = "") {
  return head + (".entry k(.param .u64 o, .param .u32 n, .param .u32 m) " + directive) + registers + body +
         " st.global.u32 [%d3], %r3; ret; }";
}

/// A loop from `start` by `step` while `counter test bound`, with `body` in it.
std::string loop(const std::string& start, const std::string& step, const std::string& test, const std::string& bound,
                 const std::string& body = "mad.lo.u32 %r3, %r3, 5, %r4;", const std::string& type = "s32") {
  return "mov.u32 %r4, " + start + "; L: " + body + " add.s32 %r4, %r4, " + step + "; setp." + test + "." + type +
         " %p1, %r4, " + bound + "; @%p1 bra L;";
}

/// The plans of a kernel's loops, each instruction of PTX reckoned as one.
std::vector<loop_plan> plans_of(const std::string& text) {
  const ptx::loaded_module m = ptx::place(ptx::parse(text, "k.ptx"), isa::heap_base);
  ptx::hir_function f;
  ptx::resolver(m, m.ast->functions.back(), f).run();
  ptx::optimise(f, true, false);
  ptx::convert_branches(f, false);
  std::vector<ptx::block_cost> costs;
  for (const ptx::hir_block& b : f.blocks) costs.push_back({b.code.size(), false});
  return ptx::plan_loops(f, costs);
}

loop_plan plan_of(const std::string& text) {
  const std::vector<loop_plan> plans = plans_of(text);
  EXPECT_EQ(plans.size(), 1u) << text;
  return plans.empty() ? loop_plan{} : plans[0];
}

bool holds(const std::string& test, bool has_sign, std::uint32_t a, std::uint32_t b) {
  const std::int64_t x = has_sign ? std::int64_t{static_cast<std::int32_t>(a)} : std::int64_t{a};
  const std::int64_t y = has_sign ? std::int64_t{static_cast<std::int32_t>(b)} : std::int64_t{b};
  if (test == "lt") return x < y;
  if (test == "le") return x <= y;
  if (test == "gt") return x > y;
  if (test == "ge") return x >= y;
  return x != y;
}

/// Trips of the loop, or nothing if there are more than `most`.
std::optional<unsigned> trips_of(std::uint32_t start, std::uint32_t step, const std::string& test, bool has_sign,
                                 std::uint32_t bound, unsigned most) {
  for (unsigned trips = 1; trips <= most; ++trips) {
    start += step;
    if (!holds(test, has_sign, start, bound)) return trips;
  }
  return std::nullopt;
}

TEST(unrolling, trip_counts_are_those_of_the_loop) {
  std::mt19937 random(5);
  const auto number = [&](std::uint32_t extreme) {
    const std::uint32_t base = random() % 4 == 0 ? extreme : 0;
    return base + random() % 101 - 50;
  };
  unsigned known = 0;
  for (unsigned k = 0; k < 2000; ++k) {
    const char* const tests[] = {"lt", "le", "gt", "ge", "ne"};
    const std::string test = tests[random() % 5];
    const bool has_sign = random() % 2 != 0;
    const std::uint32_t extreme = has_sign ? 0x80000000u : 0, start = number(extreme), bound = number(extreme),
                        step = (random() % 2 ? 1u : ~0u) * (random() % 7 + 1);
    const loop_plan p =
        plan_of(kernel(loop(std::to_string(start), std::to_string(static_cast<std::int32_t>(step)), test,
                            std::to_string(bound), "mad.lo.u32 %r3, %r3, 5, %r4;", has_sign ? "s32" : "u32")));
    if (p.trips == 0) continue;
    ++known;
    constexpr unsigned most = 100'000;
    const auto counted = trips_of(start, step, test, has_sign, bound, most);
    EXPECT_TRUE(counted ? *counted == p.trips : p.trips > most)
        << start << " " << step << " " << test << " " << bound << " " << has_sign;
  }
  EXPECT_GT(known, 500u);
}

TEST(unrolling, trip_counts_of_usual_loops_are_known) {
  const auto trips = [](const char* start, const char* step, const char* test, const char* bound, const char* type) {
    return plan_of(kernel(loop(start, step, test, bound, "mad.lo.u32 %r3, %r3, 5, %r4;", type))).trips;
  };
  EXPECT_EQ(trips("0", "1", "lt", "10", "s32"), 10u);
  EXPECT_EQ(trips("0", "3", "lt", "10", "u32"), 4u);
  EXPECT_EQ(trips("0", "3", "le", "9", "s32"), 4u);
  EXPECT_EQ(trips("9", "-1", "gt", "0", "s32"), 9u);
  EXPECT_EQ(trips("9", "-2", "ge", "-3", "s32"), 7u);
  EXPECT_EQ(trips("-16", "4", "ne", "0", "s32"), 4u);
  EXPECT_EQ(trips("20", "1", "lt", "10", "s32"), 1u);  // the first trip is not asked for
  EXPECT_EQ(trips("0", "3", "ne", "10", "s32"), 0u);   // passes its bound
  EXPECT_EQ(trips("0", "1", "gt", "-1", "s32"), 0u);   // until it wraps
  EXPECT_EQ(trips("0", "1", "lt", "%r1", "s32"), 0u);
}

// Bodies of the size that ptxas was given, as many as it makes of them.
TEST(unrolling, how_many_bodies) {
  const auto plan = [](unsigned size, const char* bound) {
    std::string body;
    for (unsigned k = 0; k < size; ++k) body += "mad.lo.u32 %r3, %r3, %r9, %r4;";
    return plan_of(kernel(loop("0", "1", "lt", bound, body)));
  };
  EXPECT_TRUE(plan(2, "128").fully());
  EXPECT_TRUE(plan(45, "7").fully());
  EXPECT_FALSE(plan(121, "8").fully());
  const loop_plan partly = plan(45, "1001");
  EXPECT_EQ(partly.refusal, unroll_refusal::none);
  EXPECT_GT(partly.copies, 1u);
  EXPECT_EQ(partly.behind, 1001 % partly.copies);
  EXPECT_LT((partly.copies + partly.behind) * 46, 350u);
  EXPECT_EQ(plan(45, "%r1").copies, 4u);
  EXPECT_EQ(plan(60, "%r1").refusal, unroll_refusal::size);
  EXPECT_EQ(plan(400, "1000").refusal, unroll_refusal::size);
}

struct refused {
  unroll_refusal why;
  std::string code;
};

TEST(unrolling, why_a_loop_stays) {
  const auto with = [](const std::string& body) { return loop("0", "1", "lt", "8", body); };
  const refused rows[] = {
      {unroll_refusal::asked, with(".pragma \"nounroll\";")},
      {unroll_refusal::contents, with("shfl.sync.bfly.b32 %r3, %r4, 1, 31, -1;")},
      {unroll_refusal::contents, with("vote.sync.ballot.b32 %r3, %p2, -1;")},
      {unroll_refusal::contents, with("redux.sync.add.s32 %r3, %r4, -1;")},
      {unroll_refusal::contents, with("match.any.sync.b32 %r3, %r4, -1;")},
      {unroll_refusal::contents, with("membar.gl;")},
      {unroll_refusal::contents, with("fence.acq_rel.gpu;")},
      {unroll_refusal::contents, with("bar.warp.sync -1;")},
      {unroll_refusal::contents, with("bar.red.popc.u32 %r3, 0, %p2;")},
      {unroll_refusal::counter, loop("0", "%r2", "lt", "%r1")},
      {unroll_refusal::counter,
       "mov.u32 %r4, 64; L: add.u32 %r3, %r3, %r4; shr.u32 %r4, %r4, 1; setp.ne.u32 %p1, %r4, 0; @%p1 bra L;"},
      {unroll_refusal::counter, loop("0", "1", "lt", "%r3")},        // the bound changes
      {unroll_refusal::counter, loop("0", "-1", "lt", "%r1")},       // away from it
      {unroll_refusal::counter, with("@%p2 add.s32 %r4, %r4, 1;")},  // sometimes by two
      {unroll_refusal::counter,
       "mov.u32 %r4, 0; L: mov.u32 %r5, %r4; add.u32 %r4, %r4, 1; add.u32 %r3, %r3, %r4; setp.lt.s32 %p1, %r5, %r1; @%p1 bra L;"},
      {unroll_refusal::exits,
       loop("0", "1", "lt", "%r1", "setp.eq.s32 %p2, %r4, %r2; @%p2 bra X; atom.global.add.u32 %r3, [%d3], 1;") + "X:"},
      {unroll_refusal::exits,
       loop("0", "1", "lt", "%r1", "setp.eq.s32 %p2, %r4, %r2; @%p2 exit; add.u32 %r3, %r3, 1;")},
      {unroll_refusal::shape, loop("0", "1", "lt", "8", "add.u32 %r3, %r3, 7; setp.eq.u32 %p2, %r3, %r2; @%p2 bra L;")},
      {unroll_refusal::shape, "mov.u32 %r4, 0; L: setp.eq.u32 %p2, %r4, 8; @%p2 bra X; add.u32 %r4, %r4, 1; bra L; X:"},
  };
  for (const refused& r : rows) {
    const std::vector<loop_plan> plans = plans_of(kernel(r.code));
    for (const loop_plan& p : plans) EXPECT_EQ(p.refusal, r.why) << r.code;
    EXPECT_EQ(plans.size(), 1u) << r.code;
  }
}

TEST(unrolling, a_loop_entered_at_two_places_is_none) {
  EXPECT_TRUE(
      plans_of(
          kernel(
              "mov.u32 %r4, 0; setp.eq.u32 %p2, %r1, 3; @%p2 bra M; L: add.u32 %r3, %r3, 7; atom.global.add.u32 %r5, [%d3], 1; M: "
              "add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 8; @%p1 bra L;"))
          .empty());
}

TEST(unrolling, only_innermost_loops_are_unrolled) {
  const auto plans = plans_of(kernel("mov.u32 %r5, 0; O: " + loop("0", "1", "lt", "4") +
                                     "add.u32 %r5, %r5, 1; setp.lt.u32 %p2, %r5, 3; @%p2 bra O;"));
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].refusal, unroll_refusal::nested);
  EXPECT_TRUE(plans[1].fully());
}

TEST(unrolling, growth_of_a_kernel_is_limited) {
  std::string code;
  for (unsigned k = 0; k < 400; ++k) {
    std::string one = loop("0", "1", "lt", "100");
    for (std::size_t at = 0; (at = one.find('L', at)) != std::string::npos; at += 4)
      one.replace(at, 1, "L" + std::to_string(100 + k));
    code += one;
  }
  const auto plans = plans_of(kernel(code));
  EXPECT_EQ(plans.front().refusal, unroll_refusal::none);
  EXPECT_EQ(plans.back().refusal, unroll_refusal::budget);
}

// Registers that several loops use one after the other, as people write PTX.
TEST(unrolling, the_last_value_before_the_loop_counts) {
  const auto plans = plans_of(kernel(
      loop("0", "1", "lt", "8") + "mov.u32 %r4, 2; setp.eq.u32 %p2, %r1, 0; @%p2 bra X;" +
      "add.u32 %r3, %r3, 1; M: add.u32 %r3, %r3, %r4; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 8; @%p1 bra M; X:"));
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].trips, 8u);
  EXPECT_EQ(plans[1].trips, 6u);
}

TEST(unrolling, pragma_of_loop_kernel_and_module) {
  const std::string code = loop("0", "1", "lt", "8");
  const auto refusal = [](const std::string& text) { return plan_of(text).refusal; };
  EXPECT_EQ(refusal(kernel(code)), unroll_refusal::none);
  EXPECT_EQ(refusal(kernel(loop("0", "1", "lt", "8", ".pragma \"other\"; add.u32 %r3, %r3, %r4;"))),
            unroll_refusal::none);
  EXPECT_EQ(refusal(kernel(code, ".pragma \"nounroll\";")), unroll_refusal::asked);
  std::string module = kernel(code);
  module.insert(std::string(head).size(), ".pragma \"other\", \"nounroll\";\n");
  EXPECT_EQ(refusal(module), unroll_refusal::asked);
  // In one loop it does not concern the next one.
  const auto plans = plans_of(
      kernel(loop("0", "1", "lt", "8", ".pragma \"nounroll\"; .pragma \"nounroll\"; add.u32 %r3, %r3, %r4;") +
             "mov.u32 %r4, 0; M: add.u32 %r3, %r3, %r4; add.u32 %r4, %r4, 1; setp.lt.u32 %p1, %r4, 8; @%p1 bra M;"));
  ASSERT_EQ(plans.size(), 2u);
  EXPECT_EQ(plans[0].refusal, unroll_refusal::asked);
  EXPECT_EQ(plans[1].refusal, unroll_refusal::none);
}

/// Results of 32 lanes for each pair of parameters.
std::vector<std::uint32_t> results(const std::string& text,
                                   const std::vector<std::pair<std::uint32_t, std::uint32_t>>& given,
                                   bool independent) {
  std::vector<std::uint32_t> all;
  ptx_machine machine(text);
  machine.independent = independent;
  const std::uint64_t out = machine.buffer(std::vector<std::uint32_t>(64, 0));
  for (const auto& [n, m] : given) {
    machine.run("k", {1, 1, 1}, {32, 1, 1}, {out, n, m});
    const auto some = machine.read<std::uint32_t>(out, 64);
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

/// The kernel computes the same as with all its loops as they are, with other code.
void expect_same(const std::string& code, const std::vector<std::pair<std::uint32_t, std::uint32_t>>& given) {
  const std::string text = kernel(code), rolled = kernel(code, ".pragma \"nounroll\";");
  for (const bool independent : {false, true})
    EXPECT_EQ(results(text, given, independent), results(rolled, given, independent)) << code;
  const auto size = [](const std::string& of) { return ptx_machine(of).program("k").code.size(); };
  EXPECT_NE(size(text), size(rolled)) << code;
}

std::vector<std::pair<std::uint32_t, std::uint32_t>> few() {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> given;
  for (std::uint32_t n = 0; n < 19; ++n) given.push_back({n, n % 5});
  return given;
}

TEST(unrolled, unknown_trips_by_every_comparison) {
  for (const char* const type : {"s32", "u32"})
    for (const auto& [test, step] :
         {std::pair{"lt", "1"}, std::pair{"lt", "3"}, std::pair{"le", "1"}, std::pair{"le", "2"}})
      for (const char* const start : {"0", "%r9"})
        expect_same(loop(start, step, test, "%r1", "mad.lo.u32 %r3, %r3, 5, %r4;", type), few());
  for (const char* const test : {"gt", "ge"})
    expect_same(loop("%r1", "-1", test, "1", "mad.lo.u32 %r3, %r3, 5, %r4;"), few());
  std::vector<std::pair<std::uint32_t, std::uint32_t>> beyond;
  for (std::uint32_t n = 32; n < 50; ++n) beyond.push_back({n, 0});
  expect_same(loop("%r9", "1", "ne", "%r1"), beyond);
  expect_same("shl.b32 %r8, %r1, 2; " + loop("0", "4", "ne", "%r8"), beyond);
  expect_same("shl.b32 %r8, %r1, 1; " + loop("%r8", "-2", "ne", "0"), beyond);
}

// A limit of the counter that wraps around must not be taken for one.
TEST(unrolled, bounds_at_the_ends_of_the_type) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> low, high;
  for (std::uint32_t n = 1; n < 12; ++n) {
    low.push_back({0x80000000u + n, 0x80000000u});
    high.push_back({0x7fffffffu - n, 0x7fffffffu - 20});
  }
  expect_same(loop("%r2", "1", "lt", "%r1"), low);
  expect_same(loop("%r2", "1", "lt", "%r1"), high);
  expect_same(loop("%r1", "-1", "gt", "%r2"), low);
  expect_same(loop("%r1", "-1", "gt", "%r2"), high);
  expect_same(loop("%r2", "1", "lt", "%r1", "add.u32 %r3, %r3, 3;", "u32"), few());
}

TEST(unrolled, wide_counters_and_pointers) {
  expect_same(
      "mul.wide.u32 %d5, %r1, 4; add.s64 %d5, %d5, %d1; add.s64 %d5, %d5, 4; mov.u64 %d4, %d1; L: ld.global.u32 %r5, [%d4]; mad.lo.u32 %r3, "
      "%r3, 3, %r5; add.s64 %d4, %d4, 4; setp.ne.s64 %p1, %d4, %d5; @%p1 bra L;",
      few());
  expect_same(
      "cvt.s64.s32 %d5, %r1; mov.u64 %d4, 0; L: cvt.u32.u64 %r5, %d4; mad.lo.u32 %r3, %r3, 3, %r5; add.s64 %d4, %d4, 1; setp.lt.s64 %p1, "
      "%d4, %d5; @%p1 bra L;",
      few());
}

TEST(unrolled, loop_carried_values) {
  for (const char* const bound : {"7", "%r1", "2000"}) {
    expect_same(loop("0", "1", "lt", bound,
                     "mov.u32 %r6, %r5; mov.u32 %r5, %r3; add.u32 %r3, %r6, %r4; xor.b32 %r3, %r3, %r9;"),
                few());
    expect_same(
        loop(
            "0", "1", "lt", bound,
            "and.b32 %r7, %r4, %r9; setp.eq.u32 %p2, %r7, 1; @%p2 mad.lo.u32 %r3, %r3, 3, %r4; @!%p2 add.u32 %r3, %r3, "
            "%r4; add.u32 %r5, %r3, %r5;") +
            "add.u32 %r3, %r3, %r5; add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r7;",
        few());
  }
}

TEST(unrolled, branches_within) {
  const std::string one_side =
      "and.b32 %r7, %r4, %r9; setp.eq.u32 %p2, %r7, 1; @%p2 bra S; atom.global.add.u32 %r5, [%d3], 1; mad.lo.u32 %r3, %r3, 3, %r5; "
      "mad.lo.u32 %r3, %r3, 3, %r5; mad.lo.u32 %r3, %r3, 3, %r5; mad.lo.u32 %r3, %r3, 3, %r5; S: add.u32 %r3, %r3, 1;";
  for (const char* const bound : {"6", "%r1"})
    expect_same(loop("0", "1", "lt", bound, one_side) + "add.u32 %r3, %r3, %r7;", few());
}

TEST(unrolled, exits_within) {
  expect_same(
      loop(
          "0", "1", "lt", "8",
          "add.u32 %r3, %r3, 5; add.u32 %r6, %r4, %r9; setp.eq.u32 %p2, %r6, %r1; @%p2 bra X; atom.global.add.u32 %r5, [%d3], 1;") +
          "add.u32 %r3, %r3, 100; X: add.u32 %r3, %r3, %r4; add.u32 %r3, %r3, %r6;",
      few());
  expect_same(
      loop(
          "0", "1", "lt", "8",
          "add.u32 %r3, %r3, 5; st.global.u32 [%d3], %r3; add.u32 %r6, %r4, %r9; setp.eq.u32 %p2, %r6, %r1; @%p2 exit;"),
      few());
}

// The counter of the inner loop goes on where it was in the trip of the outer one before.
TEST(unrolled, loops_in_loops) {
  for (const char* const inner : {"3", "%r2"})
    for (const char* const outer : {"4", "%r1"})
      expect_same(
          "mov.u32 %r8, 0; mov.u64 %d4, %d1; O: " +
              loop(
                  "0", "1", "lt", inner,
                  "ld.global.u32 %r5, [%d4]; add.s64 %d4, %d4, 4; mad.lo.u32 %r3, %r3, 3, %r5; add.u32 %r3, %r3, %r8;") +
              "add.u32 %r8, %r8, 1; setp.lt.s32 %p2, %r8, " + outer + "; @%p2 bra O;",
          few());
}

TEST(unrolled, barriers_and_shared_memory) {
  expect_same(
      "shl.b32 %r6, %r9, 2; mov.u32 %r7, s; add.u32 %r6, %r6, %r7; " +
          loop(
              "0", "1", "lt", "%r1",
              "st.shared.u32 [%r6], %r3; bar.sync 0; xor.b32 %r8, %r6, 4; ld.shared.u32 %r5, [%r8]; bar.sync 0; mad.lo.u32 %r3, "
              "%r5, 3, %r9;"),
      few());
}

// Sums of a pointer's steps are offsets, and one sum remains.
TEST(unrolled, steps_become_offsets) {
  ptx_machine machine(
      kernel("mov.u64 %d4, %d1; " +
             loop("0", "1", "lt", "16", "ld.global.u32 %r5, [%d4]; add.s64 %d4, %d4, 4; add.u32 %r3, %r3, %r5;")));
  unsigned loads = 0, branches = 0;
  for (const isa::instruction& i : machine.program("k").code) {
    if (i.op == isa::opcode::ld && i.mem_space == isa::space::global) {
      EXPECT_EQ(i.offset, 4 * static_cast<std::int64_t>(loads));
      ++loads;
    }
    branches += i.op == isa::opcode::bra;
  }
  EXPECT_EQ(loads, 16u);
  EXPECT_EQ(branches, 0u);
}

// Every copy of an instruction keeps the line that it was written in.
TEST(unrolled, lines_stay) {
  const std::string text =
      kernel("mov.u64 %d4, %d1;\n" +
             loop("0", "1", "lt", "4", "\nld.global.u32 %r5, [%d4];\n add.s64 %d4, %d4, 4; add.u32 %r3, %r3, %r5;"));
  std::vector<std::uint32_t> lines;
  ptx_machine machine(text);
  for (const isa::instruction& i : machine.program("k").code)
    if (i.op == isa::opcode::ld && i.mem_space == isa::space::global) lines.push_back(i.line);
  EXPECT_EQ(lines, std::vector<std::uint32_t>(4, lines.at(0)));
}

}  // namespace unroll_test
}  // namespace heddle
