// SPDX-License-Identifier: MIT
// f64 with directed rounding, DMNMX, DSETP.
#include "heddle/simt/scalar/float_compare.h"
#include "heddle/simt/scalar/soft_float.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::instruction;
using isa::opcode;

/// d = f(a, b, c) on 64-bit floating-point operands; writes both destination registers. As on an H100, the first
/// operand that is NaN is passed on, quiet and without its modifiers.
template <class F>
void apply_f64(const instruction& i, warp_state& w, lane_mask mask, F f) {
  const wide_operand a(i.src[0], w);
  const wide_operand b(i.src[1], w);
  const wide_operand c(i.src[2], w);
  alignas(64) std::uint32_t low[warp_size] = {}, high[warp_size] = {};
  for_each_lane(mask, [&](unsigned l) {
    std::uint64_t r = f(modify_f64(i.src[0], a[l]), modify_f64(i.src[1], b[l]), modify_f64(i.src[2], c[l]));
    if (i.op == opcode::dfma && is_nan(format_f64, c[l])) r = c[l] | quiet_f64;
    if (is_nan(format_f64, b[l])) r = b[l] | quiet_f64;
    if (is_nan(format_f64, a[l])) r = a[l] | quiet_f64;
    low[l] = static_cast<std::uint32_t>(r);
    high[l] = static_cast<std::uint32_t>(r >> 32);
  });
  write_lanes(i, w, mask, low);
  write_lanes(i, w, mask, high, 1);
}

void directed_f64(const instruction& i, warp_state& w, lane_mask mask) {
  constexpr std::uint64_t one = 0x3ff0000000000000u;
  apply_f64(i, w, mask, [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    if (i.op == opcode::dadd) return fma_f64(a, one, b, i.round, false);
    return fma_f64(a, b, c, i.round, i.op == opcode::dmul);
  });
}

void dmnmx(const instruction& i, warp_state& w, lane_mask mask) {
  const wide_operand a(i.src[0], w);
  const wide_operand b(i.src[1], w);
  const lane_mask p = read_predicate(i.psrc[0], w);
  alignas(64) std::uint32_t low[warp_size] = {}, high[warp_size] = {};
  for_each_lane(mask, [&](unsigned l) {
    const std::uint64_t r = minmax(format_f64, modify_f64(i.src[0], a[l]), modify_f64(i.src[1], b[l]),
                                   (p & lane_bit[l]) != 0, i.nan, nan_f64);
    low[l] = static_cast<std::uint32_t>(r);
    high[l] = static_cast<std::uint32_t>(r >> 32);
  });
  write_lanes(i, w, mask, low);
  write_lanes(i, w, mask, high, 1);
}

void dsetp(const instruction& i, warp_state& w, lane_mask mask) {
  const wide_operand a(i.src[0], w);
  const wide_operand b(i.src[1], w);
  write_compare(i, w, mask, lanes_where(mask, [&](unsigned l) {
                  return compare_float(i.cmp, widen(format_f64, modify_f64(i.src[0], a[l])),
                                       widen(format_f64, modify_f64(i.src[1], b[l])));
                }));
}

}  // namespace

execute_function select_float64(const instruction& i) {
  switch (i.op) {
    case opcode::dadd:
    case opcode::dmul:
    case opcode::dfma: return directed_f64;
    case opcode::dmnmx: return dmnmx;
    case opcode::dsetp: return dsetp;
    default: return nullptr;
  }
}

}  // namespace heddle::simt
