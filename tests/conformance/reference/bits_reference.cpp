// SPDX-License-Identifier: MIT
// Logic, shifts, bit fields and byte permutation, computed bit by bit where the ISA defines them so.
#include "scalar_operation.h"

namespace heddle::conformance {

namespace {

bool bit(std::uint64_t v, unsigned k) { return k < 64 && (v >> k & 1); }

std::uint64_t extract(isa::dtype t, std::uint64_t a, unsigned position, unsigned length) {
  const unsigned top = bits_of(t) - 1;
  const unsigned last = position + length - 1 < top ? position + length - 1 : top;
  const bool fill = isa::is_signed(t) && length != 0 && bit(a, last);
  std::uint64_t d = 0;
  for (unsigned i = 0; i <= top; ++i) {
    const bool b = i < length && position + i <= top ? bit(a, position + i) : fill;
    d |= std::uint64_t{b} << i;
  }
  return d;
}

std::uint64_t insert(isa::dtype t, std::uint64_t a, std::uint64_t b, unsigned position, unsigned length) {
  const unsigned top = bits_of(t) - 1;
  for (unsigned i = 0; i < length && position + i <= top; ++i)
    b = (b & ~(std::uint64_t{1} << (position + i))) | std::uint64_t{bit(a, i)} << (position + i);
  return b;
}

std::uint64_t find(const scalar_operation& o, std::uint64_t v) {
  const unsigned n = bits_of(o.type);
  std::uint64_t a = truncated(o.type, v);
  if (isa::is_signed(o.type) && bit(a, n - 1)) a = truncated(o.type, ~a);
  for (unsigned k = n; k-- > 0;)
    if (bit(a, k)) return o.has("shiftamt") ? n - 1 - k : k;
  return 0xffffffffu;
}

std::uint64_t permute(const scalar_operation& o, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const std::uint64_t bytes = (a & 0xffffffffu) | b << 32;
  const unsigned control = c & 3;
  std::uint64_t d = 0;
  for (unsigned k = 0; k < 4; ++k) {
    unsigned from = 0;
    bool sign = false;
    if (o.has("f4e")) from = (control + k) & 7;
    else if (o.has("b4e")) from = (control - k) & 7;
    else if (o.has("rc8")) from = control;
    else if (o.has("ecl")) from = k > control ? k : control;
    else if (o.has("ecr")) from = k < control ? k : control;
    else if (o.has("rc16")) from = (control & 1) * 2 + (k & 1);
    else from = c >> (4 * k) & 7, sign = bit(c, 4 * k + 3);
    std::uint64_t byte = bytes >> (8 * from) & 0xff;
    if (sign) byte = bit(byte, 7) ? 0xff : 0;
    d |= byte << (8 * k);
  }
  return d;
}

std::uint64_t shift(const scalar_operation& o, std::uint64_t v, std::uint64_t by) {
  const std::uint64_t amount = by & 0xffffffffu;
  const unsigned n = bits_of(o.type);
  const std::uint64_t a = extended(o.type, v);
  if (o.name == "shl") return amount >= n ? 0 : a << amount;
  if (!isa::is_signed(o.type)) return amount >= n ? 0 : a >> amount;
  const unsigned k = amount >= n ? n - 1 : static_cast<unsigned>(amount);
  return static_cast<std::uint64_t>(static_cast<std::int64_t>(a) >> k);
}

std::uint64_t funnel(const scalar_operation& o, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  const std::uint64_t both = (a & 0xffffffffu) | b << 32;
  const auto amount = static_cast<std::uint32_t>(c);
  const unsigned n = o.has("wrap") ? amount & 31 : amount > 32 ? 32 : amount;
  if (o.has("r")) return n == 32 ? both >> 32 : both >> n;
  return n == 0 ? both >> 32 : both >> (32 - n);
}

std::uint64_t mask_of(const scalar_operation& o, std::uint32_t a, std::uint32_t b) {
  const bool wraps = o.has("wrap");
  const std::uint64_t first = wraps ? a & 31 : a, length = wraps ? b & 31 : b;
  std::uint64_t d = 0;
  for (unsigned k = 0; k < 32; ++k) d |= std::uint64_t{k >= first && k < first + length} << k;
  return d;
}

std::uint64_t sign_zero_extend(const scalar_operation& o, std::uint32_t a, std::uint32_t b) {
  const unsigned n = b & 31;
  if (!o.has("wrap") && b >= 32) return a;
  if (n == 0) return 0;
  const std::uint32_t mask = ~std::uint32_t{0} << n;
  const bool sign = isa::is_signed(o.type) && bit(a, n - 1);
  return (a & ~mask) | (sign ? mask : 0);
}

std::uint64_t look_up(std::uint64_t a, std::uint64_t b, std::uint64_t c, std::uint64_t table) {
  std::uint64_t d = 0;
  for (unsigned k = 0; k < 32; ++k) d |= (table >> (bit(a, k) * 4 + bit(b, k) * 2 + bit(c, k)) & 1) << k;
  return d;
}

}  // namespace

bool evaluate_bits(const scalar_operation& o, const std::uint64_t* s, unsigned, std::uint64_t& r) {
  const isa::dtype t = o.type;
  const unsigned n = bits_of(t);
  const std::uint64_t a = truncated(t, s[0]);
  if (o.name == "and") r = s[0] & s[1];
  else if (o.name == "or") r = s[0] | s[1];
  else if (o.name == "xor") r = s[0] ^ s[1];
  else if (o.name == "not") r = ~s[0];
  else if (o.name == "cnot") r = a == 0;
  else if (o.name == "lop3") r = look_up(s[0], s[1], s[2], s[3]);
  else if (o.name == "shl" || o.name == "shr") r = shift(o, s[0], s[1]);
  else if (o.name == "shf") r = funnel(o, s[0], s[1], s[2]) & 0xffffffffu;
  else if (o.name == "bfe") r = extract(t, a, s[1] & 0xff, s[2] & 0xff);
  else if (o.name == "bfi") r = insert(t, s[0], s[1], s[2] & 0xff, s[3] & 0xff);
  else if (o.name == "bfind") r = find(o, s[0]);
  else if (o.name == "bmsk") r = mask_of(o, static_cast<std::uint32_t>(s[0]), static_cast<std::uint32_t>(s[1]));
  else if (o.name == "szext")
    r = sign_zero_extend(o, static_cast<std::uint32_t>(s[0]), static_cast<std::uint32_t>(s[1]));
  else if (o.name == "prmt") r = permute(o, s[0], s[1], s[2]);
  else if (o.name == "popc" || o.name == "clz" || o.name == "brev") {
    std::uint64_t count = 0, leading = n, reversed = 0;
    for (unsigned k = 0; k < n; ++k) {
      count += bit(a, k);
      if (bit(a, k)) leading = n - 1 - k;
      reversed |= std::uint64_t{bit(a, k)} << (n - 1 - k);
    }
    r = o.name == "popc" ? count : o.name == "clz" ? leading : reversed;
  } else {
    return false;
  }
  if (o.name != "bfind") r = truncated(t, r);
  return true;
}

}  // namespace heddle::conformance
