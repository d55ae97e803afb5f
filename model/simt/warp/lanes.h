// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <cstring>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

// Operand access for the execution functions. Everything here has internal linkage on purpose: the fast kernels are
// compiled twice with different instruction sets, and the linker could pick a shared inline function from the wrong
// one.

#if defined(__clang__)
#define HEDDLE_EACH_LANE(l) _Pragma("clang loop vectorize(assume_safety)") for (unsigned l = 0; l < warp_size; ++l)
#else
#define HEDDLE_EACH_LANE(l) _Pragma("GCC ivdep") for (unsigned l = 0; l < warp_size; ++l)
#endif

namespace heddle::simt {

/// The meaning of an operand's negate, absolute and invert flags, which depends on the instruction.
enum class modifiers { none, integer, f32, f16, bits };

alignas(64) static constexpr std::uint32_t zero_lanes[warp_size] = {};
alignas(64) static constexpr std::uint32_t lane_bit[warp_size] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
    1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
    1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

/// A 32-bit word of a constant bank; bytes outside the bank's image read as zero.
static inline std::uint32_t constant_word(const warp_state& w, unsigned bank, std::uint64_t offset) {
  if (w.block == nullptr || w.block->launch == nullptr || bank >= 4) return 0;
  const auto* banks = w.block->launch->banks.data();
  const std::uint64_t size = banks[bank].size();
  if (offset >= size) return 0;
  std::uint32_t v = 0;
  const std::uint64_t rest = size - offset;
  if (__builtin_expect(rest >= 4, 1)) {
    std::memcpy(&v, banks[bank].data() + offset, 4);
  } else {
    std::memcpy(&v, banks[bank].data() + offset, rest);
  }
  return v;
}

/// Word `word` of an immediate or constant operand, the same for all lanes. A constant has `count` words, then zeros.
static inline std::uint32_t scalar_word(const isa::operand& o, const warp_state& w, unsigned word) {
  if (o.kind == isa::operand_kind::immediate) return word > 1 ? 0 : static_cast<std::uint32_t>(o.value >> (32 * word));
  if (o.kind == isa::operand_kind::constant && word < o.count) return constant_word(w, o.bank, o.value + 4 * word);
  return 0;
}

/// 32 lanes of word `word` of an operand without its modifiers: the register itself or `scratch`, filled.
static inline const std::uint32_t* fetch(const isa::operand& o, const warp_state& w, std::uint32_t* scratch,
                                         unsigned word = 0) {
  if (o.kind == isa::operand_kind::reg) {
    if (o.reg == isa::rz || word >= o.count) return zero_lanes;
    return w.regs + (std::size_t{o.reg} + word) * warp_size;
  }
  const std::uint32_t v = scalar_word(o, w, word);
  if (v == 0) return zero_lanes;
  HEDDLE_EACH_LANE(l) scratch[l] = v;
  return scratch;
}

/// One value with the modifiers of a one-word operand applied.
template <modifiers kind>
static inline std::uint32_t modify(std::uint32_t v, bool absolute, bool negate, bool invert) {
  if constexpr (kind == modifiers::integer) {
    if (absolute) v = (v >> 31) ? 0u - v : v;
    if (negate) v = 0u - v;
    if (invert) v = ~v;
  } else if constexpr (kind == modifiers::bits) {  // a negated addend: its complement, carry added separately
    if (negate != invert) v = ~v;
  } else if constexpr (kind == modifiers::f32) {
    if (absolute) v &= 0x7fffffffu;
    if (negate) v ^= 0x80000000u;
  } else if constexpr (kind == modifiers::f16) {
    if (absolute) v &= 0x7fff7fffu;
    if (negate) v ^= 0x80008000u;
  }
  return v;
}

/// 32 lanes of a one-word operand, modifiers applied.
template <modifiers kind>
static inline const std::uint32_t* fetch_modified(const isa::operand& o, const warp_state& w, std::uint32_t* scratch) {
  const std::uint32_t* p = fetch(o, w, scratch);
  if (kind == modifiers::none || !(o.negate || o.absolute || o.invert)) return p;
  const bool absolute = o.absolute;
  const bool negate = o.negate;
  const bool invert = o.invert;
  HEDDLE_EACH_LANE(l) scratch[l] = modify<kind>(p[l], absolute, negate, invert);
  return scratch;
}

/// A 64-bit operand: two words per lane.
struct wide_source {
  const std::uint32_t* low;
  const std::uint32_t* high;
  std::uint64_t operator[](unsigned l) const { return low[l] | std::uint64_t{high[l]} << 32; }
};

static inline wide_source fetch_wide(const isa::operand& o, const warp_state& w, std::uint32_t* low,
                                     std::uint32_t* high) {
  return {fetch(o, w, low, 0), fetch(o, w, high, 1)};
}

/// Modifiers of a 64-bit value: floating (sign bit) or integer (two's complement).
static inline std::uint64_t modify_f64(const isa::operand& o, std::uint64_t v) {
  if (o.absolute) v &= ~(std::uint64_t{1} << 63);
  if (o.negate) v ^= std::uint64_t{1} << 63;
  return v;
}
static inline std::uint64_t modify_i64(const isa::operand& o, std::uint64_t v) {
  if (o.absolute && (v >> 63)) v = 0 - v;
  if (o.negate) v = 0 - v;
  if (o.invert) v = ~v;
  return v;
}

/// Writes `values` into word `word` of the destination on the lanes of `mask`.
static inline void write_lanes(const isa::instruction& i, warp_state& w, lane_mask mask, const std::uint32_t* values,
                               unsigned word = 0) {
  if (i.dst == isa::rz) return;
  std::uint32_t* d = w.regs + (std::size_t{i.dst} + word) * warp_size;
  if (mask == all_lanes) {
    HEDDLE_EACH_LANE(l) d[l] = values[l];
  } else {
    HEDDLE_EACH_LANE(l) d[l] = (mask & lane_bit[l]) ? values[l] : d[l];
  }
}

/// Lanes where a predicate source holds.
static inline lane_mask read_predicate(const isa::predicate& p, const warp_state& w) {
  const lane_mask v = p.reg >= isa::predicate_count ? all_lanes : w.predicates.data()[p.reg];
  return p.negate ? ~v : v;
}

static inline void write_predicate(std::uint8_t reg, warp_state& w, lane_mask mask, lane_mask value) {
  if (reg >= isa::predicate_count) return;
  lane_mask& p = w.predicates.data()[reg];
  p = (p & ~mask) | (value & mask);
}

static inline lane_mask combine(isa::bool_op op, lane_mask a, lane_mask b) {
  if (op == isa::bool_op::and_) return a & b;
  return op == isa::bool_op::or_ ? a | b : a ^ b;
}

/// The two predicate results of a compare: r bop p and !r bop p.
static inline void write_compare(const isa::instruction& i, warp_state& w, lane_mask mask, lane_mask r) {
  const lane_mask p = read_predicate(i.psrc.data()[0], w);
  const lane_mask first = combine(i.bop, r, p);
  const lane_mask second = combine(i.bop, ~r, p);
  write_predicate(i.pdst.data()[0], w, mask, first);
  write_predicate(i.pdst.data()[1], w, mask, second);
}

}  // namespace heddle::simt
