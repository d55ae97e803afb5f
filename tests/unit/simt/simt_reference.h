// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cfenv>
#include <cmath>
#include <cstdint>
#include <vector>

#include "heddle/isa/opcode.h"

// Independent floating-point references: the host's own directed rounding for f32 and f64, and a search among all
// values of a 16-bit format.

namespace heddle::simt {

inline double double_of(std::uint64_t v) { return __builtin_bit_cast(double, v); }
inline std::uint64_t bits_of(double v) { return __builtin_bit_cast(std::uint64_t, v); }
inline float float_of(std::uint64_t v) { return __builtin_bit_cast(float, static_cast<std::uint32_t>(v)); }
inline std::uint32_t bits_of(float v) { return __builtin_bit_cast(std::uint32_t, v); }

/// Computes f() under a rounding direction of the host. f must read its operands through volatile variables.
template <class F>
auto rounded(isa::rounding mode, F f) {
  const int direction[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD, FE_TONEAREST};
  std::fesetround(direction[static_cast<int>(mode)]);
  volatile auto r = f();
  std::fesetround(FE_TONEAREST);
  return r;
}

inline std::uint64_t canonical(float v) { return v != v ? 0x7fffffffu : bits_of(v); }
inline std::uint64_t canonical(double v) { return v != v ? 0xfff8000000000000u : bits_of(v); }

__extension__ typedef __float128 quad;

/// A 16-bit format as a table of values: value(k) of the non-negative pattern k increases with k.
class small_format {
 public:
  small_format(int mantissa, int bias) : mantissa_(mantissa), bias_(bias) {
    const int top = (0x8000 >> mantissa) - 1;
    infinity_ = static_cast<std::uint32_t>(top) << mantissa;
    for (std::uint32_t k = 0; k < infinity_; ++k) values_.push_back(finite(k));
    values_.push_back(finite(infinity_));  // the next value after the largest one, in place of infinity: 2^(emax+1)
  }
  [[nodiscard]] std::uint32_t infinity() const { return infinity_; }
  [[nodiscard]] bool is_nan(std::uint32_t bits) const { return (bits & 0x7fff) > infinity_; }
  [[nodiscard]] double value(std::uint32_t bits) const {
    const std::uint32_t k = bits & 0x7fff;
    const double v = k > infinity_ ? std::nan("") : k == infinity_ ? HUGE_VAL : values_[k];
    return bits & 0x8000 ? -v : v;
  }
  /// The bits of the rounded v; NaN is 0x7fff.
  [[nodiscard]] std::uint32_t round(quad v, isa::rounding mode, bool negative) const {
    if (v != v) return 0x7fff;
    const std::uint32_t sign = negative ? 0x8000 : 0;
    const quad magnitude = v < 0 ? -v : v;
    if (magnitude > static_cast<quad>(1.7976931348623157e308)) return sign | infinity_;
    const auto above = std::lower_bound(values_.begin(), values_.end(), magnitude,
                                        [](double a, quad b) { return static_cast<quad>(a) < b; });
    const bool directed_up = (mode == isa::rounding::rp && !negative) || (mode == isa::rounding::rm && negative);
    const bool directed_down =
        mode == isa::rounding::rz || (!directed_up && mode != isa::rounding::rn && mode != isa::rounding::rna);
    if (above == values_.end()) return sign | (directed_down ? infinity_ - 1 : infinity_);
    const auto high = static_cast<std::uint32_t>(above - values_.begin());
    if (static_cast<quad>(*above) == magnitude)
      return sign | (high == infinity_ && directed_down ? infinity_ - 1 : high);
    if (directed_up) return sign | high;
    if (directed_down) return sign | (high - 1);
    const quad to_high = static_cast<quad>(values_[high]) - magnitude;
    const quad to_low = magnitude - static_cast<quad>(values_[high - 1]);
    if (to_high != to_low) return sign | (to_high < to_low ? high : high - 1);
    return sign | (mode == isa::rounding::rna || (high & 1) == 0 ? high : high - 1);
  }

