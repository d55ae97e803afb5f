// SPDX-License-Identifier: MIT
// Integer arithmetic and logic, in 128-bit integers.
#include "scalar_operation.h"

namespace heddle::conformance {

namespace {

using wide_t = __int128;

wide_t number(isa::dtype t, std::uint64_t v) {
  v = extended(t, v);
  return isa::is_signed(t) ? static_cast<wide_t>(static_cast<std::int64_t>(v)) : static_cast<wide_t>(v);
}

std::uint64_t clamped_to_type(isa::dtype t, wide_t v) {
  const wide_t top =
      isa::is_signed(t) ? (static_cast<wide_t>(1) << (bits_of(t) - 1)) - 1 : (static_cast<wide_t>(1) << bits_of(t)) - 1;
  const wide_t bottom = isa::is_signed(t) ? -top - 1 : 0;
  return static_cast<std::uint64_t>(v > top ? top : v < bottom ? bottom : v);
}

/// High or low half of the product, exact for every width: unsigned products of 64-bit numbers fill 128 bits.
std::uint64_t product_part(const scalar_operation& o, std::uint64_t a, std::uint64_t b) {
  const unsigned n = bits_of(o.type);
  const auto product =
      static_cast<unsigned __int128>(number(o.type, a)) * static_cast<unsigned __int128>(number(o.type, b));
  return static_cast<std::uint64_t>(o.hi ? product >> n : product);
}

std::uint64_t product_24(const scalar_operation& o, std::uint64_t a, std::uint64_t b) {
  const auto narrow = [&](std::uint64_t v) {
    const auto w = static_cast<wide_t>(v & 0xffffff);
    return isa::is_signed(o.type) && (v >> 23 & 1) ? w - (1 << 24) : w;
  };
  const wide_t product = narrow(a) * narrow(b);
  return static_cast<std::uint64_t>(o.hi ? product >> 16 : product);
}

std::uint64_t with_carry(const scalar_operation& o, std::uint64_t a, std::uint64_t b, bool subtract, bool takes,
                         bool& carry) {
  const unsigned n = bits_of(o.type);
  const auto x = static_cast<unsigned __int128>(truncated(o.type, a)),
             y = static_cast<unsigned __int128>(truncated(o.type, b));
  const unsigned in = takes && carry ? 1 : 0;
  const unsigned __int128 r = subtract ? x - y - in : x + y + in;
  if (o.cc) carry = (r >> n & 1) != 0;
  return static_cast<std::uint64_t>(r);
}

bool multiply(const scalar_operation& o, const std::uint64_t* s, bool& carry, std::uint64_t& r) {
  if (o.name == "mul") return r = product_part(o, s[0], s[1]), true;
  if (o.name == "mul24") return r = product_24(o, s[0], s[1]), true;
  if (o.name == "mad24" && !o.sat) return r = product_24(o, s[0], s[1]) + s[2], true;
  if (o.name == "mad24")
    return r = clamped_to_type(o.type, number(o.type, product_24(o, s[0], s[1])) + number(o.type, s[2])), true;
  if (o.name == "madc" || (o.name == "mad" && o.cc))
    return r = with_carry(o, product_part(o, s[0], s[1]), s[2], false, o.name == "madc", carry), true;
  if (o.name != "mad") return false;
  if (o.sat)
    return r = clamped_to_type(o.type, number(o.type, product_part(o, s[0], s[1])) + number(o.type, s[2])), true;
  return r = product_part(o, s[0], s[1]) + s[2], true;
}

std::uint64_t dot(const scalar_operation& o, const std::uint64_t* s) {
  const bool four = o.name == "dp4a";
  wide_t sum = static_cast<std::uint32_t>(s[2]);
  for (unsigned k = 0; k < (four ? 4u : 2u); ++k) {
    const unsigned at = four ? 8 * k : 8 * (k + (o.hi ? 2 : 0));
    const auto part = [](bool is_signed, std::uint64_t v, unsigned bits) {
      if (bits == 8)
        return is_signed ? static_cast<wide_t>(static_cast<std::int8_t>(v))
                         : static_cast<wide_t>(static_cast<std::uint8_t>(v));
      return is_signed ? static_cast<wide_t>(static_cast<std::int16_t>(v))
                       : static_cast<wide_t>(static_cast<std::uint16_t>(v));
    };
    sum += part(isa::is_signed(o.type), s[0] >> (four ? 8 * k : 16 * k), four ? 8 : 16) *
           part(isa::is_signed(o.type2), s[1] >> at, 8);
  }
  return static_cast<std::uint32_t>(static_cast<unsigned __int128>(sum));
}

}  // namespace

bool evaluate_integer(const scalar_operation& o, const std::uint64_t* s, unsigned, bool& carry, std::uint64_t& r) {
  const isa::dtype t = o.type;
  const wide_t a = number(t, s[0]), b = number(t, s[1]);
  const bool subtract = o.name == "sub" || o.name == "subc";
  if (o.name == "dp4a" || o.name == "dp2a") return r = dot(o, s), true;
  if (o.name == "mov") {
    r = s[0];
  } else if (o.name == "addc" || o.name == "subc" || ((o.name == "add" || o.name == "sub") && o.cc)) {
    r = with_carry(o, s[0], s[1], subtract, o.name.size() == 4, carry);
  } else if (o.name == "add" || o.name == "sub") {
    r = o.sat ? clamped_to_type(t, subtract ? a - b : a + b) : static_cast<std::uint64_t>(subtract ? a - b : a + b);
  } else if (o.name == "div" || o.name == "rem") {
    if (b == 0) throw reference_limit("division by zero has no defined result");
    r = static_cast<std::uint64_t>(o.name == "div" ? a / b : a % b);
  } else if (o.name == "min") {
    r = static_cast<std::uint64_t>(a < b ? a : b);
  } else if (o.name == "max") {
    r = static_cast<std::uint64_t>(a > b ? a : b);
  } else if (o.name == "abs") {
    r = static_cast<std::uint64_t>(a < 0 ? -a : a);
  } else if (o.name == "neg") {
    r = static_cast<std::uint64_t>(-a);
  } else if (o.name == "sad") {
    r = s[2] + static_cast<std::uint64_t>(a < b ? b - a : a - b);
  } else if (!multiply(o, s, carry, r)) {
    return false;
  }
  if (o.relu && static_cast<std::int32_t>(r) < 0) r = 0;
  if (!o.wide) r = truncated(t, r);
  if (o.wide && bits_of(t) == 16) r &= 0xffffffffu;
  return true;
}

}  // namespace heddle::conformance
