// SPDX-License-Identifier: MIT
#include "float_format.h"

#include <cstring>

#include "heddle/config/error.h"

namespace heddle::conformance {

namespace {

/// True if rounding moves away from zero, given the discarded part (compared with one half: -1 below, 0 equal, 1
/// above; exact if nothing was discarded).
bool away(direction d, bool negative, bool odd, bool exact, int against_half) {
  if (exact) return false;
  switch (d) {
    case direction::nearest_even: return against_half > 0 || (against_half == 0 && odd);
    case direction::nearest_away: return against_half >= 0;
    case direction::zero: return false;
    case direction::down: return negative;
    default: return !negative;
  }
}

struct shifted {
  unsigned __int128 value;
  bool exact;
  int against_half;
};

/// magnitude / 2^bits, with information about the discarded bits.
shifted shift_right(unsigned __int128 magnitude, bool sticky, int bits) {
  if (bits <= 0) return {magnitude << -bits, !sticky, -1};
  if (bits > 127) return {0, magnitude == 0 && !sticky, -1};
  const unsigned __int128 lost = magnitude & ((static_cast<unsigned __int128>(1) << bits) - 1);
  const unsigned __int128 half = static_cast<unsigned __int128>(1) << (bits - 1);
  const int against = lost < half ? -1 : lost > half || sticky ? 1 : 0;
  return {magnitude >> bits, lost == 0 && !sticky, against};
}

int length(unsigned __int128 v) {
  int n = 0;
  for (; v != 0; v >>= 1) ++n;
  return n;
}

}  // namespace

float_format format_of(isa::dtype t) {
  switch (t) {
    case isa::dtype::f16:
    case isa::dtype::f16x2: return {16, 10};
    case isa::dtype::bf16:
    case isa::dtype::bf16x2: return {16, 7};
    case isa::dtype::f32: return {32, 23};
    case isa::dtype::f64: return {64, 52};
    default: throw internal_error("the reference was asked for the floating format of an integer");
  }
}

exact_number decode(const float_format& f, std::uint64_t bits) {
  exact_number n;
  n.negative = f.is_negative(bits);
  const std::uint64_t fraction = bits & ((std::uint64_t{1} << f.fraction) - 1);
  const int biased = static_cast<int>((bits & f.infinity()) >> f.fraction);
  n.magnitude = biased == 0 ? fraction : fraction | std::uint64_t{1} << f.fraction;
  n.exponent = (biased == 0 ? 1 : biased) - f.bias() - static_cast<int>(f.fraction);
  return n;
}

std::uint64_t encode(const float_format& f, const exact_number& n, direction d) {
  const std::uint64_t sign = n.negative ? f.sign_bit() : 0;
  if (n.magnitude == 0 && !n.sticky) return sign;
  const int least = 1 - f.bias() - static_cast<int>(f.fraction);  // exponent of the last bit of subnormal numbers
  int last = length(n.magnitude) + n.exponent - static_cast<int>(f.fraction) - 1;
  if (last < least) last = least;
  const shifted s = shift_right(n.magnitude, n.sticky, last - n.exponent);
  auto significand = static_cast<std::uint64_t>(s.value);
  if (away(d, n.negative, significand & 1, s.exact, s.against_half)) ++significand;
  if (significand >> (f.fraction + 1)) significand >>= 1, ++last;
  const bool normal = (significand >> f.fraction) != 0;
  const std::uint64_t biased = normal ? static_cast<std::uint64_t>(last - least + 1) : 0;
  if (biased >= f.infinity() >> f.fraction) {
    const bool stays =
        d == direction::zero || (d == direction::down && !n.negative) || (d == direction::up && n.negative);
    return sign | (stays ? f.infinity() - 1 : f.infinity());
  }
  return sign | biased << f.fraction | (significand & ((std::uint64_t{1} << f.fraction) - 1));
}

__int128 to_integer(const exact_number& n, direction d) {
  const __int128 huge = static_cast<__int128>(1) << 100;
  if (n.magnitude != 0 && length(n.magnitude) + n.exponent > 99) return n.negative ? -huge : huge;
  const shifted s = shift_right(n.magnitude, n.sticky, -n.exponent);
  unsigned __int128 v = s.value;
  if (away(d, n.negative, v & 1, s.exact, s.against_half)) ++v;
  return n.negative ? -static_cast<__int128>(v) : static_cast<__int128>(v);
}

exact_number decode_double(double v) {
  std::uint64_t bits;
  std::memcpy(&bits, &v, sizeof bits);
  return decode({64, 52}, bits);
}

}  // namespace heddle::conformance