 private:
  [[nodiscard]] double finite(std::uint32_t k) const {
    const auto e = static_cast<int>(k >> mantissa_);
    const double m = k & ((1u << mantissa_) - 1);
    const double hidden = 1 << mantissa_;
    return e == 0 ? std::ldexp(m, 1 - bias_ - mantissa_) : std::ldexp(m + hidden, e - bias_ - mantissa_);
  }
  int mantissa_;
  int bias_;
  std::uint32_t infinity_ = 0;
  std::vector<double> values_;
};

inline const small_format& f16_reference() {
  static const small_format f(10, 15);
  return f;
}
inline const small_format& bf16_reference() {
  static const small_format f(7, 127);
  return f;
}

inline bool ordered_compare(isa::compare c, double a, double b) {
  const bool nan = std::isnan(a) || std::isnan(b);
  const int order = nan ? 2 : a < b ? -1 : a > b ? 1 : 0;
  using isa::compare;
  switch (c) {
    case compare::lt: return order == -1;
    case compare::eq: return order == 0;
    case compare::le: return order == -1 || order == 0;
    case compare::gt: return order == 1;
    case compare::ne: return order == -1 || order == 1;
    case compare::ge: return order == 1 || order == 0;
    case compare::num: return order != 2;
    case compare::nan: return order == 2;
    case compare::ltu: return order == -1 || order == 2;
    case compare::equ: return order == 0 || order == 2;
    case compare::leu: return order != 1;
    case compare::gtu: return order == 1 || order == 2;
    case compare::neu: return order != 0;
    case compare::geu: return order != -1;
    case compare::t: return true;
    default: return false;
  }
}

inline const std::vector<std::uint64_t>& f32_edges() {
  static const std::vector<std::uint64_t> e = [] {
    std::vector<std::uint64_t> v;
    for (const std::uint32_t m :
         {0u,          1u,          2u,          0x7fffffu,   0x800000u,   0x800001u,   0xffffffu,
          0x1000000u,  0x34000000u, 0x33800000u, 0x33800001u, 0x3f000000u, 0x3f7fffffu, 0x3f800000u,
          0x3f800001u, 0x40000000u, 0x40400000u, 0x4b7fffffu, 0x4b800001u, 0x5f000001u, 0x7e800000u,
          0x7f000000u, 0x7f7fffffu, 0x7f800000u, 0x7fc00000u, 0x7f800001u, 0x20000001u, 0x1fffffffu}) {
      v.push_back(m);
      v.push_back(m | 0x80000000u);
    }
    return v;
  }();
  return e;
}
inline const std::vector<std::uint64_t>& f64_edges() {
  static const std::vector<std::uint64_t> e = [] {
    std::vector<std::uint64_t> v;
    for (const std::uint64_t m : {0x0ull,
                                  0x1ull,
                                  0x2ull,
                                  0xfffffffffffffull,
                                  0x10000000000000ull,
                                  0x10000000000001ull,
                                  0x1fffffffffffffull,
                                  0x3ca0000000000000ull,
                                  0x3c90000000000001ull,
                                  0x3fe0000000000000ull,
                                  0x3fefffffffffffffull,
                                  0x3ff0000000000000ull,
                                  0x3ff0000000000001ull,
                                  0x4000000000000000ull,
                                  0x4340000000000001ull,
                                  0x5ff0000000000001ull,
                                  0x2000000000000001ull,
                                  0x1fffffffffffffffull,
                                  0x7fe0000000000000ull,
                                  0x7fefffffffffffffull,
                                  0x7ff0000000000000ull,
                                  0x7ff8000000000000ull,
                                  0x7ff0000000000001ull}) {
      v.push_back(m);
      v.push_back(m | 0x8000000000000000ull);
    }
    return v;
  }();
  return e;
}

}  // namespace heddle::simt
