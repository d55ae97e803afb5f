// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

// Conversions and half precision: exhaustive for 8- and 16-bit operands, compared with value tables and __float128.
#include "simt_fixture.h"
#include "simt_reference.h"

namespace heddle::simt {
namespace simt_conversion_test {

using isa::dtype;
using isa::opcode;
using isa::rounding;

constexpr rounding all_roundings[] = {rounding::rn, rounding::rz, rounding::rm, rounding::rp};

std::vector<operands> every_16_bit_value() {
  std::vector<operands> v;
  for (std::uint64_t k = 0; k < 0x10000; ++k) v.push_back({k | 0xabcd0000u, 0, 0});  // the high bits must not matter
  return v;
}

isa::instruction conversion(opcode op, dtype to, dtype from, rounding mode = rounding::rn) {
  const auto words = [](dtype t) {
    return static_cast<std::uint8_t>(t == dtype::u64 || t == dtype::s64 || t == dtype::f64 ? 2 : 1);
  };
  auto i = make(op, to, words(to), words(from));
  i.src_type = from;
  i.round = mode;
  return i;
}

TEST(simt_conversion, halves_widen_exactly) {
  const auto cases = every_16_bit_value();
  for (const dtype from : {dtype::f16, dtype::bf16}) {
    const small_format& f = from == dtype::f16 ? f16_reference() : bf16_reference();
    check(conversion(opcode::f2f, dtype::f32, from), cases, [&](const operands& o) {
      // All bits of a bf16 are those of the f32, also where it is NaN.
      if (from == dtype::bf16) return outcome{(o.a & 0xffff) << 16};
      return outcome{canonical(static_cast<float>(f.value(o.a & 0xffff)))};
    });
    check(conversion(opcode::f2f, dtype::f64, from), cases,
          [&](const operands& o) { return outcome{canonical(f.value(o.a & 0xffff))}; });
  }
}

std::vector<operands> narrowing_cases(bool f64) {
  std::vector<operands> cases;
  random_bits random(31);
  for (const std::uint64_t e : f64 ? f64_edges() : f32_edges()) cases.push_back({e, 0, 0});
  for (const small_format* f : {&f16_reference(), &bf16_reference()}) {
    for (std::uint32_t k = 0; k <= f->infinity(); k += 29) {  // values, ties between them, and next to ties
      const double low = f->value(k), high = k + 1 >= f->infinity() ? low * 1.01 : f->value(k + 1);
      for (const double v : {low, (low + high) / 2, -(low + high) / 2}) {
        if (f64) {
          for (int d = -1; d <= 1; ++d) cases.push_back({bits_of(v) + static_cast<std::uint64_t>(d), 0, 0});
        } else {
          for (int d = -1; d <= 1; ++d)
            cases.push_back({bits_of(static_cast<float>(v)) + static_cast<std::uint32_t>(d), 0, 0});
        }
      }
    }
  }
  for (int k = 0; k < 3000; ++k) cases.push_back({f64 ? random.next() : random.word(), 0, 0});
  return cases;
}

/// An f64 that is NaN in fewer bits: as an H100 (tests/hardware) it keeps sign and payload, of which the highest bit is
/// set.
std::uint64_t narrowed_nan(std::uint64_t f64, unsigned mantissa_bits, std::uint64_t exponent_mask) {
  const std::uint64_t kept = f64 >> (52 - mantissa_bits), quiet = std::uint64_t{1} << (mantissa_bits - 1);
  // The sign lies above the exponent.
  const std::uint64_t sign = f64 >> 63 != 0 ? exponent_mask + 2 * quiet : 0;
  return sign | exponent_mask | quiet | (kept & (2 * quiet - 1));
}

TEST(simt_conversion, floats_narrow_in_every_rounding) {
  const auto from_f32 = narrowing_cases(false), from_f64 = narrowing_cases(true);
  for (const rounding mode : {rounding::rn, rounding::rz, rounding::rm, rounding::rp, rounding::rna}) {
    for (const dtype to : {dtype::f16, dtype::bf16}) {
      const small_format& f = to == dtype::f16 ? f16_reference() : bf16_reference();
      check(conversion(opcode::f2f, to, dtype::f32, mode), from_f32, [&](const operands& o) {
        const float v = float_of(o.a);
        return outcome{f.round(v, mode, std::signbit(v))};
      });
      check(conversion(opcode::f2f, to, dtype::f64, mode), from_f64, [&](const operands& o) {
        const double v = double_of(o.a);
        if (v != v && to == dtype::f16) return outcome{narrowed_nan(o.a, 10, 0x7c00)};
        return outcome{f.round(v, mode, std::signbit(v))};
      });
    }
    if (mode == rounding::rna) continue;
    for (const bool ftz : {false, true}) {
      auto i = conversion(opcode::f2f, dtype::f32, dtype::f64, mode);
      i.ftz = ftz;
      check(i, from_f64, [&](const operands& o) {
        volatile double v = double_of(o.a);
        if (v != v) return outcome{narrowed_nan(o.a, 23, 0x7f800000u)};
        const float r = rounded(mode, [&]() -> float { return static_cast<float>(v); });
        return outcome{ftz && std::fpclassify(r) == FP_SUBNORMAL ? bits_of(r) & 0x80000000u : canonical(r)};
      });
    }
  }
  auto saturating = conversion(opcode::f2f, dtype::f32, dtype::f32);
  saturating.saturate = true;
  check(saturating, from_f32, [](const operands& o) {
    const float v = float_of(o.a);
    return outcome{bits_of(v > 1 ? 1.0f : v > 0 ? v : 0.0f)};
  });
  check(conversion(opcode::f2f, dtype::f64, dtype::f32), from_f32, [](const operands& o) {
    const float v = float_of(o.a);
    const std::uint64_t sign = (o.a >> 31 & 1) << 63, payload = (o.a & 0x7fffff) << 29;
    return outcome{v != v ? sign | 0x7ff8000000000000u | payload : bits_of(static_cast<double>(v))};
  });
  auto pack = conversion(opcode::f2f, dtype::f16x2, dtype::f32);
  auto both = from_f32;
  for (std::size_t k = 0; k < both.size(); ++k) both[k].b = both[both.size() - 1 - k].a;
  check(pack, both, [](const operands& o) {
    const float a = float_of(o.a), b = float_of(o.b);
    return outcome{f16_reference().round(a, rounding::rn, std::signbit(a)) << 16 |
                   f16_reference().round(b, rounding::rn, std::signbit(b))};
  });
}

struct integer_kind {
  dtype type;
  int bits;
  bool is_signed;
};
constexpr integer_kind integers[] = {{dtype::u8, 8, false},   {dtype::s8, 8, true},    {dtype::u16, 16, false},
                                     {dtype::s16, 16, true},  {dtype::u32, 32, false}, {dtype::s32, 32, true},
                                     {dtype::u64, 64, false}, {dtype::s64, 64, true}};

__extension__ typedef __int128 wide_int;

/// The number represented by the low bits of v.
wide_int number(const integer_kind& k, std::uint64_t v) {
  if (k.bits < 64) v &= (std::uint64_t{1} << k.bits) - 1;
  const bool minus = k.is_signed && (v >> (k.bits - 1) & 1) != 0;
  return wide_int{v} - (minus ? wide_int{1} << k.bits : 0);
}
wide_int smallest(const integer_kind& k) { return k.is_signed ? -(wide_int{1} << (k.bits - 1)) : 0; }
wide_int largest(const integer_kind& k) { return (wide_int{1} << (k.bits - (k.is_signed ? 1 : 0))) - 1; }

TEST(simt_conversion, integer_to_integer) {
  auto cases = every_16_bit_value();
  cases.resize(0x200);
  for (const std::uint64_t e : integer_edges()) cases.push_back({e, 0, 0}), cases.push_back({0 - e, 0, 0});
  random_bits random(8);
  for (int k = 0; k < 300; ++k) cases.push_back({random.next(), 0, 0});
  for (const auto& from : integers) {
    for (const auto& to : integers) {
      for (const bool saturate : {false, true}) {
        auto i = conversion(opcode::i2i, to.type, from.type);
        i.saturate = saturate;
        check(i, cases, [&](const operands& o) {
          wide_int v = number(from, o.a);
          if (saturate) v = v < smallest(to) ? smallest(to) : v > largest(to) ? largest(to) : v;
          return outcome{static_cast<std::uint64_t>(number(to, static_cast<std::uint64_t>(v)))};
        });
      }
    }
  }
}

TEST(simt_conversion, integer_to_float) {
  auto cases = every_16_bit_value();
  random_bits random(18);
  for (const std::uint64_t e : integer_edges()) {
    for (int d = -3; d <= 3; ++d) cases.push_back({e + static_cast<std::uint64_t>(d), 0, 0});
  }
  for (int k = 0; k < 3000; ++k) cases.push_back({random.next() >> (random.word() % 64), 0, 0});
  for (const auto& from : integers) {
    std::vector<operands> some;
    for (std::size_t k = 0; k < cases.size(); k += k >= 0x10000 ? 1 : from.bits == 16 ? 3 : from.bits == 8 ? 1 : 64)
      some.push_back(cases[k]);
    if (from.bits == 8) some.resize(256);
    for (const rounding mode : all_roundings) {
      check(conversion(opcode::i2f, dtype::f32, from.type, mode), some, [&](const operands& o) {
        volatile std::int64_t s = static_cast<std::int64_t>(number(from, o.a));
        volatile std::uint64_t u = static_cast<std::uint64_t>(number(from, o.a));
        if (from.type == dtype::u64 && (u >> 63) != 0) {  // the host would round twice: halve with a sticky bit
          volatile std::int64_t half = static_cast<std::int64_t>(u >> 1 | (u & 1));
          return outcome{bits_of(rounded(mode, [&]() -> float { return 2.0f * static_cast<float>(half); }))};
        }
        return outcome{bits_of(rounded(mode, [&]() -> float { return static_cast<float>(s); }))};
      });
      check(conversion(opcode::i2f, dtype::f64, from.type, mode), some, [&](const operands& o) {
        const wide_int v = number(from, o.a);
        volatile std::int64_t s = static_cast<std::int64_t>(v > largest(integers[7]) ? (v >> 1 | (v & 1)) : v);
        const double twice = v > largest(integers[7]) ? 2.0 : 1.0;
        return outcome{bits_of(rounded(mode, [&]() -> double { return twice * static_cast<double>(s); }))};
      });
      for (const dtype to : {dtype::f16, dtype::bf16}) {
        const small_format& f = to == dtype::f16 ? f16_reference() : bf16_reference();
        check(conversion(opcode::i2f, to, from.type, mode), some, [&](const operands& o) {
          const wide_int v = number(from, o.a);
          return outcome{f.round(static_cast<quad>(v), mode, v < 0)};
        });
      }
    }
  }
}

/// floor, ceiling, truncation or nearest even of a finite value, by the host.
double integral(double v, rounding mode) {
  switch (mode) {
    case rounding::rz: return std::trunc(v);
    case rounding::rm: return std::floor(v);
    case rounding::rp: return std::ceil(v);
    case rounding::rna: return std::round(v);
    default: return std::nearbyint(v);
  }
}

std::uint64_t reference_integer(double v, const integer_kind& to, bool from_f64, rounding mode) {
  if (v != v)
    return from_f64 || to.bits == 64 ? static_cast<std::uint64_t>(number(to, std::uint64_t{1} << (to.bits - 1))) : 0;
  const quad r = integral(v, mode);
  const wide_int clamped = r <= static_cast<quad>(smallest(to))  ? smallest(to)
                           : r >= static_cast<quad>(largest(to)) ? largest(to)
                                                                 : static_cast<wide_int>(r);
  return static_cast<std::uint64_t>(clamped);
}

std::vector<operands> around_integers(bool f64) {
  std::vector<operands> cases;
  random_bits random(41);
  for (const std::uint64_t e : f64 ? f64_edges() : f32_edges()) cases.push_back({e, 0, 0});
  for (const double base : {0.0, 0.5, 1.0, 1.5, 2.5, 127.5, 128.0, 255.5, 32767.5, 65535.5, 2147483647.5, 2147483648.0,
                            4294967295.5, 9223372036854775808.0, 18446744073709551616.0}) {
    for (int d = -2; d <= 2; ++d) {
      for (const double sign : {1.0, -1.0}) {
        if (f64) {
          cases.push_back({bits_of(sign * base) + static_cast<std::uint64_t>(d), 0, 0});
        } else {
          cases.push_back({bits_of(static_cast<float>(sign * base)) + static_cast<std::uint32_t>(d), 0, 0});
        }
      }
    }
  }
  for (int k = 0; k < 2000; ++k) {
    const double v = std::ldexp(static_cast<double>(random.next() >> 11), -53 + static_cast<int>(random.word() % 70)) *
                     (k & 1 ? 1 : -1);
    cases.push_back({f64 ? bits_of(v) : bits_of(static_cast<float>(v)), 0, 0});
  }
  return cases;
}

TEST(simt_conversion, float_to_integer_and_rounding_to_integral) {
  const auto f32 = around_integers(false), f64 = around_integers(true), f16 = every_16_bit_value();
  for (const rounding mode : all_roundings) {
    for (const auto& to : integers) {
      check(conversion(opcode::f2i, to.type, dtype::f32, mode), f32,
            [&](const operands& o) { return outcome{reference_integer(float_of(o.a), to, false, mode)}; });
      check(conversion(opcode::f2i, to.type, dtype::f64, mode), f64,
            [&](const operands& o) { return outcome{reference_integer(double_of(o.a), to, true, mode)}; });
      if (to.bits == 16 || to.bits == 64) {
        check(conversion(opcode::f2i, to.type, dtype::f16, mode), f16, [&](const operands& o) {
          return outcome{reference_integer(f16_reference().value(o.a & 0xffff), to, false, mode)};
        });
        check(conversion(opcode::f2i, to.type, dtype::bf16, mode), f16, [&](const operands& o) {
          return outcome{reference_integer(bf16_reference().value(o.a & 0xffff), to, false, mode)};
        });
      }
    }
    check(conversion(opcode::frnd, dtype::f32, dtype::f32, mode), f32,
          [&](const operands& o) { return outcome{canonical(static_cast<float>(integral(float_of(o.a), mode)))}; });
    check(conversion(opcode::frnd, dtype::f64, dtype::f64, mode), f64,
          [&](const operands& o) { return outcome{canonical(integral(double_of(o.a), mode))}; });
    check(conversion(opcode::frnd, dtype::f16, dtype::f16, mode), f16, [&](const operands& o) {
      const double v = integral(f16_reference().value(o.a & 0xffff), mode);
      return outcome{f16_reference().round(v, rounding::rn, std::signbit(v))};
    });
  }
  auto flushing = conversion(opcode::f2i, dtype::s32, dtype::f32, rounding::rp);
  flushing.ftz = true;
  check(flushing, {{1, 0, 0}, {0x7fffff, 0, 0}, {0x800000, 0, 0}},
        [](const operands& o) { return outcome{o.a == 0x800000}; });
}

TEST(simt_conversion, tf32_keeps_ten_bits) {
  test_warp w;
  auto i = conversion(opcode::f2f, dtype::b32, dtype::f32, rounding::rna);
  w.reg(4, 0) = 0x3f801000u;
  w.reg(4, 1) = 0x3f800fffu;
  w.reg(4, 2) = 0x7fc00000u;
  w.run(i);
  EXPECT_EQ(w.reg(2, 0), 0x3f802000u);
  EXPECT_EQ(w.reg(2, 1), 0x3f800000u);
  EXPECT_EQ(w.reg(2, 2), 0x7fc00000u) << "a NaN is rounded like a number, as on an H100";
}

}  // namespace simt_conversion_test
}  // namespace heddle::simt
