// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/optimise.h"

#include <cmath>
#include <cstring>

namespace heddle::ptx {

using isa::dtype;

std::uint64_t mask_of(dtype t) {
  const unsigned bits = isa::size_of(t) * 8;
  return bits >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << bits) - 1;
}

std::int64_t sign_extend(std::uint64_t v, dtype t) {
  const unsigned bits = isa::size_of(t) * 8;
  if (bits >= 64) return static_cast<std::int64_t>(v);
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  v &= mask_of(t);
  return static_cast<std::int64_t>((v ^ sign) - sign);
}

bool fold_convert(const hir_instruction& h, std::uint64_t& result) {
  if (!h.src[0].is_immediate() || isa::is_float(h.m.type)) return false;
  const std::uint64_t bits = h.src[0].bits;
  if (!isa::is_float(h.m.type2)) {
    result = isa::is_signed(h.m.type2) ? static_cast<std::uint64_t>(sign_extend(bits, h.m.type2))
                                       : bits & mask_of(h.m.type2);
    return true;
  }
  if (h.m.type2 != dtype::f32 || (h.m.type != dtype::s32 && h.m.type != dtype::u32)) return false;
  const auto low = static_cast<std::uint32_t>(bits);
  float x = 0;
  std::memcpy(&x, &low, sizeof x);
  const float least = h.m.type == dtype::s32 ? -2147483648.0f : 0.0f,
              end = h.m.type == dtype::s32 ? 2147483648.0f : 4294967296.0f;
  if (!(x >= least && x < end) || std::trunc(x) != x) return false;
  result = static_cast<std::uint64_t>(static_cast<std::int64_t>(x));
  return true;
}

}  // namespace heddle::ptx
