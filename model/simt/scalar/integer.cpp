// SPDX-License-Identifier: MIT
// Integer instructions without a vectorised kernel: carries of IMAD, 64-bit funnel shifts, dot products, predicates.
#include "heddle/simt/scalar/lut.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::compare;
using isa::dtype;
using isa::instruction;
using isa::opcode;

bool is_signed_type(dtype t) { return t == dtype::s8 || t == dtype::s16 || t == dtype::s32 || t == dtype::s64; }

void lop3(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t sa[warp_size], sb[warp_size], sc[warp_size], d[warp_size];
  const std::uint32_t* a = fetch_modified<modifiers::integer>(i.src[0], w, sa);
  const std::uint32_t* b = fetch_modified<modifiers::integer>(i.src[1], w, sb);
  const std::uint32_t* c = fetch_modified<modifiers::integer>(i.src[2], w, sc);
  HEDDLE_EACH_LANE(l) d[l] = lut3(i.sub, a[l], b[l], c[l]);
  write_predicate(i.pdst[0], w, mask, lanes_where(mask, [&](unsigned l) { return d[l] != 0; }));
  write_lanes(i, w, mask, d);
}

/// SHF of 64 bits: the value c:a is shifted by up to 64; see instruction.h.
void shf_wide(const instruction& i, warp_state& w, lane_mask mask) {
  const bool right = i.sub != 0;
  const bool high = i.high || !right;
  apply<modifiers::integer>(i, w, mask, [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const std::uint64_t v = a | std::uint64_t{c} << 32;
    const unsigned n = i.wrap ? b & 63 : b;
    std::uint64_t r = 0;
    if (right && i.type == dtype::s64) {
      r = static_cast<std::uint64_t>(static_cast<std::int64_t>(v) >> (n > 63 ? 63 : n));
    } else if (n <= 63) {
      r = right ? v >> n : v << n;
    }
    return static_cast<std::uint32_t>(high ? r >> 32 : r);
  });
}

void imad(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t sa[warp_size], sb[warp_size], low[warp_size] = {}, high[warp_size] = {};
  const std::uint32_t* a = fetch_modified<modifiers::integer>(i.src[0], w, sa);
  const std::uint32_t* b = fetch_modified<modifiers::integer>(i.src[1], w, sb);
  const wide_operand c(i.src[2], w);
  const lane_mask p = i.extended ? read_predicate(i.psrc[0], w) : 0;
  lane_mask carry = 0;
  for_each_lane(mask, [&](unsigned l) {
    const std::uint64_t product = i.type == dtype::s32
                                      ? static_cast<std::uint64_t>(std::int64_t{static_cast<std::int32_t>(a[l])} *
                                                                   static_cast<std::int32_t>(b[l]))
                                      : std::uint64_t{a[l]} * b[l];
    const std::uint64_t one = (p & lane_bit[l]) ? 1 : 0;
    std::uint64_t d = 0;
    bool out = false;
    if (i.wide) {
      const std::uint64_t sum = product + modify_i64(i.src[2], c[l]);
      d = sum + one;
      out = sum < product || d < sum;
    } else {
      const auto addend = modify<modifiers::integer>(static_cast<std::uint32_t>(c[l]), i.src[2].absolute,
                                                     i.src[2].negate, i.src[2].invert);
      const std::uint64_t sum = (i.high ? product >> 32 : product & 0xffffffffu) + addend + one;
      d = sum;
      out = (sum >> 32) != 0;
    }
    low[l] = static_cast<std::uint32_t>(d);
    high[l] = static_cast<std::uint32_t>(d >> 32);
    carry |= out ? lane_bit[l] : 0u;
  });
  write_lanes(i, w, mask, low);
  if (i.wide) write_lanes(i, w, mask, high, 1);
  write_predicate(i.pdst[0], w, mask, carry);
}

/// Element `index` of `bits` bits, extended to 32 bits.
std::int32_t element(std::uint32_t v, unsigned index, unsigned bits, bool is_signed) {
  const std::uint32_t top = v << (32 - bits - index * bits);
  return is_signed ? static_cast<std::int32_t>(top) >> (32 - bits) : static_cast<std::int32_t>(top >> (32 - bits));
}

void idp(const instruction& i, warp_state& w, lane_mask mask) {
  const bool a_signed = is_signed_type(i.type);
  const bool b_signed = is_signed_type(i.src_type == dtype::none ? i.type : i.src_type);
  apply<modifiers::integer>(i, w, mask, [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    const unsigned elements = i.sub == 0 ? 4 : 2;
    const unsigned first = i.sub == 2 ? 2 : 0;
    for (unsigned k = 0; k < elements; ++k) {
      const std::int32_t x = element(a, k, 32 / elements, a_signed);
      const std::int32_t y = element(b, first + k, 8, b_signed);
      c += static_cast<std::uint32_t>(x) * static_cast<std::uint32_t>(y);
    }
    return c;
  });
}

