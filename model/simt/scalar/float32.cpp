// SPDX-License-Identifier: MIT
// f32 with directed rounding, FSET, FCHK.
#include "heddle/simt/scalar/float_compare.h"
#include "heddle/simt/scalar/soft_float.h"
#include "heddle/simt/scalar/topics.h"
#include "heddle/simt/warp/lane_loop.h"

namespace heddle::simt {

namespace {

using isa::assist_function;
using isa::dtype;
using isa::instruction;
using isa::opcode;

void directed_f32(const instruction& i, warp_state& w, lane_mask mask) {
  apply<modifiers::f32>(i, w, mask, [&](std::uint64_t a, std::uint64_t b, std::uint64_t c) {
    const float_format f = format_f32;
    if (i.ftz) {
      a = flush(f, a);
      b = flush(f, b);
      c = flush(f, c);
    }
    std::uint64_t r = i.op == opcode::fadd   ? add_small(f, a, b, i.round, nan_f32)
                      : i.op == opcode::fmul ? mul_small(f, a, b, i.round, nan_f32)
                                             : fma_small(f, a, b, c, i.round, nan_f32);
    if (i.ftz) r = flush(f, r);
    if (i.saturate) r = saturated(f, r);
    return static_cast<std::uint32_t>(r);
  });
}

void fset(const instruction& i, warp_state& w, lane_mask mask) {
  const float_format f = i.src_type == dtype::none ? format_f32 : format_of(i.src_type);
  const wide_operand a(i.src[0], w);
  const wide_operand b(i.src[1], w);
  const lane_mask p = read_predicate(i.psrc[0], w);
  const auto value = [&](const isa::operand& o, std::uint64_t v) {
    v &= (f.sign_bit() << 1) - 1;
    if (o.absolute) v &= ~f.sign_bit();
    if (o.negate) v ^= f.sign_bit();
    if (i.ftz && f.mantissa == format_f32.mantissa) v = flush(f, v);
    return widen(f, v);
  };
  const lane_mask r = combine(
      i.bop,
      lanes_where(mask, [&](unsigned l) { return compare_float(i.cmp, value(i.src[0], a[l]), value(i.src[1], b[l])); }),
      p);
  write_each(i, w, mask, [&](unsigned l) { return (r & lane_bit[l]) ? (i.wide ? 0xffffffffu : 0x3f800000u) : 0u; });
}

/// The properties of an operand that FCHK's ranges depend on.
struct parts {
  bool normal;
  bool all_ones;
  bool negative;
  int exponent;
};
parts split(float_format f, std::uint64_t bits) {
  const auto e = static_cast<int>((bits & f.infinity()) >> f.mantissa);
  const std::uint64_t ones = (std::uint64_t{1} << f.mantissa) - 1;
  return {e != 0 && e != (1 << f.exponent) - 1, (bits & ones) == ones, (bits & f.sign_bit()) != 0, e - f.bias()};
}

/// True if the Newton iteration that lowering emits is proven to round correctly. Ranges: instruction.h.
bool fast_path_exact(assist_function what, std::uint64_t a, std::uint64_t b) {
  const auto within = [](int v, int low, int high) { return v >= low && v <= high; };
  switch (what) {
    case assist_function::div_f32:
    case assist_function::div_f64: {
      const bool narrow = what == assist_function::div_f32;
      const parts x = split(narrow ? format_f32 : format_f64, a);
      const parts y = split(narrow ? format_f32 : format_f64, b);
      if (!x.normal || !y.normal || y.all_ones) return false;
      const int difference = x.exponent - y.exponent;
      return narrow ? x.exponent >= -100 && within(y.exponent, -125, 125) && within(difference, -124, 125)
                    : x.exponent >= -900 && within(y.exponent, -1020, 1020) && within(difference, -1018, 1020);
    }
    case assist_function::rcp_f32:
    case assist_function::rcp_f64: {
      const bool narrow = what == assist_function::rcp_f32;
      const parts x = split(narrow ? format_f32 : format_f64, a);
      return x.normal && !x.all_ones && (narrow ? within(x.exponent, -125, 125) : within(x.exponent, -1020, 1020));
    }
    case assist_function::sqrt_f32:
    case assist_function::sqrt_f64: {
      const bool narrow = what == assist_function::sqrt_f32;
      const parts x = split(narrow ? format_f32 : format_f64, a);
      return x.normal && !x.negative && x.exponent >= (narrow ? -100 : -900);
    }
    default: return true;
  }
}

void fchk(const instruction& i, warp_state& w, lane_mask mask) {
  const auto what = static_cast<assist_function>(i.sub);
  const bool wide =
      what == assist_function::div_f64 || what == assist_function::rcp_f64 || what == assist_function::sqrt_f64;
  const wide_operand a(i.src[0], w);
  const wide_operand b(i.src[1], w);
  const auto value = [&](const isa::operand& o, std::uint64_t v) {
    return wide ? modify_f64(o, v) : modify<modifiers::f32>(static_cast<std::uint32_t>(v), o.absolute, o.negate, false);
  };
  write_predicate(i.pdst[0], w, mask, lanes_where(mask, [&](unsigned l) {
                    return !fast_path_exact(what, value(i.src[0], a[l]), value(i.src[1], b[l]));
                  }));
}

}  // namespace

execute_function select_float32(const instruction& i) {
  switch (i.op) {
    case opcode::fadd:
    case opcode::fmul:
    case opcode::ffma: return directed_f32;
    case opcode::fset: return fset;
    case opcode::fchk: return fchk;
    default: return nullptr;
  }
}

}  // namespace heddle::simt
