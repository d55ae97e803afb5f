// SPDX-License-Identifier: MIT
// f16 and bf16, packed and scalar. A packed type computes on both halves of the register. A scalar type computes on the
// low half and sets the high half to zero.
#include "heddle/simt/scalar/float_compare.h"
#include "heddle/simt/scalar/soft_float.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::dtype;
using isa::instruction;
using isa::opcode;

bool is_packed(dtype t) { return t == dtype::f16x2 || t == dtype::bf16x2; }

std::uint32_t arithmetic(const instruction& i, float_format f, std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  if (i.ftz) {
    a = flush(f, a);
    b = flush(f, b);
    c = flush(f, c);
  }
  std::uint64_t r = i.op == opcode::hadd2   ? add_small(f, a, b, i.round, nan_f16)
                    : i.op == opcode::hmul2 ? mul_small(f, a, b, i.round, nan_f16)
                                            : fma_small(f, a, b, c, i.round, nan_f16);
  if (i.ftz) r = flush(f, r);
  if (i.saturate) r = saturated(f, r);
  if (i.nan && (r & f.sign_bit()) != 0) r = 0;  // a NaN result has no sign
  return static_cast<std::uint32_t>(r);
}

void half_arithmetic(const instruction& i, warp_state& w, lane_mask mask) {
  const float_format f = format_of(i.type);
  const bool packed = is_packed(i.type);
  apply<modifiers::f16>(i, w, mask, [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint32_t low = arithmetic(i, f, a & 0xffff, b & 0xffff, c & 0xffff);
    return packed ? low | arithmetic(i, f, a >> 16, b >> 16, c >> 16) << 16 : low;
  });
}

void hmnmx2(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t sa[warp_size], sb[warp_size];
  const std::uint32_t* a = fetch_modified<modifiers::f16>(i.src[0], w, sa);
  const std::uint32_t* b = fetch_modified<modifiers::f16>(i.src[1], w, sb);
  const float_format f = format_of(i.type);
  const bool packed = is_packed(i.type);
  const lane_mask p = read_predicate(i.psrc[0], w);
  const auto one = [&](std::uint64_t x, std::uint64_t y, bool minimum) {
    if (i.ftz) {
      x = flush(f, x);
      y = flush(f, y);
    }
    return minmax(f, x, y, minimum, i.nan, nan_f16);
  };
  write_each(i, w, mask, [&](unsigned l) {
    const bool minimum = (p & lane_bit[l]) != 0;
    const std::uint64_t low = one(a[l] & 0xffff, b[l] & 0xffff, minimum);
    return packed ? low | one(a[l] >> 16, b[l] >> 16, minimum) << 16 : low;
  });
}

/// Lanes in which the compare of the low (half 0) or high (half 1) halves holds.
lane_mask compare_half(const instruction& i, const warp_state& w, lane_mask mask, unsigned half) {
  alignas(64) std::uint32_t sa[warp_size], sb[warp_size];
  const std::uint32_t* a = fetch_modified<modifiers::f16>(i.src[0], w, sa);
  const std::uint32_t* b = fetch_modified<modifiers::f16>(i.src[1], w, sb);
  const float_format f = format_of(i.type);
  const auto value = [&](std::uint32_t v) {
    const std::uint64_t bits = v >> (16 * half) & 0xffff;
    return widen(f, i.ftz ? flush(f, bits) : bits);
  };
  return lanes_where(mask, [&](unsigned l) { return compare_float(i.cmp, value(a[l]), value(b[l])); });
}

void hsetp2(const instruction& i, warp_state& w, lane_mask mask) {
  const lane_mask low = compare_half(i, w, mask, 0);
  if (!is_packed(i.type)) {
    write_compare(i, w, mask, low);
    return;
  }
  const lane_mask high = compare_half(i, w, mask, 1);
  const lane_mask p = read_predicate(i.psrc[0], w);
  write_predicate(i.pdst[0], w, mask, combine(i.bop, low, p));
  write_predicate(i.pdst[1], w, mask, combine(i.bop, high, p));
}

void hset2(const instruction& i, warp_state& w, lane_mask mask) {
  const lane_mask p = read_predicate(i.psrc[0], w);
  const lane_mask low = combine(i.bop, compare_half(i, w, mask, 0), p);
  const lane_mask high = is_packed(i.type) ? combine(i.bop, compare_half(i, w, mask, 1), p) : 0;
  const std::uint32_t yes = i.wide ? 0xffffu : format_of(i.type).mantissa == 10 ? 0x3c00u : 0x3f80u;
  write_each(i, w, mask,
             [&](unsigned l) { return ((low & lane_bit[l]) ? yes : 0u) | ((high & lane_bit[l]) ? yes << 16 : 0u); });
}

}  // namespace

execute_function select_half(const instruction& i) {
  switch (i.op) {
    case opcode::hadd2:
    case opcode::hmul2:
    case opcode::hfma2: return half_arithmetic;
    case opcode::hmnmx2: return hmnmx2;
    case opcode::hsetp2: return hsetp2;
    case opcode::hset2: return hset2;
    default: return nullptr;
  }
}

}  // namespace heddle::simt
