// SPDX-License-Identifier: MIT
// ASSIST: the slow-path subroutines of division, reciprocal and square root, computed at once and exactly.
#include "heddle/simt/scalar/soft_float.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::assist_function;
using isa::instruction;

std::uint64_t divide_unsigned(std::uint64_t a, std::uint64_t b) { return b == 0 ? ~std::uint64_t{0} : a / b; }

/// Truncating division of two's complement numbers; the smallest number divided by -1 wraps, x / 0 is all ones.
std::uint64_t divide_signed(std::uint64_t a, std::uint64_t b) {
  if (b == 0) return ~std::uint64_t{0};
  const bool negative = ((a ^ b) >> 63) != 0;
  const std::uint64_t q = ((a >> 63) ? 0 - a : a) / ((b >> 63) ? 0 - b : b);
  return negative ? 0 - q : q;
}

std::uint64_t integer_result(assist_function what, std::uint64_t a, std::uint64_t b) {
  switch (what) {
    case assist_function::div_s64: return divide_signed(a, b);
    case assist_function::div_u64: return divide_unsigned(a, b);
    case assist_function::rem_s64: return b == 0 ? a : a - divide_signed(a, b) * b;
    default: return b == 0 ? a : a - divide_unsigned(a, b) * b;
  }
}

std::uint64_t f64_result(const instruction& i, assist_function what, std::uint64_t a, std::uint64_t b) {
  constexpr std::uint64_t one = 0x3ff0000000000000u;
  a = modify_f64(i.src[0], a);
  b = modify_f64(i.src[1], b);
  if (what == assist_function::div_f64) return div_f64(a, b, i.round);
  return what == assist_function::rcp_f64 ? div_f64(one, a, i.round) : sqrt_f64(a, i.round);
}

std::uint64_t f32_result(const instruction& i, assist_function what, std::uint32_t a, std::uint32_t b) {
  constexpr std::uint32_t one = 0x3f800000u;
  a = modify<modifiers::f32>(a, i.src[0].absolute, i.src[0].negate, false);
  b = modify<modifiers::f32>(b, i.src[1].absolute, i.src[1].negate, false);
  if (i.ftz) {
    a = static_cast<std::uint32_t>(flush(format_f32, a));
    b = static_cast<std::uint32_t>(flush(format_f32, b));
  }
  std::uint64_t r = what == assist_function::div_f32   ? div_f32(a, b, i.round)
                    : what == assist_function::rcp_f32 ? div_f32(one, a, i.round)
                                                       : sqrt_f32(a, i.round);
  if (i.ftz) r = flush(format_f32, r);
  return i.saturate ? saturated(format_f32, r) : r;
}

void assist(const instruction& i, warp_state& w, lane_mask mask) {
  const auto what = static_cast<assist_function>(i.sub);
  const wide_operand a(i.src[0], w);
  const wide_operand b(i.src[1], w);
  write_each(i, w, mask, [&](unsigned l) {
    switch (what) {
      case assist_function::div_f32:
      case assist_function::rcp_f32:
      case assist_function::sqrt_f32:
        return f32_result(i, what, static_cast<std::uint32_t>(a[l]), static_cast<std::uint32_t>(b[l]));
      case assist_function::div_f64:
      case assist_function::rcp_f64:
      case assist_function::sqrt_f64: return f64_result(i, what, a[l], b[l]);
      default: return integer_result(what, modify_i64(i.src[0], a[l]), modify_i64(i.src[1], b[l]));
    }
  });
}

}  // namespace

execute_function select_assist(const instruction& i) { return i.op == isa::opcode::assist ? assist : nullptr; }

}  // namespace heddle::simt
