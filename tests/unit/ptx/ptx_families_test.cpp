// SPDX-License-Identifier: MIT
// Instruction families of docs/isa/ptx_parallel.md that operate across lanes or address spaces, and cache policies: PTX
// on one warp against plain C++.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "ptx_machine.h"

namespace heddle {
namespace ptx_families_test {

using u32 = std::uint32_t;
using u64 = std::uint64_t;
using s32 = std::int32_t;

// %a %b %c: the lane's inputs, %l its number; the result is in %o.
std::string kernel(const std::string& code, const std::string& module = "") {
  return ".version 8.4\n.target sm_90\n.address_size 64\n" + module +
         ".visible .entry k(.param .u64 in, .param .u64 out) {\n.reg .b64 %p<3>, %o, %w<4>; .reg .b32 %a, %b, %c, %l, %x, %y, %z; .reg .f32 %f<4>;\n"
         ".reg .b16 %h<4>; .reg .pred %q, %r;\nmov.u32 %l, %tid.x; ld.param.u64 %p0, [in]; mad.wide.u32 %p1, %l, 12, %p0;\n"
         "ld.global.u32 %a, [%p1]; ld.global.u32 %b, [%p1+4]; ld.global.u32 %c, [%p1+8]; ld.param.u64 %p0, [out]; mad.wide.u32 %p1, %l, 8, %p0;\n" +
         code + "\nst.global.b64 [%p1], %o; ret; }\n";
}

using inputs = std::vector<std::array<u32, 3>>;

inputs lanes(unsigned step = 0x9e3779b9u) {
  inputs v(32);
  u32 x = 12345;
  for (auto& lane : v)
    for (u32& n : lane) n = (x = x * 1664525u + step);
  return v;
}

std::vector<u64> run(const std::string& text, const inputs& in) {
  ptx_machine machine(text);
  std::vector<u32> flat;
  for (const auto& lane : in) flat.insert(flat.end(), lane.begin(), lane.end());
  const u64 from = machine.buffer(flat), out = machine.buffer(std::vector<u64>(32, 0x5555));
  machine.run("k", {1, 1, 1}, {32, 1, 1}, {from, out});
  return machine.read<u64>(out, 32);
}

void expect_lanes(const std::string& text, const inputs& in, const std::function<u64(unsigned)>& expected) {
  const std::vector<u64> got = run(text, in);
  for (unsigned l = 0; l < 32; ++l) EXPECT_EQ(got[l], expected(l)) << "lane " << l << "\n" << text;
}

TEST(match, any_gives_the_lanes_with_the_same_value) {
  inputs in = lanes();
  for (auto& lane : in) lane[0] %= 5;
  expect_lanes(kernel("match.any.sync.b32 %x, %a, 0xffffffff; cvt.u64.u32 %o, %x;"), in, [&](unsigned l) {
    u32 m = 0;
    for (unsigned k = 0; k < 32; ++k) m |= in[k][0] == in[l][0] ? 1u << k : 0;
    return u64{m};
  });
}

TEST(match, compares_64_bits_among_the_members_that_execute) {
  inputs in = lanes();
  for (auto& lane : in) lane[0] &= 1, lane[1] &= 1;
  const std::string text = kernel(
      "mov.u64 %o, 0; and.b32 %z, %l, 3; setp.ne.u32 %q, %z, 0; mov.b64 %w0, {%a, %b}; @!%q bra E;"
      "match.any.sync.b64 %x, %w0, 0xeeeeeeee; cvt.u64.u32 %o, %x; E:");
  expect_lanes(text, in, [&](unsigned l) {
    u32 m = 0;
    for (unsigned k = 0; k < 32; ++k) m |= (k & 3) && in[k][0] == in[l][0] && in[k][1] == in[l][1] ? 1u << k : 0;
    return l & 3 ? u64{m} : 0;
  });
}

TEST(match, all_is_true_if_the_members_agree) {
  for (const u32 odd_one : {32u, 7u}) {
    inputs in(32, {9, 9, 9});
    if (odd_one < 32) in[odd_one][0] = 8;
    expect_lanes(kernel("match.all.sync.b32 %x|%q, %a, -1; selp.u32 %y, 1, 0, %q; mov.b64 %o, {%x, %y};"), in,
                 [&](unsigned) { return odd_one < 32 ? u64{0} : 0x1ffffffffu; });
  }
}

TEST(redux, reduces_over_the_members) {
  const inputs in = lanes();
  struct row {
    const char* what;
    std::function<u32(u32, u32)> f;
  };
  const row rows[] = {{"add.sync.s32", [](u32 x, u32 y) { return x + y; }},
                      {"add.sync.u32", [](u32 x, u32 y) { return x + y; }},
                      {"min.sync.s32", [](u32 x, u32 y) { return u32(std::min(s32(x), s32(y))); }},
                      {"max.sync.s32", [](u32 x, u32 y) { return u32(std::max(s32(x), s32(y))); }},
                      {"min.sync.u32", [](u32 x, u32 y) { return std::min(x, y); }},
                      {"max.sync.u32", [](u32 x, u32 y) { return std::max(x, y); }},
                      {"and.sync.b32", [](u32 x, u32 y) { return x & y; }},
                      {"or.sync.b32", [](u32 x, u32 y) { return x | y; }},
                      {"xor.sync.b32", [](u32 x, u32 y) { return x ^ y; }}};
  for (const row& r : rows) {
    u32 low = in[0][0], high = in[16][0];
    for (unsigned k = 1; k < 16; ++k) low = r.f(low, in[k][0]), high = r.f(high, in[16 + k][0]);
    const std::string text =
        kernel(std::string("setp.lt.u32 %q, %l, 16; selp.u32 %z, 0xffff, 0xffff0000, %q; @%q bra L; redux.") + r.what +
               " %x, %a, %z; bra E; L: redux." + r.what + " %x, %a, 0xffff; E: cvt.u64.u32 %o, %x;");
    expect_lanes(text, in, [&](unsigned l) { return u64{l < 16 ? low : high}; });
  }
}

const char* tables =
    ".const .align 4 .u32 first[4] = {11, 22, 33, 44};\n.const .align 4 .u32 second[4] = {5, 6, 7, 8};\n"
    ".global .align 8 .u64 where[2] = {generic(second), generic(second)+4};\n";

TEST(generic_constants, are_read_through_cvta) {
  const std::string text = kernel(
      "mov.u64 %w0, second; cvta.const.u64 %w1, %w0; and.b32 %z, %a, 3; mad.wide.u32 %w2, %z, 4, %w1; ld.u32 %x, [%w2];"
      "cvta.to.const.u64 %w3, %w2; ld.const.u32 %y, [%w3]; mov.b64 %o, {%x, %y};",
      tables);
  const inputs in = lanes();
  expect_lanes(text, in, [&](unsigned l) {
    const u64 v = 5 + (in[l][0] & 3);
    return v | v << 32;
  });
}

TEST(generic_constants, are_reached_through_pointers_in_memory) {
  const std::string text = kernel(
      "ld.global.u64 %w0, [where+8]; ld.u32 %x, [%w0]; isspacep.const %q, %w0; isspacep.const %r, %p1;"
      "selp.u32 %y, 2, 0, %q; @%r add.u32 %y, %y, 1; mov.b64 %o, {%x, %y};",
      tables);
  expect_lanes(text, lanes(), [](unsigned) { return u64{6} | u64{2} << 32; });
}

TEST(cache_policies, of_fractions_are_those_of_the_chips) {
  const auto expect = [](const std::string& code, u64 policy) {
    expect_lanes(kernel(code), lanes(), [policy](unsigned) { return policy; });
  };
  expect("createpolicy.fractional.L2::evict_first.b64 %o, 1.0;", 0x12f0000000000000);  // as in CUTLASS
  expect("createpolicy.fractional.L2::evict_last.b64 %o;", 0x14f0000000000000);
  expect("createpolicy.fractional.L2::evict_normal.b64 %o;", 0x16f0000000000000);
  expect("createpolicy.fractional.L2::evict_last.L2::evict_first.b64 %o, 0.5;", 0x1570000000000000);
  expect("createpolicy.fractional.L2::evict_unchanged.L2::evict_first.b64 %o, 0.51;", 0x1180000000000000);
  expect("mov.u64 %w0, 0x12f0000000000000; createpolicy.cvt.L2.b64 %o, %w0;", 0x12f0000000000000);
  expect_lanes(kernel("cvt.rn.f32.u32 %f0, %l; mul.f32 %f0, %f0, 0f3D800000;"
                      "createpolicy.fractional.L2::evict_last.b64 %o, %f0;"),
               lanes(), [](unsigned l) { return 0x1400000000000000 | u64{std::clamp(l, 1u, 16u) - 1} << 52; });
}

TEST(cache_policies, of_ranges_name_the_blocks_of_the_first_bytes) {
  inputs in = lanes();
  for (unsigned l = 0; l < 32; ++l) {
    in[l][1] = l < 2 ? l : in[l][1] >> (l % 24);  // bytes in all
    in[l][2] = in[l][1] == 0 ? 0 : in[l][2] % (in[l][1] + u64{1});
  }
  expect_lanes(kernel("cvt.u64.u32 %w0, %a; mul.wide.u32 %w1, %a, 4097; add.u64 %w0, %w0, %w1;"
                      "createpolicy.range.global.L2::evict_last.L2::evict_first.b64 %o, [%w0+32], %c, %b;"),
               in, [&](unsigned l) {
                 const u64 begin = u64{in[l][0]} * 4098 + 32, primary = in[l][2];
                 u64 size = 0;  // the least of whose blocks 64 hold all bytes
                 while (in[l][1] == 0 ? size < 14 : (u64{4096} << size) * 64 < in[l][1]) ++size;
                 const u64 block = u64{4096} << size;
                 const u64 count = (begin + primary + block - 1) / block - begin / block;
                 return 0x1d00000000000000 | size << 52 | begin / block % 128 << 44 | std::min<u64>(count, 127) << 37;
               });
}

TEST(refused, below_the_capability_that_has_it) {
  gpu_config config;
  config.gpu.compute_capability = choice::named<choice::compute_capability>("7.5");
  const auto module =
      ptx::place(ptx::parse(kernel("redux.sync.add.u32 %x, %a, -1; cvt.u64.u32 %o, %x;"), "r.ptx"), isa::heap_base);
  EXPECT_THROW(static_cast<void>(ptx::lower(module, "k", config)), input_error);
  config.gpu.compute_capability = choice::named<choice::compute_capability>("8.0");
  EXPECT_NO_THROW(static_cast<void>(ptx::lower(module, "k", config)));
}

TEST(assertions, become_traps_that_say_so) {
  ptx_machine machine(kernel(
      "{ .param .b64 m; .param .b32 n; st.param.b64 [m], %w0; st.param.b32 [n], 7; setp.eq.u32 %q, %a, 0; @!%q bra O; call.uni __assertfail, (m, m, n, m, m); trap; O: }"
      "mov.u64 %o, 1;",
      ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);\n"));
  bool found = false;
  for (const isa::instruction& i : machine.program("k").code)
    found = found || isa::to_string(i).rfind("BPT.TRAP.ASSERT R", 0) == 0;
  EXPECT_TRUE(found);
}

}  // namespace ptx_families_test
}  // namespace heddle
