// SPDX-License-Identifier: MIT
// MUFU, compared with the host's math library within the PTX ISA's error bounds, and with its tables of special values;
// exact ASSIST; FCHK.
#include "simt_fixture.h"
#include "simt_reference.h"

namespace heddle::simt {
namespace simt_special_test {

using isa::assist_function;
using isa::dtype;
using isa::mufu_function;
using isa::opcode;
using isa::rounding;

constexpr float inf = HUGE_VALF;

isa::instruction mufu(mufu_function f, bool ftz) {
  auto i = make(opcode::mufu, dtype::f32);
  i.sub = static_cast<std::uint8_t>(f);
  i.ftz = ftz;
  return i;
}

/// Calls body(x, result) for the operands, 32 at a time.
template <class F>
void evaluate(const isa::instruction& i, const std::vector<std::uint32_t>& operands, F body) {
  test_warp w;
  for (std::size_t k = 0; k < operands.size(); k += warp_size) {
    for (unsigned l = 0; l < warp_size; ++l) w.reg(4, l) = operands[(k + l) % operands.size()];
    w.run(i);
    for (unsigned l = 0; l < warp_size; ++l) {
      body(w.reg(4, l), w.reg(2, l));
      if (::testing::Test::HasFatalFailure()) return;
    }
  }
}

/// About 2^18 operands: all exponents, a stepped mantissa, both signs.
const std::vector<std::uint32_t>& sweep() {
  static const std::vector<std::uint32_t> v = [] {
    std::vector<std::uint32_t> all;
    for (std::uint64_t b = 0; b <= 0xffffffffu; b += 16411) all.push_back(static_cast<std::uint32_t>(b));
    return all;
  }();
  return v;
}

double ulp(float v) {
  const float magnitude = std::fabs(v);
  return magnitude < 0x1p-126f ? 0x1p-149 : static_cast<double>(std::nextafterf(magnitude, inf)) - magnitude;
}
float flushed(float v) { return std::fpclassify(v) == FP_SUBNORMAL ? std::copysign(0.0f, v) : v; }

void check_mufu(mufu_function f, double (*reference)(double), double ulps, double absolute, float from = -inf,
                float to = inf) {
  for (const bool ftz : {false, true}) {
    evaluate(mufu(f, ftz), sweep(), [&](std::uint32_t x_bits, std::uint32_t r_bits) {
      float x = float_of(x_bits);
      if (!(x >= from && x <= to)) return;
      if (ftz) x = flushed(x);
      const double exact = reference(x);
      const float r = float_of(r_bits);
      if (std::isnan(exact)) {
        ASSERT_EQ(r_bits, 0x7fffffffu) << x;
      } else if (ftz && std::fabs(exact) < 0x1p-126) {
        ASSERT_EQ(r, 0.0f) << x;
        ASSERT_EQ(std::signbit(r), std::signbit(exact)) << x;
      } else if (std::isinf(static_cast<float>(exact))) {
        ASSERT_EQ(r, static_cast<float>(exact)) << x;
      } else {
        ASSERT_LE(std::fabs(r - exact), ulps * ulp(static_cast<float>(exact)) + absolute) << x << " ftz " << ftz;
      }
    });
  }
}

TEST(simt_special, functions_are_within_one_unit_in_the_last_place) {
  check_mufu(
      mufu_function::rcp, [](double x) { return 1 / x; }, 0.501, 0);
  check_mufu(
      mufu_function::rsq, [](double x) { return x == 0 ? std::copysign(HUGE_VAL, x) : 1 / std::sqrt(x); }, 0.501, 0);
  check_mufu(
      mufu_function::sqrt, [](double x) { return std::sqrt(x); }, 0.501, 0);
  check_mufu(
      mufu_function::ex2, [](double x) { return std::exp2(x); }, 0.501, 0);
  check_mufu(
      mufu_function::lg2, [](double x) { return std::log2(x); }, 0.501, 0);
  check_mufu(
      mufu_function::tanh, [](double x) { return std::tanh(x); }, 0.501, 0);
  check_mufu(
      mufu_function::sin, [](double x) { return std::sin(x); }, 0.501, 0);
  check_mufu(
      mufu_function::cos, [](double x) { return std::cos(x); }, 0.501, 0);
}

TEST(simt_special, large_angles_are_reduced_exactly) {
  std::vector<std::uint32_t> large;
  random_bits random(3);
  for (int k = 0; k < 20000; ++k)
    large.push_back((random.word() & 0x80ffffffu) | (0x4b000000u + ((random.word() % 52) << 24)));
  for (const std::uint32_t b : {0x4bffffffu, 0x4c000000u, 0x4c000001u, 0x7f7fffffu, 0xff7fffffu, 0x5f000000u})
    large.push_back(b);
  evaluate(mufu(mufu_function::sin, false), large, [](std::uint32_t x, std::uint32_t r) {
    const double exact = std::sin(static_cast<double>(float_of(x)));
    if (!std::isfinite(float_of(x))) return;
    ASSERT_LE(std::fabs(float_of(r) - exact), 0.51 * ulp(static_cast<float>(exact))) << float_of(x);
  });
  evaluate(mufu(mufu_function::cos, false), large, [](std::uint32_t x, std::uint32_t r) {
    const double exact = std::cos(static_cast<double>(float_of(x)));
    if (!std::isfinite(float_of(x))) return;
    ASSERT_LE(std::fabs(float_of(r) - exact), 0.51 * ulp(static_cast<float>(exact))) << float_of(x);
  });
}

TEST(simt_special, tables_of_special_values) {
  const auto value = [](mufu_function f, std::uint32_t x) {
    std::uint32_t r = 0;
    evaluate(mufu(f, true), {x}, [&](std::uint32_t, std::uint32_t bits) { r = bits; });
    return r;
  };
  const std::uint32_t plus_inf = 0x7f800000, minus_inf = 0xff800000, nan = 0x7fffffff, minus_zero = 0x80000000;
  const std::uint32_t minus_denormal = 0x80000005, one = 0x3f800000, minus_one = 0xbf800000;
  struct row {
    mufu_function f;
    std::uint32_t minus_inf, minus_denormal, minus_zero, plus_zero, plus_inf, of_nan;
  };
  const row rows[] = {{mufu_function::rcp, minus_zero, minus_inf, minus_inf, plus_inf, 0, nan},
                      {mufu_function::rsq, nan, minus_inf, minus_inf, plus_inf, 0, nan},
                      {mufu_function::sqrt, nan, minus_zero, minus_zero, 0, plus_inf, nan},
                      {mufu_function::sin, nan, minus_zero, minus_zero, 0, nan, nan},
                      {mufu_function::cos, nan, one, one, one, nan, nan},
                      {mufu_function::ex2, 0, one, one, one, plus_inf, nan},
                      {mufu_function::lg2, nan, minus_inf, minus_inf, minus_inf, plus_inf, nan},
                      {mufu_function::tanh, minus_one, minus_zero, minus_zero, 0, one, nan}};
  for (const row& r : rows) {
    EXPECT_EQ(value(r.f, minus_inf), r.minus_inf) << static_cast<int>(r.f);
    EXPECT_EQ(value(r.f, minus_denormal), r.minus_denormal) << static_cast<int>(r.f);
    EXPECT_EQ(value(r.f, minus_zero), r.minus_zero) << static_cast<int>(r.f);
    EXPECT_EQ(value(r.f, 0), r.plus_zero) << static_cast<int>(r.f);
    EXPECT_EQ(value(r.f, plus_inf), r.plus_inf) << static_cast<int>(r.f);
    EXPECT_EQ(value(r.f, 0x7fc12345), r.of_nan) << static_cast<int>(r.f);
  }
  EXPECT_EQ(value(mufu_function::lg2, one), 0u);
  EXPECT_EQ(value(mufu_function::ex2, 0x41200000), 0x44800000u);  // 2^10
}

TEST(simt_special, results_are_the_same_under_masks_and_on_both_builds) {
  std::vector<operands> cases;
  for (std::size_t k = 0; k < sweep().size(); k += 37) cases.push_back({sweep()[k], 0, 0});
  for (unsigned f = 0; f <= static_cast<unsigned>(mufu_function::rsq64h); ++f) {
    for (const bool ftz : {false, true}) {
      const auto i = mufu(static_cast<mufu_function>(f), ftz);
      test_warp w;
      check(i, cases, [&](const operands& o) {
        w.reg(4, 5) = static_cast<std::uint32_t>(o.a);
        select(i)(i, w.state, 1u << 5);
        return outcome{w.reg(2, 5)};
      });
    }
  }
}

TEST(simt_special, high_words_of_f64) {
  for (const bool root : {false, true}) {
    evaluate(mufu(root ? mufu_function::rsq64h : mufu_function::rcp64h, true), sweep(),
             [&](std::uint32_t x, std::uint32_t r) {
               double v = double_of(std::uint64_t{x} << 32);
               if (std::fpclassify(v) == FP_SUBNORMAL) v = std::copysign(0.0, v);
               const double exact = root ? (v == 0 ? std::copysign(HUGE_VAL, v) : 1 / std::sqrt(v)) : 1 / v;
               const double got = double_of(std::uint64_t{r} << 32);
               if (std::isnan(exact)) {
                 ASSERT_EQ(r, 0xfff80000u);
               } else if (std::isinf(exact) || exact == 0 || std::fpclassify(exact) == FP_SUBNORMAL) {
                 ASSERT_EQ(got, std::fpclassify(exact) == FP_SUBNORMAL ? 0.0 : exact) << v;
               } else {
                 ASSERT_LE(std::fabs(got - exact), std::fabs(exact) * 0x1p-20) << v;
               }
             });
  }
}

std::vector<operands> division_cases(const std::vector<std::uint64_t>& edges, bool f64, std::size_t count) {
  std::vector<operands> cases;
  random_bits random(91);
  for (const std::uint64_t a : edges) {
    for (const std::uint64_t b : edges) cases.push_back({a, b, 0});
  }
  for (std::size_t k = 0; k < count; ++k) {
    cases.push_back({f64 ? random.next() : random.word(), f64 ? random.next() : random.word(), 0});
    const std::uint64_t m =
        f64 ? random.next() >> 12 : random.word() >> 9;  // small integers: exact quotients, ties when denormal
    cases.push_back(
        {f64 ? bits_of(static_cast<double>(m >> 20)) : bits_of(static_cast<float>(m >> 8)),
         f64 ? bits_of(static_cast<double>(random.word() % 1000)) : bits_of(static_cast<float>(random.word() % 1000)),
         0});
    cases.push_back(
        {m, f64 ? 0x4000000000000000 + (m << 30 >> 10 << 20) : 0x40000000 + static_cast<std::uint32_t>(m & 0x300fff),
         0});
  }
  return cases;
}

TEST(simt_special, assist_divides_and_takes_roots_exactly) {
  const auto f32 = division_cases(f32_edges(), false, 2000), f64 = division_cases(f64_edges(), true, 2000);
  for (const rounding mode : {rounding::rn, rounding::rz, rounding::rm, rounding::rp}) {
    for (const bool ftz : {false, true}) {
      const auto operand = [&](std::uint64_t v) { return ftz ? flushed(float_of(v)) : float_of(v); };
      const auto result = [&](float v) { return ftz ? canonical(flushed(v)) : canonical(v); };
      for (const auto f : {assist_function::div_f32, assist_function::rcp_f32, assist_function::sqrt_f32}) {
        auto i = make(opcode::assist, dtype::f32);
        i.sub = static_cast<std::uint8_t>(f);
        i.round = mode;
        i.ftz = ftz;
        check(i, f32, [&](const operands& o) {
          volatile float a = operand(o.a), b = operand(o.b);
          return outcome{result(rounded(mode, [&]() -> float {
            return f == assist_function::div_f32 ? a / b : f == assist_function::rcp_f32 ? 1.0f / a : std::sqrt(a);
          }))};
        });
      }
    }
    for (const auto f : {assist_function::div_f64, assist_function::rcp_f64, assist_function::sqrt_f64}) {
      auto i = make(opcode::assist, dtype::f64, 2, 2);
      i.sub = static_cast<std::uint8_t>(f);
      i.round = mode;
      check(i, f64, [&](const operands& o) {
        volatile double a = double_of(o.a), b = double_of(o.b);
        return outcome{canonical(rounded(mode, [&]() -> double {
          return f == assist_function::div_f64 ? a / b : f == assist_function::rcp_f64 ? 1.0 / a : std::sqrt(a);
        }))};
      });
    }
  }
}

__extension__ typedef __int128 wide_int;

TEST(simt_special, assist_divides_64_bit_integers) {
  auto cases = mixed_cases(integer_edges(), 4000, 2, 2000);
  for (const auto f :
       {assist_function::div_s64, assist_function::div_u64, assist_function::rem_s64, assist_function::rem_u64}) {
    auto i = make(opcode::assist, dtype::u64, 2, 2);
    i.sub = static_cast<std::uint8_t>(f);
    check(i, cases, [&](const operands& o) {
      const bool is_signed = f == assist_function::div_s64 || f == assist_function::rem_s64;
      const bool remainder = f == assist_function::rem_s64 || f == assist_function::rem_u64;
      if (o.b == 0) return outcome{remainder ? o.a : ~std::uint64_t{0}};
      const wide_int a = is_signed ? wide_int{static_cast<std::int64_t>(o.a)} : wide_int{o.a};
      const wide_int b = is_signed ? wide_int{static_cast<std::int64_t>(o.b)} : wide_int{o.b};
      return outcome{static_cast<std::uint64_t>(remainder ? a % b : a / b)};
    });
  }
}

TEST(simt_special, fchk_sends_everything_outside_its_ranges_to_the_assist) {
  struct probe {
    assist_function f;
    double a, b;
    bool assist;
  };
  const double tiny = 0x1p-1074;
  const probe probes[] = {{assist_function::div_f32, 1, 3, false},
                          {assist_function::div_f32, 0, 3, true},
                          {assist_function::div_f32, 1, 0, true},
                          {assist_function::div_f32, 0x1p-100, 1, false},
                          {assist_function::div_f32, 0x1p-101, 1, true},
                          {assist_function::div_f32, 0x1p100, 0x1p125, false},
                          {assist_function::div_f32, 0x1p100, 0x1p126, true},
                          {assist_function::div_f32, 1, 0x1p125, true},
                          {assist_function::div_f32, 0x1p1, 0x1p125, false},
                          {assist_function::div_f32, 0x1p125, 1, false},
                          {assist_function::div_f32, 0x1p126, 1, true},
                          {assist_function::div_f32, 1, 0x1.fffffep0, true},
                          {assist_function::div_f32, 0x1.fffffep0, 1, false},
                          {assist_function::div_f32, HUGE_VAL, 1, true},
                          {assist_function::div_f32, 1, NAN, true},
                          {assist_function::div_f32, -5, -0x1p-130, true},
                          {assist_function::rcp_f32, 0x1p125, 0, false},
                          {assist_function::rcp_f32, 0x1p126, 0, true},
                          {assist_function::rcp_f32, -0x1p-125, 0, false},
                          {assist_function::rcp_f32, 0x1p-126, 0, true},
                          {assist_function::rcp_f32, 0x1.fffffep3, 0, true},
                          {assist_function::sqrt_f32, 2, 0, false},
                          {assist_function::sqrt_f32, -2, 0, true},
                          {assist_function::sqrt_f32, 0, 0, true},
                          {assist_function::sqrt_f32, 0x1p-100, 0, false},
                          {assist_function::sqrt_f32, 0x1p-101, 0, true},
                          {assist_function::sqrt_f32, 0x1p127, 0, false},
                          {assist_function::div_f64, 1, 3, false},
                          {assist_function::div_f64, tiny, 1, true},
                          {assist_function::div_f64, 0x1p-900, 1, false},
                          {assist_function::div_f64, 0x1p-901, 1, true},
                          {assist_function::div_f64, 1, 0x1p1018, false},
                          {assist_function::div_f64, 1, 0x1p1019, true},
                          {assist_function::div_f64, 0x1p1020, 1, false},
                          {assist_function::div_f64, 0x1p1021, 1, true},
                          {assist_function::rcp_f64, 0x1p1020, 0, false},
                          {assist_function::rcp_f64, 0x1p1021, 0, true},
                          {assist_function::rcp_f64, 0x1.fffffffffffffp0, 0, true},
                          {assist_function::sqrt_f64, 0x1p-900, 0, false},
                          {assist_function::sqrt_f64, 0x1p-901, 0, true},
                          {assist_function::sqrt_f64, -1, 0, true}};
  for (const probe& p : probes) {
    const bool f64 = p.f >= assist_function::div_f64;
    auto i = make(opcode::fchk, f64 ? dtype::f64 : dtype::f32, 0, f64 ? 2 : 1);
    i.sub = static_cast<std::uint8_t>(p.f);
    i.pdst[0] = 1;
    const operands o{f64 ? bits_of(p.a) : bits_of(static_cast<float>(p.a)),
                     f64 ? bits_of(p.b) : bits_of(static_cast<float>(p.b)), 0};
    check(i, {o}, [&](const operands&) { return outcome{0, p.assist}; });
  }
}

}  // namespace simt_special_test
}  // namespace heddle::simt
