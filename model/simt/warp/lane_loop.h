// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/isa/set_bits.h"
#include "heddle/simt/warp/lanes.h"

// Loops for instructions without a vectorised kernel: f is called once per lane of the mask.

namespace heddle::simt {

template <class F>
static inline void for_each_lane(lane_mask mask, F f) {
  for (const unsigned lane : set_bits(mask)) f(lane);
}

/// d = f(a, b, c), 32 bits each.
template <modifiers kind, class F>
static inline void apply(const isa::instruction& i, warp_state& w, lane_mask mask, F f) {
  alignas(64) std::uint32_t sa[warp_size], sb[warp_size], sc[warp_size];
  alignas(64) std::uint32_t result[warp_size] = {};
  const std::uint32_t* a = fetch_modified<kind>(i.src[0], w, sa);
  const std::uint32_t* b = fetch_modified<kind>(i.src[1], w, sb);
  const std::uint32_t* c = fetch_modified<kind>(i.src[2], w, sc);
  for_each_lane(mask, [&](unsigned l) { result[l] = f(a[l], b[l], c[l]); });
  write_lanes(i, w, mask, result);
}

/// Writes the 64-bit value of f(lane) to the destination: one register, or two if dst_count says so.
template <class F>
static inline void write_each(const isa::instruction& i, warp_state& w, lane_mask mask, F f) {
  alignas(64) std::uint32_t low[warp_size] = {}, high[warp_size] = {};
  for_each_lane(mask, [&](unsigned l) {
    const std::uint64_t v = f(l);
    low[l] = static_cast<std::uint32_t>(v);
    high[l] = static_cast<std::uint32_t>(v >> 32);
  });
  write_lanes(i, w, mask, low);
  if (i.dst_count > 1) write_lanes(i, w, mask, high, 1);
}

/// Lanes of the mask for which f holds.
template <class F>
static inline lane_mask lanes_where(lane_mask mask, F f) {
  lane_mask r = 0;
  for_each_lane(mask, [&](unsigned l) { r |= f(l) ? lane_bit[l] : 0u; });
  return r;
}

/// An operand read as raw 64 bits per lane; the high word is zero if the operand has one word.
class wide_operand {
 public:
  wide_operand(const isa::operand& o, const warp_state& w) : source_(fetch_wide(o, w, low_, high_)) {}
  wide_operand(const wide_operand&) = delete;
  wide_operand& operator=(const wide_operand&) = delete;
  std::uint64_t operator[](unsigned l) const { return source_[l]; }

 private:
  alignas(64) std::uint32_t low_[warp_size];
  alignas(64) std::uint32_t high_[warp_size];
  wide_source source_;
};

}  // namespace heddle::simt
