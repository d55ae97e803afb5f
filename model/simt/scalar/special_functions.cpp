// SPDX-License-Identifier: MIT
// MUFU functions that fast_mufu.inc does not cover: large angles, the high words of f64 functions, saturation.
#include <cmath>

#include "heddle/simt/scalar/soft_float.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/scalar/trigonometry.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::instruction;
using isa::mufu_function;

/// The high word of an f64 function; denormal operands and results are flushed to zero.
template <bool square_root>
void mufu_high(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::f32>(i, w, mask, [](std::uint32_t a, std::uint32_t, std::uint32_t) {
    const double x = as_double(flush(format_f64, std::uint64_t{a} << 32));
    const double r = square_root ? 1.0 / std::sqrt(x) : 1.0 / x;
    if (r != r) return static_cast<std::uint32_t>(nan_f64 >> 32);
    const std::uint64_t bits = flush(format_f64, as_bits(r));
    const bool finite = (bits & format_f64.infinity()) != format_f64.infinity();
    return static_cast<std::uint32_t>((bits + (finite ? 0x80000000u : 0)) >> 32);
  });
}

/// Executes the instruction without saturation, then clamps.
void saturating(const instruction& i, warp_state& w, lane_mask mask) {
  if (i.dst == isa::rz) return;
  instruction plain = i;
  plain.saturate = false;
  select(plain)(plain, w, mask);
  std::uint32_t* d = w.regs + std::size_t{i.dst} * warp_size;
  for_each_lane(mask, [&](unsigned l) { d[l] = static_cast<std::uint32_t>(saturated(format_f32, d[l])); });
}

}  // namespace

void trigonometric_of_any_angle(const instruction& i, warp_state& w, lane_mask mask) {
  const bool is_sine = static_cast<mufu_function>(i.sub) == mufu_function::sin;
  apply<modifiers::f32>(i, w, mask, [&](std::uint32_t a, std::uint32_t, std::uint32_t) {
    if (i.ftz) a = static_cast<std::uint32_t>(flush(format_f32, a));
    const double x = __builtin_bit_cast(float, a);
    if (x - x != 0) return nan_f32;
    const auto v = static_cast<float>(!is_sine ? cosine(x) : x == 0 ? x : sine(x));
    const auto bits = __builtin_bit_cast(std::uint32_t, v);
    return i.ftz ? static_cast<std::uint32_t>(flush(format_f32, bits)) : bits;
  });
}

execute_function select_special_function(const instruction& i) {
  if (i.op != isa::opcode::mufu) return nullptr;
  switch (static_cast<mufu_function>(i.sub)) {
    case mufu_function::rcp64h: return mufu_high<false>;
    case mufu_function::rsq64h: return mufu_high<true>;
    default: return i.saturate ? saturating : nullptr;
  }
}

}  // namespace heddle::simt
