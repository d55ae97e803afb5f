// SPDX-License-Identifier: MIT
// Packed pairs that only some instructions support: two f32, two 8-bit floats.
#include "scalar_operation.h"

namespace heddle::conformance {

namespace {

struct eighth {
  int fraction, bias;
  unsigned top, nan;
};

eighth eighth_of(isa::dtype t) {
  return t == isa::dtype::e4m3x2 ? eighth{3, 7, 0x7e, 0x7f} : eighth{2, 15, 0x7b, 0x7f};
}

exact_number value_of(const eighth& e, unsigned code) {
  exact_number n;
  const unsigned exponent = code >> e.fraction & (0x7f >> e.fraction), fraction = code & ((1u << e.fraction) - 1);
  n.magnitude = exponent == 0 ? fraction : fraction + (1u << e.fraction);
  n.exponent = static_cast<int>(exponent == 0 ? 1 : exponent) - e.bias - e.fraction;
  return n;
}

/// The nearest number, ties to even; saturates at the largest one.
unsigned nearest(const eighth& e, const float_format& f, std::uint64_t v, bool relu) {
  if (f.is_nan(v)) return e.nan;
  const unsigned sign = f.is_negative(v) ? 0x80 : 0;
  if (relu && sign) return 0;
  if (f.is_infinite(v)) return sign | e.top;
  exact_number n = decode(f, v);
  const auto scaled =
      [](const exact_number& x) {  // in units of 2^-40: the midpoint between two codes has no bit below 2^-18
        const int shift = x.exponent + 40;
        if (shift >= 0)
          return shift > 90 && x.magnitude != 0 ? ~static_cast<unsigned __int128>(0)
                                                : x.magnitude << (shift > 90 ? 0 : shift);
        const unsigned __int128 cut = shift < -120 ? 0 : x.magnitude >> -shift;
        const bool rest = shift < -120 ? x.magnitude != 0 : (cut << -shift) != x.magnitude;
        return cut | (rest ? 1 : 0);
      };
  const unsigned __int128 target = scaled(n);
  for (unsigned code = 0; code < e.top; ++code) {
    const unsigned __int128 low = scaled(value_of(e, code)), high = scaled(value_of(e, code + 1));
    if (target >= high) continue;
    const unsigned __int128 twice = target << 1, middle = low + high;
    return sign | (twice < middle || (twice == middle && code % 2 == 0) ? code : code + 1);
  }
  return sign | e.top;
}

std::uint64_t to_half(const eighth& e, unsigned code, bool relu) {
  const float_format f = format_of(isa::dtype::f16);
  const unsigned magnitude = code & 0x7f;
  if (e.fraction == 2 ? magnitude > 0x7c : magnitude == e.nan) return f.nan();
  if (relu && (code & 0x80)) return 0;
  const std::uint64_t sign = code & 0x80 ? f.sign_bit() : 0;
  if (e.fraction == 2 && magnitude == 0x7c) return sign | f.infinity();
  return sign | (magnitude == 0 ? 0 : encode(f, value_of(e, magnitude), direction::nearest_even));
}

bool is_eighths(isa::dtype t) { return t == isa::dtype::e4m3x2 || t == isa::dtype::e5m2x2; }

}  // namespace

bool evaluate_pairs(const scalar_operation& o, const std::uint64_t* s, unsigned count, std::uint64_t& r) {
  if (o.name == "cvt" && is_eighths(o.type)) {
    const eighth e = eighth_of(o.type);
    const float_format f = format_of(o.type2);
    const bool two = o.type2 == isa::dtype::f32;
    const std::uint64_t high = two ? truncated(o.type2, s[0]) : s[0] >> 16 & 0xffff,
                        low = two ? truncated(o.type2, s[1]) : s[0] & 0xffff;
    return r = nearest(e, f, high, o.relu) << 8 | nearest(e, f, low, o.relu), true;
  }
  if (o.name == "cvt" && is_eighths(o.type2)) {
    const eighth e = eighth_of(o.type2);
    return r = to_half(e, s[0] >> 8 & 0xff, o.relu) << 16 | to_half(e, s[0] & 0xff, o.relu), true;
  }
  if (o.type != isa::dtype::f32x2) return false;
  scalar_operation one = o;
  one.type = one.type2 = isa::dtype::f32;
  r = 0;
  for (unsigned k = 0; k < 2; ++k) {
    std::uint64_t h[3] = {}, part = 0;
    for (unsigned j = 0; j < count && j < 3; ++j) h[j] = s[j] >> (32 * k) & 0xffffffffu;
    if (!evaluate_float(one, h, count, part)) throw reference_limit(o.text);
    r |= (part & 0xffffffffu) << (32 * k);
  }
  return true;
}

}  // namespace heddle::conformance
