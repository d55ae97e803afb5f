// SPDX-License-Identifier: MIT
// f16 and bf16 computed from their values in double. Products and sums of f16 are exact there. A sum of bf16 is first
// rounded to 53 bits, which does not affect its rounding to 8 bits, because 53 >= 2 * 8 + 2 (Figueroa 1995), and which
// is exact for subnormal results.
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "pair_operation.h"

namespace heddle::conformance {

namespace {

using u32 = std::uint32_t;

/// The values of all numbers of a format of 16 bits.
std::vector<double> values_of(const float_format& f) {
  std::vector<double> v(65536);
  for (u32 bits = 0; bits < v.size(); ++bits) {
    const exact_number n = decode(f, bits);
    const double magnitude = f.is_nan(bits) ? std::numeric_limits<double>::quiet_NaN()
                             : f.is_infinite(bits)
                                 ? std::numeric_limits<double>::infinity()
                                 : std::ldexp(static_cast<double>(static_cast<u32>(n.magnitude)), n.exponent);
    v[bits] = n.negative ? -magnitude : magnitude;
  }
  return v;
}

const double* table_of(isa::dtype t) {
  static const std::vector<double> f16 = values_of(format_of(isa::dtype::f16)),
                                   bf16 = values_of(format_of(isa::dtype::bf16));
  return t == isa::dtype::f16 ? f16.data() : bf16.data();
}

template <unsigned fraction>
struct half_format {
  static constexpr u32 infinity = 0x7fffu >> fraction << fraction;
  static constexpr int bias = static_cast<int>(infinity >> (fraction + 1));
  static constexpr u32 one = static_cast<u32>(bias) << fraction;
  static bool is_nan(u32 v) { return (v & 0x7fff) > infinity; }
  static u32 flushed(u32 v) { return (v & infinity) == 0 ? v & 0x8000 : v; }
  /// Numbers have the same order as these keys.
  static std::int32_t key(u32 v) {
    return v & 0x8000 ? -static_cast<std::int32_t>(v & 0x7fff) : static_cast<std::int32_t>(v);
  }

  /// Rounds to the nearest, ties to even.
  static u32 rounded(double v) {
    std::uint64_t bits;
    std::memcpy(&bits, &v, sizeof bits);
    const u32 sign = static_cast<u32>(bits >> 48) & 0x8000;
    const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
    const std::uint64_t stored = bits & 0xfffffffffffffu;
    if (exponent == 1024) return stored != 0 ? 0x7fff : sign | infinity;
    const int below = 1 - bias - exponent;  // how far below the least normal exponent
    int shift = 52 - static_cast<int>(fraction) + (below > 0 ? below : 0);
    if (shift > 54) shift = 54;
    const std::uint64_t significand = stored | std::uint64_t{1} << 52, half = std::uint64_t{1} << (shift - 1);
    const std::uint64_t odd = significand >> shift & 1;
    const auto kept = static_cast<u32>((significand + half - 1 + odd) >> shift);
    // A normal number's leading one adds 1 to the exponent field; a carry out of the fraction does, too.
    const u32 magnitude = below > 0 ? kept : kept + (static_cast<u32>(exponent + bias - 1) << fraction);
    return sign | (magnitude > infinity ? infinity : magnitude);
  }
};

template <unsigned fraction, bool ftz, bool sat>
u32 finished(double exact) {
  using format = half_format<fraction>;
  u32 r = format::rounded(exact);
  if (ftz) r = format::flushed(r);
  if (sat) r = format::is_nan(r) || (r & 0x8000) ? 0 : r > format::one ? format::one : r;
  return r;
}

template <unsigned fraction, bool ftz, bool sat>
std::unique_ptr<pair_operation> arithmetic(const scalar_operation& o, const double* value) {
  const auto of = [value](u32 v) { return value[ftz ? half_format<fraction>::flushed(v) : v]; };
  if (o.name == "add") return rows_of_pairs([of](u32 a, u32 b) { return finished<fraction, ftz, sat>(of(a) + of(b)); });
  if (o.name == "sub") return rows_of_pairs([of](u32 a, u32 b) { return finished<fraction, ftz, sat>(of(a) - of(b)); });
  if (o.name == "mul") return rows_of_pairs([of](u32 a, u32 b) { return finished<fraction, ftz, sat>(of(a) * of(b)); });
  return nullptr;
}

/// min and max. -0 is less than +0 here.
template <unsigned fraction>
struct selection {
  using format = half_format<fraction>;
  bool least, nan, ftz, xorsign;

  [[nodiscard]] u32 plain(u32 a, u32 b) const {
    const bool na = format::is_nan(a), nb = format::is_nan(b);
    if (na || nb) return (na && nb) || nan ? 0x7fff : na ? b : a;
    const std::int32_t x = format::key(a), y = format::key(b);
    const bool a_less = x < y || (x == y && (a & 0x8000));
    return a_less == least ? a : b;
  }
  u32 operator()(u32 a, u32 b) const {
    if (ftz) a = format::flushed(a), b = format::flushed(b);
    return xorsign ? (plain(a & 0x7fff, b & 0x7fff) & 0x7fff) | ((a ^ b) & 0x8000) : plain(a, b);
  }
};

template <unsigned fraction>
std::unique_ptr<pair_operation> resolve(const scalar_operation& o, isa::dtype t) {
  if (o.name == "min" || o.name == "max")
    return rows_of_pairs(selection<fraction>{o.name == "min", o.has("NaN"), o.ftz, o.has("xorsign")});
  const double* value = table_of(t);
  if (o.sat) return o.ftz ? arithmetic<fraction, true, true>(o, value) : arithmetic<fraction, false, true>(o, value);
  return o.ftz ? arithmetic<fraction, true, false>(o, value) : arithmetic<fraction, false, false>(o, value);
}

/// A comparison is the set of relations (less, equal, greater, unordered) for which it is true.
unsigned relations_of(const std::string_view c) {
  if (c == "num") return 7;
  if (c == "nan") return 8;
  const unsigned unordered = c.size() == 3 ? 8 : 0;
  const std::string_view base = c.substr(0, 2);
  if (base == "eq") return unordered | 2;
  if (base == "ne") return unordered | 5;
  if (base == "lt") return unordered | 1;
  if (base == "le") return unordered | 3;
  return unordered | (base == "gt" ? 4 : 6);
}

template <unsigned fraction>
struct float_comparison {
  using format = half_format<fraction>;
  unsigned relations;
  bool ftz;
  u32 yes;
  u32 operator()(u32 a, u32 b) const {
    if (ftz) a = format::flushed(a), b = format::flushed(b);
    const std::int32_t x = format::key(a), y = format::key(b);
    const unsigned relation = format::is_nan(a) || format::is_nan(b) ? 3 : x < y ? 0 : x == y ? 1 : 2;
    return relations >> relation & 1 ? yes : 0;
  }
};

}  // namespace

std::unique_ptr<pair_operation> resolve_float_pair(const scalar_operation& o, isa::dtype t) {
  return t == isa::dtype::f16 ? resolve<10>(o, t) : t == isa::dtype::bf16 ? resolve<7>(o, t) : nullptr;
}

std::unique_ptr<pair_operation> resolve_float_comparison(const scalar_operation& o, isa::dtype t, std::uint32_t yes) {
  const unsigned relations = relations_of(o.compare.view());
  if (t == isa::dtype::f16) return rows_of_pairs(float_comparison<10>{relations, o.ftz, yes});
  return t == isa::dtype::bf16 ? rows_of_pairs(float_comparison<7>{relations, o.ftz, yes}) : nullptr;
}

}  // namespace heddle::conformance