std::int64_t clamp_to(std::int64_t v, unsigned bits, bool is_signed) {
  const std::int64_t top = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1;
  return v > top ? top : v;
}

void vabsdiff(const instruction& i, warp_state& w, lane_mask mask) {
  const bool a_signed = is_signed_type(i.type);
  const bool b_signed = is_signed_type(i.src_type == dtype::none ? i.type : i.src_type);
  const unsigned bits = i.sub == 0 ? 32 : (i.sub & 1) ? 8 : 16;
  const bool in_place = i.sub > 2;
  apply<modifiers::integer>(i, w, mask, [&](std::uint32_t a, std::uint32_t b, std::uint32_t c) {
    std::uint32_t d = in_place ? 0 : c;
    for (unsigned k = 0; k < 32 / bits; ++k) {
      const std::int64_t x =
          a_signed ? std::int64_t{element(a, k, bits, true)} : std::uint32_t(element(a, k, bits, false));
      const std::int64_t y =
          b_signed ? std::int64_t{element(b, k, bits, true)} : std::uint32_t(element(b, k, bits, false));
      std::int64_t v = x < y ? y - x : x - y;
      if (i.saturate) v = clamp_to(v, bits, i.high);
      const auto r = static_cast<std::uint32_t>(v);
      d += in_place ? (r & ((1u << bits) - 1)) << (k * bits) : r;
    }
    return d;
  });
}

/// Integer compares that are always true or always false. The unordered ones are handled by ordered().
void isetp_constant(const instruction& i, warp_state& w, lane_mask mask) {
  write_compare(i, w, mask, i.cmp == compare::t || i.cmp == compare::num ? all_lanes : 0);
}

compare ordered(compare c) {
  switch (c) {
    case compare::ltu: return compare::lt;
    case compare::equ: return compare::eq;
    case compare::leu: return compare::le;
    case compare::gtu: return compare::gt;
    case compare::neu: return compare::ne;
    case compare::geu: return compare::ge;
    default: return c;
  }
}

void plop3(const instruction& i, warp_state& w, lane_mask mask) {
  const lane_mask r =
      lut3(i.sub, read_predicate(i.psrc[0], w), read_predicate(i.psrc[1], w), read_predicate(i.psrc[2], w));
  write_predicate(i.pdst[0], w, mask, r);
}

void p2r(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t sb[warp_size], d[warp_size] = {};
  const bool all = i.src[1].kind == isa::operand_kind::none;
  const std::uint32_t* b = fetch_modified<modifiers::integer>(i.src[1], w, sb);
  for (unsigned p = 0; p < isa::predicate_count; ++p) {
    HEDDLE_EACH_LANE(l) d[l] |= (w.predicates[p] >> l & 1u) << p;
  }
  HEDDLE_EACH_LANE(l) d[l] &= all ? 0x7fu : b[l];
  write_lanes(i, w, mask, d);
}

void r2p(const instruction& i, warp_state& w, lane_mask mask) {
  alignas(64) std::uint32_t sa[warp_size], sb[warp_size];
  const bool all = i.src[1].kind == isa::operand_kind::none;
  const std::uint32_t* a = fetch_modified<modifiers::integer>(i.src[0], w, sa);
  const std::uint32_t* b = fetch_modified<modifiers::integer>(i.src[1], w, sb);
  for (std::uint8_t p = 0; p < isa::predicate_count; ++p) {
    lane_mask value = 0, chosen = 0;
    HEDDLE_EACH_LANE(l) value |= (a[l] >> p & 1u) ? lane_bit[l] : 0u;
    HEDDLE_EACH_LANE(l) chosen |= (all || (b[l] >> p & 1u)) ? lane_bit[l] : 0u;
    write_predicate(p, w, mask & chosen, value);
  }
}

}  // namespace

execute_function select_integer(const instruction& i) {
  switch (i.op) {
    case opcode::lop3: return lop3;
    case opcode::shf: return shf_wide;
    case opcode::imad: return imad;
    case opcode::idp: return idp;
    case opcode::vabsdiff: return vabsdiff;
    case opcode::isetp: {
      if (ordered(i.cmp) == i.cmp) return isetp_constant;
      return [](const instruction& unordered, warp_state& w, lane_mask mask) {
        instruction same = unordered;
        same.cmp = ordered(unordered.cmp);
        select(same)(same, w, mask);
      };
    }
    case opcode::plop3: return plop3;
    case opcode::p2r: return p2r;
    case opcode::r2p: return r2p;
    default: return nullptr;
  }
}

}  // namespace heddle::simt
