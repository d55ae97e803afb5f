// SPDX-License-Identifier: MIT
// Every row has a few PTX instructions from inputs to %o, and the expected result in plain C++. Each row runs with both
// multipliers and once more with few registers, so that expansions, allocation and spilling must give the same results.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "ptx_machine.h"
#include "tests/unit/common/ptx_rows.h"

namespace heddle {
namespace ptx_lower_run_test {

using namespace ptx_rows;

void check(const row& r, bool imad, unsigned registers) {
  constexpr std::size_t count = 512;
  ptx_machine machine(kernel(r), imad, registers);
  const std::vector<u64> d = numbers(1, count), e = numbers(2, count), f = numbers(3, count);
  const u64 out = machine.buffer(std::vector<u64>(count, 0x5555));
  machine.run("k", {2, 1, 1}, {256, 1, 1}, {machine.buffer(d), machine.buffer(e), machine.buffer(f), out});
  const std::vector<u64> got = machine.read<u64>(out, count);
  for (std::size_t k = 0; k < count; ++k) {
    const u64 want = r.expected({d[k], e[k], f[k]});
    ASSERT_EQ(got[k], want) << r.name << " of " << std::hex << d[k] << ' ' << e[k] << ' ' << f[k]
                            << (imad ? " imad" : " xmad") << ' ' << std::dec << registers;
  }
}

void check_with_constants(const row& r, unsigned constants) {
  constexpr std::size_t count = 24;
  const std::vector<u64> d = numbers(1, count), e = numbers(2, count), f = numbers(3, count);
  for (const bool imad : {true, false}) {
    ptx_machine machine(kernel(r, constants), imad);
    const u64 out = machine.buffer(std::vector<u64>(1));
    std::vector<u64> arguments(4, out), places(3);
    for (u64& p : places) p = machine.buffer(std::vector<u64>(1));
    for (std::size_t k = 0; k < count; ++k) {
      const u64 in[] = {d[k], e[k], f[k]};
      for (unsigned j = 0; j < 3; ++j) {
        machine.write(places[j], in[j]);
        arguments[j] = (constants >> j & 1) != 0 ? in[j] : places[j];
      }
      machine.run("k", {1, 1, 1}, {1, 1, 1}, arguments);
      ASSERT_EQ(machine.read<u64>(out, 1)[0], r.expected({d[k], e[k], f[k]}))
          << r.name << " of " << std::hex << d[k] << ' ' << e[k] << ' ' << f[k] << (imad ? " imad" : " xmad")
          << ", constants " << constants;
    }
  }
}

void PrintTo(const row& r, std::ostream* out) { *out << r.name; }

class lowered : public testing::TestWithParam<row> {};

TEST_P(lowered, computes_what_ptx_says_on_both_multipliers) {
  check(GetParam(), true, 0);
  check(GetParam(), false, 0);
}

TEST_P(lowered, computes_the_same_when_registers_are_spilled) {
  check(GetParam(), true, 14);
  check(GetParam(), false, 14);
}

TEST_P(lowered, computes_the_same_of_parameters) {
  for (unsigned constants = 1; constants < 8; ++constants) check_with_constants(GetParam(), constants);
}

s64 high_signed(s64 a, s64 b) { return static_cast<s64>((static_cast<__int128>(a) * b) >> 64); }

const row rows[] = {
    {"mad_lo", "mad.lo.s32 %x, %a, %b, %c; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return u64{i.a() * i.b() + i.c()}; }},
    {"mul_lo_constant", "mul.lo.s32 %x, %a, 12345; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return u64{i.a() * 12345u}; }},
    {"mul_wide_signed", "mul.wide.s32 %o, %a, %b;", [](const inputs& i) { return u64(s64{s32(i.a())} * s32(i.b())); }},
    {"mul_wide_unsigned", "mul.wide.u32 %o, %a, %b;", [](const inputs& i) { return u64{i.a()} * i.b(); }},
    {"mad_wide_power", "mul.wide.s32 %w, %a, 8; add.s64 %o, %w, %e;",
     [](const inputs& i) { return u64(s64{s32(i.a())} * 8) + i.e; }},
    {"mad_wide_signed", "mad.wide.s32 %o, %a, %b, %f;",
     [](const inputs& i) { return u64(s64{s32(i.a())} * s32(i.b())) + i.f; }},
    {"mul_hi_s32", "mul.hi.s32 %x, %a, %b; cvt.s64.s32 %o, %x;",
     [](const inputs& i) { return u64(s64{s32(i.a())} * s32(i.b()) >> 32); }},
    {"mul_lo_64", "mul.lo.s64 %o, %d, %e;", [](const inputs& i) { return i.d * i.e; }},
    {"mad_lo_64", "mad.lo.s64 %o, %d, %e, %f;", [](const inputs& i) { return i.d * i.e + i.f; }},
    {"mul_lo_64_onto_itself", "mov.u64 %o, %d; mul.lo.s64 %o, %o, %e; mul.lo.s64 %o, %e, %o;",
     [](const inputs& i) { return i.d * i.e * i.e; }},
    {"mul_hi_u64", "mul.hi.u64 %o, %d, %e;",
     [](const inputs& i) { return u64((static_cast<unsigned __int128>(i.d) * i.e) >> 64); }},
    {"mul_hi_s64", "mul.hi.s64 %o, %d, %e;", [](const inputs& i) { return u64(high_signed(s64(i.d), s64(i.e))); }},
    {"mul24", "mul24.lo.s32 %x, %a, %b; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return u64{u32(s32(i.a() << 8) >> 8) * u32(s32(i.b() << 8) >> 8)}; }},
    // An instruction with an unused result is kept if its carry is used.
    {"carry_alone", "add.cc.u32 %x, %a, %b; addc.u32 %y, %c, 0; cvt.u64.u32 %o, %y;",
     [](const inputs& v) -> u64 { return static_cast<u32>(v.c() + ((u64{v.a()} + v.b()) >> 32)); }},
    {"carry_through", "add.cc.u32 %x, %a, %b; addc.cc.u32 %z, %b, %c; addc.u32 %y, 0, 0; cvt.u64.u32 %o, %y;",
     [](const inputs& v) -> u64 { return (u64{v.b()} + v.c() + ((u64{v.a()} + v.b()) >> 32)) >> 32; }},
    {"borrow_alone", "sub.cc.u32 %x, %a, %b; subc.u32 %y, %c, 0; cvt.u64.u32 %o, %y;",
     [](const inputs& v) -> u64 { return static_cast<u32>(v.c() - (v.a() < v.b() ? 1 : 0)); }},
    {"borrow_through", "sub.cc.u32 %x, %a, %b; subc.cc.u32 %z, %b, %c; subc.u32 %y, 0, 0; cvt.u64.u32 %o, %y;",
     [](const inputs& v) -> u64 {
       return static_cast<u32>(0 - (u64{v.b()} < u64{v.c()} + (v.a() < v.b() ? 1 : 0) ? 1 : 0));
     }},
    {"product_carry_alone", "mad.lo.cc.u32 %x, %a, %b, %c; madc.hi.u32 %y, %a, %b, 0; cvt.u64.u32 %o, %y;",
     [](const inputs& v) -> u64 { return (u64{v.a()} * v.b() + v.c()) >> 32; }},
    {"carry_chain", "add.cc.u32 %x, %a, %b; addc.u32 %y, %b, %c; mov.b64 %o, {%x, %y};",
     [](const inputs& i) {
       return u64{u32(i.a() + i.b())} | u64{u32(i.b() + i.c() + ((u64{i.a()} + i.b()) >> 32))} << 32;
     }},
    {"borrow_chain", "sub.cc.u32 %x, %a, %b; subc.u32 %y, %b, %c; mov.b64 %o, {%x, %y};",
     [](const inputs& i) { return u64{u32(i.a() - i.b())} | u64{u32(i.b() - i.c() - (i.a() < i.b() ? 1 : 0))} << 32; }},
    {"add_sat", "add.sat.s32 %x, %a, %b; cvt.u64.u32 %o, %x;",
     [](const inputs& i) {
       return u64{u32(s32(std::min<s64>(std::max<s64>(s64{s32(i.a())} + s32(i.b()), -2147483648ll), 2147483647ll)))};
     }},
    {"shl_64", "shl.b64 %o, %d, %b;", [](const inputs& i) { return i.b() > 63 ? 0 : i.d << i.b(); }},
    {"shr_u64", "shr.u64 %o, %d, %b;", [](const inputs& i) { return i.b() > 63 ? 0 : i.d >> i.b(); }},
    {"shr_s64", "shr.s64 %o, %d, %b;", [](const inputs& i) { return u64(s64(i.d) >> std::min(i.b(), 63u)); }},
    {"shr_s64_45", "shr.s64 %o, %d, 45;", [](const inputs& i) { return u64(s64(i.d) >> 45); }},
    {"shl_64_13", "shl.b64 %o, %d, 13;", [](const inputs& i) { return i.d << 13; }},
    {"sub_64", "sub.s64 %o, %d, %e;", [](const inputs& i) { return i.d - i.e; }},
    {"neg_64", "neg.s64 %o, %d;", [](const inputs& i) { return 0 - i.d; }},
    {"abs_64", "abs.s64 %o, %d;", [](const inputs& i) { return s64(i.d) < 0 ? 0 - i.d : i.d; }},
    {"min_s64", "min.s64 %o, %d, %e;", [](const inputs& i) { return u64(std::min(s64(i.d), s64(i.e))); }},
    {"max_u64", "max.u64 %o, %d, %e;", [](const inputs& i) { return std::max(i.d, i.e); }},
    {"min_s16", "min.s16 %h2, %h0, %h1; cvt.s64.s16 %o, %h2;",
     [](const inputs& i) { return u64(s64{std::min(s16(i.a()), s16(i.b()))}); }},
    {"setp_64",
     "setp.lt.s64 %p, %d, %e; setp.ge.u64 %q, %d, %e; selp.b64 %w, 1, 0, %p; selp.b64 %o, 2, 0, %q; or.b64 %o, %o, %w;",
     [](const inputs& i) { return u64{s64(i.d) < s64(i.e) ? 1u : 0u} | (i.d >= i.e ? 2u : 0u); }},
    {"setp_16_ignores_upper_bits",
     "add.u16 %h2, %h0, %h1; setp.eq.s16 %p, %h2, 0; setp.lt.s16 %q, %h2, 5; selp.b64 %o, 1, 0, %p; selp.b64 %w, 2, 0, %q; or.b64 %o, %o, %w;",
     [](const inputs& i) { return u64{u16(i.a() + i.b()) == 0} | (s16(i.a() + i.b()) < 5 ? 2 : 0); }},
    {"predicate_logic",
     "setp.lt.s32 %p, %a, %b; setp.gt.u32 %q, %b, %c; and.pred %p, %p, %q; not.pred %q, %q; xor.pred %p, %p, %q; selp.b64 %o, 3, 4, %p;",
     [](const inputs& i) { return ((s32(i.a()) < s32(i.b())) && (i.b() > i.c())) != !(i.b() > i.c()) ? 3 : 4; }},
    {"setp_with_or",
     "setp.eq.s32 %q, %a, %c; setp.lt.or.s32 %p|%q, %a, %b, %q; selp.b64 %o, 1, 0, %p; selp.b64 %w, 2, 0, %q; or.b64 %o, %o, %w;",
     [](const inputs& i) {
       const bool equal = i.a() == i.c(), less = s32(i.a()) < s32(i.b());
       return u64{less || equal} | (!less || equal ? 2 : 0);
     }},
    {"guarded_writes_keep_the_other_lanes",
     "setp.lt.s32 %p, %a, %b; mov.u64 %o, %d; @%p add.s64 %o, %d, %e; @!%p mul.lo.s64 %o, %e, %f;",
     [](const inputs& i) { return s32(i.a()) < s32(i.b()) ? i.d + i.e : i.e * i.f; }},
    {"branches",
     "mov.u64 %o, 1; setp.lt.s32 %p, %a, %b; @%p bra L1; mov.u64 %o, 2; setp.lt.s32 %p, %b, %c; @%p bra L2; bra.uni L3; L1: add.s64 %o, %o, 10; L2: add.s64 %o, %o, 100; L3:",
     [](const inputs& i) -> u64 { return s32(i.a()) < s32(i.b())   ? 111
                                         : s32(i.b()) < s32(i.c()) ? 102
                                                                   : 2; }},
    {"loop",
     "mov.u64 %o, 0; and.b32 %x, %a, 15; mov.u32 %y, 0; L: setp.ge.u32 %p, %y, %x; @%p bra E; mad.lo.s64 %o, %o, 3, %e; add.s32 %y, %y, 1; bra L; E:",
     [](const inputs& i) {
       u64 o = 0;
       for (u32 y = 0; y < (i.a() & 15); ++y) o = o * 3 + i.e;
       return o;
     }},
    {"swap_in_a_loop",
     "mov.u64 %o, %d; mov.u64 %w, %e; and.b32 %x, %c, 7; L: setp.eq.u32 %p, %x, 0; @%p bra E; mov.u64 %w2, %o; mov.u64 %o, %w; mov.u64 %w, %w2; sub.u32 %x, %x, 1; bra L; E:",
     [](const inputs& i) { return i.c() & 1 ? i.e : i.d; }},
    {"switch",
     "and.b32 %x, %a, 3; tbl: .branchtargets A, B, C, D; brx.idx %x, tbl; A: mov.u64 %o, 5; bra E; B: mov.u64 %o, 6; bra E; C: mov.u64 %o, 7; bra E; D: mov.u64 %o, 8; E:",
     [](const inputs& i) { return u64{5} + (i.a() & 3); }},
    {"div_u32", "div.u32 %x, %a, %b; rem.u32 %y, %a, %b; mov.b64 %o, {%x, %y};",
     [](const inputs& i) {
       return i.b() ? u64{i.a() / i.b()} | u64{i.a() % i.b()} << 32 : 0xffffffffu | u64{i.a()} << 32;
     }},
    {"div_s32", "div.s32 %x, %a, %b; rem.s32 %y, %a, %b; mov.b64 %o, {%x, %y};",
     [](const inputs& i) {
       if (i.b() == 0) return 0xffffffffu | u64{i.a()} << 32;
       const s64 a = s32(i.a()), b = s32(i.b());
       return u64{u32(a / b)} | u64{u32(a % b)} << 32;
     }},
    {"div_u16", "div.u16 %h2, %h0, %h1; cvt.u64.u16 %o, %h2;",
     [](const inputs& i) { return u64{u16(i.b()) ? u16(u16(i.a()) / u16(i.b())) : u16(0xffff)}; }},
    {"div_u64", "div.u64 %o, %d, %e;", [](const inputs& i) { return i.e ? i.d / i.e : ~u64{0}; }},
    {"rem_u64_by_eight", "rem.u32 %x, %a, 8; div.u32 %y, %a, 8; mov.b64 %o, {%x, %y};",
     [](const inputs& i) { return u64{i.a() % 8} | u64{i.a() / 8} << 32; }},
    {"bfi_64", "bfi.b64 %o, %d, %e, 20, 30;",
     [](const inputs& i) {
       const u64 m = ((u64{1} << 30) - 1) << 20;
       return (i.d << 20 & m) | (i.e & ~m);
     }},
    {"bfi_64_halves", "bfi.b64 %o, %d, %e, 32, 32;", [](const inputs& i) { return i.d << 32 | (i.e & 0xffffffffu); }},
    {"bfi_64_by_registers", "and.b32 %x, %b, 127; and.b32 %y, %c, 127; bfi.b64 %o, %d, %e, %x, %y;",
     [](const inputs& i) {
       const unsigned at = i.b() & 127, n = i.c() & 127;
       const u64 ones = n > 63 ? ~u64{0} : (u64{1} << n) - 1, m = at > 63 ? 0 : ones << at;
       return at > 63 ? i.e : (i.d << at & m) | (i.e & ~m);
     }},
    {"bfe_s64", "bfe.s64 %o, %d, 7, 21;", [](const inputs& i) { return u64(s64(i.d << 36) >> 43); }},
    {"bfe_u32", "bfe.u32 %x, %a, 7, 21; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return u64{i.a() >> 7 & 0x1fffff}; }},
    {"clz_64", "clz.b64 %x, %d; popc.b64 %y, %d; mov.b64 %o, {%x, %y};",
     [](const inputs& i) { return u64(i.d ? __builtin_clzll(i.d) : 64) | u64(__builtin_popcountll(i.d)) << 32; }},
    {"bfind_s64", "bfind.s64 %x, %d; bfind.shiftamt.u64 %y, %d; mov.b64 %o, {%x, %y};",
     [](const inputs& i) {
       const u64 m = s64(i.d) < 0 ? ~i.d : i.d;
       return u64{m ? u32(63 - __builtin_clzll(m)) : 0xffffffffu} | u64{i.d ? u32(__builtin_clzll(i.d)) : 0xffffffffu}
                                                                        << 32;
     }},
    {"brev_64", "brev.b64 %o, %d; brev.b64 %o, %o; xor.b64 %o, %o, %e;", [](const inputs& i) { return i.d ^ i.e; }},
    {"cvt_narrow", "cvt.s8.s32 %h2, %a; cvt.s64.s16 %o, %h2;", [](const inputs& i) { return u64(s64{s8(i.a())}); }},
    {"cvt_of_low_bits", "cvt.s32.s8 %x, %a; cvt.u32.u16 %y, %b; mov.b64 %o, {%x, %y};",
     [](const inputs& i) { return u64{u32(s32{s8(i.a())})} | u64{u16(i.b())} << 32; }},
    {"cvt_of_low_bits_to_float",
     "cvt.rn.f32.s16 %fo, %a; cvt.rn.f64.u8 %do, %b; mov.b32 %x, %fo; cvt.u64.u32 %o, %x; "
     "mov.b64 %w, %do; xor.b64 %o, %o, %w;",
     [](const inputs& i) { return bits(float(s16(i.a()))) ^ bits(double(u8(i.b()))); }},
    {"cvt_wide_signed", "cvt.s64.s32 %o, %a;", [](const inputs& i) { return u64(s64{s32(i.a())}); }},
    {"cvt_sat", "cvt.sat.u8.s32 %x, %a; cvt.sat.s32.s64 %y, %d; mov.b64 %o, {%x, %y};",
     [](const inputs& i) {
       return u64(std::min(std::max(s32(i.a()), 0), 255)) |
              u64{u32(std::min<s64>(std::max<s64>(s64(i.d), -2147483648ll), 2147483647ll))} << 32;
     }},
    {"cvt_float_int", "cvt.rzi.s32.f32 %x, %fa; cvt.rn.f32.u32 %fo, %b; mov.b32 %y, %fo; mov.b64 %o, {%x, %y};",
     [](const inputs& i) {
       const float v = i.fa();
       const s32 x = std::isnan(v) ? 0 : v >= 2147483648.f ? 2147483647 : v <= -2147483648.f ? -2147483647 - 1 : s32(v);
       return u64{u32(x)} | bits(float(i.b())) << 32;
     }},
    {"cvt_f64_s64", "cvt.rn.f64.s64 %do, %d; mov.b64 %o, %do;", [](const inputs& i) { return bits(double(s64(i.d))); }},
    {"fma_f32", "neg.f32 %fo, %fc; fma.rn.f32 %fo, %fa, %fb, %fo; mov.b32 %x, %fo; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return bits(std::fma(i.fa(), i.fb(), -i.fc())); }},
    {"mul_add_is_contracted",
     ".reg .f32 %t; mul.f32 %t, %fa, %fb; add.f32 %fo, %t, %fc; mov.b32 %x, %fo; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return bits(std::fma(i.fa(), i.fb(), i.fc())); }},
    {"product_less_a_constant",
     ".reg .f32 %t, %u; ld.const.f32 %u, [kf]; mul.f32 %t, %fa, %fb; sub.f32 %fo, %t, %u; mov.b32 %x, %fo; cvt.u64.u32 "
     "%o, %x;",
     [](const inputs& i) { return bits(std::fma(i.fa(), i.fb(), -2.5f)); }},
    {"product_of_a_constant_less_it",
     ".reg .f32 %t, %u; ld.const.f32 %u, [kf]; mul.f32 %t, %fa, %u; sub.f32 %fo, %t, %u; mov.b32 %x, %fo; cvt.u64.u32 "
     "%o, %x;",
     [](const inputs& i) { return bits(std::fma(i.fa(), 2.5f, -2.5f)); }},
    {"constant_less_a_product",
     ".reg .f32 %t, %u; ld.const.f32 %u, [kf]; mul.f32 %t, %fa, %fb; sub.f32 %fo, %u, %t; mov.b32 %x, %fo; cvt.u64.u32 "
     "%o, %x;",
     [](const inputs& i) { return bits(std::fma(-i.fa(), i.fb(), 2.5f)); }},
    {"product_less_a_constant_f64",
     ".reg .f64 %t, %u; ld.const.f64 %u, [kd]; mul.f64 %t, %da, %db; sub.f64 %do, %t, %u; mov.b64 %o, %do;",
     [](const inputs& i) { return fused(i.da(), i.db(), -1.5); }},
    {"product_of_a_constant_less_it_f64",
     ".reg .f64 %t, %u; ld.const.f64 %u, [kd]; mul.f64 %t, %da, %u; sub.f64 %do, %t, %u; mov.b64 %o, %do;",
     [](const inputs& i) { return fused(i.da(), 1.5, -1.5); }},
    {"mul_add_with_a_rounding_is_not_contracted",
     "mul.rn.f32 %fo, %fa, %fb; add.f32 %fo, %fo, %fc; mov.b32 %x, %fo; cvt.u64.u32 %o, %x;",
     [](const inputs& i) {
       volatile float product = i.fa() * i.fb();
       return bits(product + i.fc());
     }},
    {"abs_folds_into_add",
     "abs.f32 %fo, %fa; neg.f32 %fo, %fo; add.f32 %fo, %fo, %fb; mov.b32 %x, %fo; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return bits(-std::fabs(i.fa()) + i.fb()); }},
    {"div_f32", "div.rn.f32 %fo, %fa, %fb; mov.b32 %x, %fo; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return bits(i.fa() / i.fb()); }},
    {"rcp_f32", "rcp.rn.f32 %fo, %fa; mov.b32 %x, %fo; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return bits(1.0f / i.fa()); }},
    {"sqrt_f32", "sqrt.rn.f32 %fo, %fa; mov.b32 %x, %fo; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return bits(std::sqrt(i.fa())); }},
    {"div_f64", "div.rn.f64 %do, %da, %db; mov.b64 %o, %do;", [](const inputs& i) { return bits(i.da() / i.db()); }},
    {"rcp_f64", "rcp.rn.f64 %do, %da; mov.b64 %o, %do;", [](const inputs& i) { return bits(1.0 / i.da()); }},
    {"sqrt_f64", "sqrt.rn.f64 %do, %da; mov.b64 %o, %do;", [](const inputs& i) { return bits(std::sqrt(i.da())); }},
    {"fma_f64", "fma.rn.f64 %do, %da, %db, %dc; mov.b64 %o, %do;",
     [](const inputs& i) { return fused(i.da(), i.db(), i.dc()); }},
    {"guarded_division",
     "setp.lt.s32 %p, %a, %b; mov.f32 %fo, %fa; @%p div.rn.f32 %fo, %fa, %fb; mov.b32 %x, %fo; and.b32 %x, %x, 0x7fffffff; cvt.u64.u32 %o, %x; abs.f32 %fo, %fo; testp.notanumber.f32 %q, %fo; @%q mov.u64 %o, 9;",
     [](const inputs& i) {
       const float v = s32(i.a()) < s32(i.b()) ? i.fa() / i.fb() : i.fa();
       return std::isnan(v) ? u64{9} : u64{as<u32>(v) & 0x7fffffffu};
     }},
    {"copysign", "copysign.f32 %fo, %fa, %fb; mov.b32 %x, %fo; cvt.u64.u32 %o, %x;",
     [](const inputs& i) { return u64{(i.a() & 0x80000000u) | (i.b() & 0x7fffffffu)}; }},
    {"pack_16", "mov.b32 %x, {%h1, %h0}; mov.b32 {%h2, %h3}, %x; mov.b64 %o, {%h0, %h1, %h2, %h3};",
     [](const inputs& i) {
       const u64 lo = u16(i.a()), hi = u16(i.b());
       return lo | hi << 16 | hi << 32 | lo << 48;
     }},
    {"local_memory",
     ".local .align 8 .b8 stack[32]; st.local.u64 [stack+8], %d; st.local.v2.u32 [stack+16], {%b, %c}; st.local.u8 [stack+9], %c; ld.local.u64 %w, [stack+8]; ld.local.u32 %x, [stack+20]; cvt.u64.u32 %o, %x; xor.b64 %o, %o, %w;",
     [](const inputs& i) { return ((i.d & ~u64{0xff00}) | u64{u8(i.c())} << 8) ^ u64 { i.c() }; }},
    {"guarded_vector",
     ".local .align 16 .b8 stack[16]; st.local.v2.u64 [stack], {%d, %e}; mov.b64 %w, %f; mov.b64 %w2, 3; setp.lt.u32 %q, %a, %b; @%q ld.local.v2.u64 {%w, %w2}, [stack]; shl.b64 %w2, %w2, 1; xor.b64 %o, %w, %w2;",
     [](const inputs& i) { return i.a() < i.b() ? i.d ^ i.e << 1 : i.f ^ 6; }},
    {"guarded_vectors",
     ".local .align 8 .b8 stack[8]; st.local.u64 [stack], %d; mov.u32 %x, %b; mov.u32 %y, %c; setp.lt.u32 %q, %b, %c; @%q bra K; ld.local.v2.u32 {%y, %x}, [stack]; K: st.local.u64 [stack], %e; @!%q bra L; ld.local.v2.u32 {%y, %x}, [stack]; L: mov.b64 %o, {%x, %y};",
     [](const inputs& i) { return i.b() < i.c() ? i.e << 32 | i.e >> 32 : i.d << 32 | i.d >> 32; }},
    {"generic_local",
     ".local .align 8 .b8 stack[16]; mov.u64 %w, stack; cvta.local.u64 %w, %w; st.u64 [%w+8], %e; ld.local.u64 %o, [stack+8];",
     [](const inputs& i) { return i.e; }},
    {"shared_vectors",
     ".shared .align 16 .b8 s[8192]; mov.u32 %x, %tid.x; shl.b32 %x, %x, 4; mov.u32 %y, s; add.s32 %x, %y, %x; st.shared.v4.u32 [%x], {%a, %b, %c, %a}; ld.shared.v2.u64 {%w, %o}, [%x]; add.s64 %o, %o, %w;",
     [](const inputs& i) { return (i.a() | u64{i.b()} << 32) + (i.c() | u64{i.a()} << 32); }},
    {"inlined_call",
     "{ .param .b64 p0; .param .b32 p1; .param .b64 r0; st.param.b64 [p0+0], %d; st.param.b32 [p1+0], %b; call.uni (r0), helper, (p0, p1); ld.param.b64 %o, [r0+0]; }",
     [](const inputs& i) { return s64(i.d) < 0 ? i.d + 1 : i.d * i.b(); }},
};

const char* helper =
    ".version 8.0\n.target sm_75\n.address_size 64\n.func (.param .b64 r) helper(.param .b64 x, .param .b32 y) { .reg .b64 %v<4>; .reg .b32 %u; "
    ".reg .pred %g; ld.param.u64 %v0, [x]; ld.param.u32 %u, [y]; setp.lt.s64 %g, %v0, 0; @%g bra N; cvt.u64.u32 %v1, %u; mul.lo.s64 %v2, "
    "%v0, %v1; st.param.b64 [r+0], %v2; ret; N: add.s64 %v3, %v0, 1; st.param.b64 [r+0], %v3; ret; }\n";

std::vector<row> all_rows() {
  std::vector<row> list;
  for (const row& r : rows)
    if (std::string(r.name) != "inlined_call") list.push_back(r);
  return list;
}

INSTANTIATE_TEST_SUITE_P(operations, lowered, testing::ValuesIn(all_rows()),
                         [](const auto& i) { return std::string(i.param.name); });

TEST(lowered_call, replaces_the_call) {
  const row& r = rows[std::size(rows) - 1];
  std::string text = kernel(r);
  text = helper + text.substr(text.find(".visible"));
  ptx_machine machine(text);
  const std::vector<u64> d = numbers(1, 64), e = numbers(2, 64);
  const u64 out = machine.buffer(std::vector<u64>(64));
  machine.run("k", {1, 1, 1}, {64, 1, 1}, {machine.buffer(d), machine.buffer(e), machine.buffer(d), out});
  const std::vector<u64> got = machine.read<u64>(out, 64);
  for (std::size_t k = 0; k < 64; ++k) EXPECT_EQ(got[k], r.expected({d[k], e[k], d[k]}));
}

TEST(lowered_roots, of_every_mantissa_round_exactly) {
  // All mantissas with the exponents 0 and 1, which represent the others.
  ptx_machine machine(
      std::string(
          ".version 8.0\n.target sm_75\n.address_size 64\n.entry k(.param .u64 out) { .reg .b32 %i, %x, %y, %n; .reg .f32 %f, %r, "
          "%s; .reg .b64 %d, %o; .reg .pred %p; ld.param.u64 %d, [out]; mov.u32 %i, %tid.x; mov.u32 %x, %ctaid.x; mad.lo.u32 %i, %x, "
          "1024, %i; mul.wide.u32 %o, %i, 4; add.s64 %d, %d, %o; add.u32 %x, %i, 0x3f800000; mov.u32 %n, 0; L: mov.b32 %f, %x; "
          "rcp.rn.f32 %r, %f; sqrt.rn.f32 %s, %f; st.global.f32 [%d], %r; st.global.f32 [%d+262144], %s; add.u32 %x, %x, 65536; "
          "add.s64 %d, %d, 524288; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 256; @%p bra L; ret; }"),
      true, 0, 140 << 20);
  const u64 out = machine.buffer(std::vector<float>(32 << 20));
  machine.run("k", {64, 1, 1}, {1024, 1, 1}, {out});
  const std::vector<float> got = machine.read<float>(out, 32 << 20);
  for (u32 n = 0; n < 256; ++n)
    for (u32 k = 0; k < 65536; ++k) {
      const float a = as<float>(0x3f800000u + n * 65536 + k);
      ASSERT_EQ(got[std::size_t{n} * 131072 + k], 1.0f / a) << a;
      ASSERT_EQ(got[std::size_t{n} * 131072 + 65536 + k], std::sqrt(a)) << a;
    }
}

}  // namespace ptx_lower_run_test
}  // namespace heddle
