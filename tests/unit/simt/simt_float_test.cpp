// SPDX-License-Identifier: MIT
// f32 and f64 arithmetic in all rounding modes, compared with the host's own directed rounding.
#include "heddle/simt/scalar/soft_float.h"
#include "simt_fixture.h"
#include "simt_reference.h"

namespace heddle::simt {
namespace simt_float_test {

using isa::compare;
using isa::dtype;
using isa::opcode;
using isa::rounding;

constexpr rounding directions[] = {rounding::rn, rounding::rz, rounding::rm, rounding::rp};

/// Edge values, random bits, and random numbers with similar exponents (cancellation, ties).
std::vector<operands> float_cases(const std::vector<std::uint64_t>& edges, int mantissa, std::size_t limit,
                                  unsigned seed) {
  std::vector<operands> cases;
  random_bits random(seed);
  const std::size_t n = edges.size(), all = n * n * n;
  const std::size_t stride = all / limit | 1;
  for (std::size_t k = 0; k < all; k += stride)
    cases.push_back({edges[k % n], edges[k / n % n], edges[k / n / n], (k & 1) != 0});
  const int width = mantissa == 23 ? 32 : 64;
  for (std::size_t k = 0; k < limit / 2; ++k) {
    const auto any = [&] { return random.next() >> (64 - width); };
    const auto near_one = [&] {
      const std::uint64_t bias = mantissa == 23 ? 127 : 1023;
      const std::uint64_t m = random.next() >> (64 - mantissa);
      const std::uint64_t few = (random.word() & 1) ? m : m >> (mantissa / 2) << (mantissa / 2);
      return (bias - 20 + random.word() % 40) << mantissa | few | (random.next() & 1) << (width - 1);
    };
    cases.push_back({any(), any(), any(), (k & 1) != 0});
    cases.push_back({near_one(), near_one(), near_one(), (k & 1) != 0});
    const std::uint64_t a = near_one(), b = near_one();
    const std::uint64_t minus_product =
        mantissa == 23 ? bits_of(-(float_of(a) * float_of(b))) : bits_of(-(double_of(a) * double_of(b)));
    cases.push_back({a, b, minus_product, true});  // the remainder of a fused product
  }
  return cases;
}

const std::vector<operands>& cases_f32() {
  static const auto c = float_cases(f32_edges(), 23, 6000, 3);
  return c;
}
const std::vector<operands>& cases_f64() {
  static const auto c = float_cases(f64_edges(), 52, 6000, 4);
  return c;
}

std::uint32_t flush_f32(std::uint64_t v) {
  return (v & 0x7f800000u) == 0 ? v & 0x80000000u : static_cast<std::uint32_t>(v);
}

TEST(simt_float, f32_arithmetic) {
  for (const opcode op : {opcode::fadd, opcode::fmul, opcode::ffma}) {
    for (const rounding mode : directions) {
      for (int variant = 0; variant < 4; ++variant) {
        auto i = make(op, dtype::f32);
        i.round = mode;
        i.ftz = (variant & 1) != 0;
        i.saturate = (variant & 2) != 0;
        check(i, cases_f32(), [&](const operands& o) {
          volatile float a = float_of(i.ftz ? flush_f32(o.a) : o.a), b = float_of(i.ftz ? flush_f32(o.b) : o.b),
                         c = float_of(i.ftz ? flush_f32(o.c) : o.c);
          const float r = rounded(mode, [&]() -> float {
            return op == opcode::fadd ? a + b : op == opcode::fmul ? a * b : std::fma(a, b, c);
          });
          if (i.saturate)
            return outcome{r != r ? 0
                                  : bits_of(i.ftz && std::fpclassify(r) == FP_SUBNORMAL ? 0.0f
                                            : r > 1                                     ? 1.0f
                                            : r > 0                                     ? r
                                                                                        : 0.0f)};
          return outcome{i.ftz ? flush_f32(canonical(r)) : canonical(r)};
        });
      }
    }
  }
}

TEST(simt_float, f32_modifiers) {
  auto i = make(opcode::ffma, dtype::f32);
  i.src[0].negate = true;
  i.src[1].absolute = true;
  i.src[2].negate = i.src[2].absolute = true;
  check(i, cases_f32(), [](const operands& o) {
    return outcome{canonical(std::fma(-float_of(o.a), std::fabs(float_of(o.b)), -std::fabs(float_of(o.c))))};
  });
}

/// What an H100 leaves: of operands that are NaN the first one, quiet and without modifiers; without one the result.
std::uint64_t with_nan_of(const operands& o, bool third, double result) {
  for (const std::uint64_t x : {o.a, o.b, third ? o.c : o.a})
    if (std::isnan(double_of(x))) return x | std::uint64_t{1} << 51;
  return canonical(result);
}

TEST(simt_float, f64_arithmetic) {
  for (const opcode op : {opcode::dadd, opcode::dmul, opcode::dfma}) {
    for (const rounding mode : directions) {
      auto i = make(op, dtype::f64, 2, 2);
      i.round = mode;
      check(i, cases_f64(), [&](const operands& o) {
        volatile double a = double_of(o.a), b = double_of(o.b), c = double_of(o.c);
        return outcome{with_nan_of(o, op == opcode::dfma, rounded(mode, [&]() -> double {
                                     return op == opcode::dadd ? a + b : op == opcode::dmul ? a * b : std::fma(a, b, c);
                                   }))};
      });
      i.src[1].negate = true;
      i.src[0].absolute = true;
      check(i, cases_f64(), [&](const operands& o) {
        volatile double a = std::fabs(double_of(o.a)), b = -double_of(o.b), c = double_of(o.c);
        return outcome{with_nan_of(o, op == opcode::dfma, rounded(mode, [&]() -> double {
                                     return op == opcode::dadd ? a + b : op == opcode::dmul ? a * b : std::fma(a, b, c);
                                   }))};
      });
    }
  }
}

// A product halfway between two doubles, and addends that affect only the direction of rounding: 1.5 + 3u, where u is
// half a unit in the last place, and 2^-126 of it (bits that alignment shifts out) or less (no bits left to align).
TEST(simt_float, f64_fma_sees_the_smallest_addend) {
  const double a = 1 + 0x1p-52, b = 1.5;
  const std::uint64_t below = bits_of(1.5 + 0x1p-52), above = bits_of(1.5 + 0x1p-51);
  for (const double addend : {0x1p-126, 0x1p-127, 0x1p-128, 0x1p-1000}) {
    const auto fma = [&](double c, rounding mode) {
      return simt::fma_f64(bits_of(a), bits_of(b), bits_of(c), mode, false);
    };
    EXPECT_EQ(fma(addend, rounding::rn), above) << addend;
    EXPECT_EQ(fma(-addend, rounding::rn), below) << addend;
    const auto sum = [&](double c, rounding mode) {
      return simt::fma_f64(bits_of(1.0), bits_of(1.0), bits_of(c), mode, false);
    };
    EXPECT_EQ(sum(addend, rounding::rp), bits_of(1 + 0x1p-52)) << addend;
    EXPECT_EQ(sum(addend, rounding::rn), bits_of(1.0)) << addend;
    EXPECT_EQ(sum(-addend, rounding::rz), bits_of(1 - 0x1p-53)) << addend;
    EXPECT_EQ(sum(-addend, rounding::rm), bits_of(1 - 0x1p-53)) << addend;
    EXPECT_EQ(sum(-addend, rounding::rp), bits_of(1.0)) << addend;
  }
  EXPECT_EQ(simt::fma_f64(bits_of(a), bits_of(b), bits_of(0.0), rounding::rn, false), above) << "to even";
}

template <class T>
T reference_minmax(T a, T b, bool minimum, bool propagate) {
  if (std::isnan(a) || std::isnan(b))
    return propagate || (std::isnan(a) && std::isnan(b)) ? std::numeric_limits<T>::quiet_NaN() : std::isnan(a) ? b : a;
  if (a == 0 && b == 0) return minimum ? (std::signbit(a) ? a : b) : (std::signbit(a) ? b : a);
  return minimum == (a < b) ? a : b;
}

TEST(simt_float, minimum_and_maximum) {
  for (int variant = 0; variant < 4; ++variant) {
    auto i = make(opcode::fmnmx, dtype::f32);
    i.ftz = (variant & 1) != 0;
    i.nan = (variant & 2) != 0;
    i.psrc[0] = {0, false};
    check(i, cases_f32(), [&](const operands& o) {
      const float a = float_of(i.ftz ? flush_f32(o.a) : o.a), b = float_of(i.ftz ? flush_f32(o.b) : o.b);
      return outcome{canonical(reference_minmax(a, b, o.p, i.nan))};
    });
  }
  auto i = make(opcode::dmnmx, dtype::f64, 2, 2);
  i.psrc[0] = {0, false};
  check(i, cases_f64(), [&](const operands& o) {
    return outcome{canonical(reference_minmax(double_of(o.a), double_of(o.b), o.p, false))};
  });
}

TEST(simt_float, compares) {
  auto f32 = cases_f32();
  auto f64 = cases_f64();
  f32.resize(3000);
  f64.resize(3000);
  for (std::size_t k = 0; k < 3000; k += 5) f32[k].b = f32[k].a, f64[k].b = f64[k].a;
  for (unsigned c = 0; c <= static_cast<unsigned>(compare::t); ++c) {
    const auto cmp = static_cast<compare>(c);
    for (const bool ftz : {false, true}) {
      auto i = make(opcode::fsetp, dtype::f32, 0);
      i.cmp = cmp;
      i.ftz = ftz;
      i.pdst = {4, 5};
      i.psrc[0] = {0, false};
      i.bop = isa::bool_op::xor_;
      const auto relation = [&](const operands& o) {
        return ordered_compare(cmp, float_of(ftz ? flush_f32(o.a) : o.a), float_of(ftz ? flush_f32(o.b) : o.b));
      };
      check(i, f32, [&](const operands& o) { return outcome{0, relation(o) != o.p, relation(o) == o.p}; });
      auto set = make(opcode::fset, dtype::f32);
      set.cmp = cmp;
      set.ftz = ftz;
      check(set, f32, [&](const operands& o) { return outcome{relation(o) ? 0x3f800000u : 0}; });
      set.wide = true;
      set.psrc[0] = {0, true};
      set.bop = isa::bool_op::or_;
      check(set, f32, [&](const operands& o) { return outcome{relation(o) || !o.p ? 0xffffffffu : 0}; });
    }
    auto i = make(opcode::dsetp, dtype::f64, 0, 2);
    i.cmp = cmp;
    i.pdst = {4, 5};
    check(i, f64, [&](const operands& o) {
      const bool r = ordered_compare(cmp, double_of(o.a), double_of(o.b));
      return outcome{0, r, !r};
    });
  }
}

TEST(simt_float, results_do_not_depend_on_what_the_destination_shares) {
  random_bits random(77);
  for (const opcode op : {opcode::ffma, opcode::iadd3, opcode::imad, opcode::shf, opcode::xmad}) {
    for (const unsigned shared : {4u, 6u, 8u}) {
      test_warp apart, in_place;
      for (unsigned r = 4; r < 10; ++r) {
        for (unsigned l = 0; l < warp_size; ++l) apart.reg(r, l) = in_place.reg(r, l) = random.word() & 0x3fffffffu;
      }
      auto i = make(op, dtype::u32);
      apart.run(i);
      i.dst = static_cast<std::uint8_t>(shared);
      in_place.run(i);
      for (unsigned l = 0; l < warp_size; ++l) EXPECT_EQ(apart.reg(2, l), in_place.reg(shared, l));
    }
  }
}

}  // namespace simt_float_test
}  // namespace heddle::simt
