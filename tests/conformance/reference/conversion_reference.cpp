// SPDX-License-Identifier: MIT
// cvt between all types, from the exact value of the source.
#include "scalar_operation.h"

namespace heddle::conformance {

namespace {

std::uint64_t saturated_unit(const float_format& f, std::uint64_t v) {
  if (f.is_nan(v) || f.is_negative(v)) return 0;
  exact_number one;
  one.magnitude = 1;
  const std::uint64_t limit = encode(f, one, direction::nearest_even);
  return v > limit ? limit : v;
}

__int128 top_of(isa::dtype t) {
  const __int128 one = 1;
  return isa::is_signed(t) ? (one << (bits_of(t) - 1)) - 1 : (one << bits_of(t)) - 1;
}

__int128 bottom_of(isa::dtype t) { return isa::is_signed(t) ? -top_of(t) - 1 : 0; }

__int128 clamped(isa::dtype t, __int128 v) { return v > top_of(t) ? top_of(t) : v < bottom_of(t) ? bottom_of(t) : v; }

std::uint64_t float_to_integer(const scalar_operation& o, std::uint64_t bits) {
  const float_format f = format_of(o.type2);
  if (o.ftz) bits = f.flushed(bits);
  // The result for NaN is 0 from f32 and f16; to 64 bits or from f64 it has only the sign bit set.
  if (f.is_nan(bits)) return f.width == 64 || bits_of(o.type) == 64 ? std::uint64_t{1} << (bits_of(o.type) - 1) : 0;
  __int128 v;
  if (f.is_infinite(bits))
    v = f.is_negative(bits) ? -(static_cast<__int128>(1) << 100) : static_cast<__int128>(1) << 100;
  else v = to_integer(decode(f, bits), o.round);
  return static_cast<std::uint64_t>(clamped(o.type, v));
}

std::uint64_t integer_to_float(const scalar_operation& o, std::uint64_t bits) {
  const float_format f = format_of(o.type);
  exact_number n;
  const std::uint64_t v = extended(o.type2, bits);
  n.negative = isa::is_signed(o.type2) && static_cast<std::int64_t>(v) < 0;
  n.magnitude = n.negative ? 0 - v : v;
  const std::uint64_t r = encode(f, n, o.round);
  return o.sat ? saturated_unit(f, r) : r;
}

/// The ISA leaves a NaN's bits open; an H100 keeps the sign and the highest bits of the payload here.
bool keeps_payload(isa::dtype to, isa::dtype from) {
  using isa::dtype;
  if (from == dtype::f32) return to == dtype::f64;
  return from == dtype::f64 ? to == dtype::f32 || to == dtype::f16 : from == dtype::bf16 && to == dtype::f32;
}

std::uint64_t shortened_nan(const float_format& to, const float_format& from, std::uint64_t bits) {
  std::uint64_t payload = bits & ((std::uint64_t{1} << from.fraction) - 1);
  if (from.fraction > to.fraction)
    payload = payload >> (from.fraction - to.fraction) | std::uint64_t{1} << (to.fraction - 1);
  else payload <<= to.fraction - from.fraction;
  if (to.width == 64) payload |= std::uint64_t{1} << (to.fraction - 1);
  return (from.is_negative(bits) ? to.sign_bit() : 0) | to.infinity() | payload;
}

std::uint64_t float_to_float(const scalar_operation& o, isa::dtype to, std::uint64_t bits) {
  const float_format f = format_of(to), g = format_of(o.type2);
  if (o.ftz) bits = g.width == 32 ? g.flushed(bits) : bits;
  std::uint64_t r;
  if (g.is_nan(bits)) {
    r = f.nan();
    if (to == o.type2 && !o.sat && !o.ftz && !o.integral) r = bits;
    if (keeps_payload(to, o.type2)) r = shortened_nan(f, g, bits);
  } else if (g.is_infinite(bits)) {
    r = f.infinity() | (g.is_negative(bits) ? f.sign_bit() : 0);
  } else if (o.integral) {
    exact_number n = decode(g, bits);
    if (n.exponent < 0) {
      const __int128 v = to_integer(n, o.round);
      n.magnitude = static_cast<unsigned __int128>(v < 0 ? -v : v);
      n.exponent = 0;
    }
    r = encode(f, n, direction::nearest_even);
  } else {
    r = encode(f, decode(g, bits), o.round);
  }
  if (o.ftz && f.width == 32) r = f.flushed(r);
  if (o.finite && f.is_infinite(r)) --r;
  if (o.relu && !f.is_nan(r) && f.is_negative(r)) r = 0;
  return o.sat ? saturated_unit(f, r) : r;
}

/// Two numbers, each clamped to the third type, with the low bits of the last operand above them.
std::uint64_t packed(const scalar_operation& o, const std::uint64_t* s, unsigned count) {
  const unsigned n = static_cast<unsigned>(std::stoul(std::string(o.words.at(2).view().substr(1))));
  const std::int64_t most = o.words[2][0] == 's' ? (1 << (n - 1)) - 1 : (1 << n) - 1,
                     least = o.words[2][0] == 's' ? -most - 1 : 0;
  std::uint64_t r = count > 2 ? s[2] : 0;
  for (unsigned k = 0; k < 2; ++k) {
    const std::int64_t v = static_cast<std::int32_t>(s[k]), inside = v > most ? most : v < least ? least : v;
    r = r << n | (static_cast<std::uint64_t>(inside) & ((1u << n) - 1));
  }
  return r & 0xffffffffu;
}

}  // namespace

std::uint64_t evaluate_conversion(const scalar_operation& o, const std::uint64_t* s, unsigned count) {
  if (o.has("pack")) return packed(o, s, count);
  if (is_packed(o.type)) {
    if (count < 2) throw reference_limit(o.text);
    return float_to_float(o, half_of(o.type), truncated(o.type2, s[0])) << 16 |
           float_to_float(o, half_of(o.type), truncated(o.type2, s[1]));
  }
  const std::uint64_t a = truncated(o.type2, s[0]);
  const bool from = isa::is_float(o.type2), to = isa::is_float(o.type);
  if (from && to) return float_to_float(o, o.type, a);
  if (to) return integer_to_float(o, a);
  if (from) return float_to_integer(o, a);
  const std::uint64_t v = extended(o.type2, a);
  const __int128 number =
      isa::is_signed(o.type2) ? static_cast<__int128>(static_cast<std::int64_t>(v)) : static_cast<__int128>(v);
  return static_cast<std::uint64_t>(o.sat ? clamped(o.type, number) : number);
}

}  // namespace heddle::conformance
