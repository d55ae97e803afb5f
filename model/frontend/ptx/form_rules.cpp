// SPDX-License-Identifier: MIT
// Which types and modifiers go together, operation by operation. Source: the "Syntax" of each instruction in the PTX ISA 9.0; what may
// stand beside an operation at all says modifiers.cpp, what each form does is lowering's.
#include <algorithm>
#include <initializer_list>

#include "config/error.h"
#include "frontend/ptx/hir.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

bool is_bits(dtype t) { return t >= dtype::b8 && t <= dtype::b128; }
bool is_integer(dtype t) { return t >= dtype::u8 && t <= dtype::s64; }
bool is_pair(dtype t) { return t == dtype::f16x2 || t == dtype::bf16x2; }
bool is_real(dtype t) { return is_float(t) || t == dtype::e4m3x2 || t == dtype::e5m2x2; }
bool is_half(dtype t) { return t >= dtype::f16 && t <= dtype::bf16x2; }

// Nothing, or what is wrong with the form.
using verdict = const char*;

verdict of_arithmetic(ptx_op op, const modifiers& m) {
  if (is_bits(m.type) || m.type == dtype::pred) return "an integer or floating-point type was expected";
  if (!is_real(m.type)) {
    if (m.rounded) return "integers are not rounded";
    return m.ftz ? ".ftz is of floating-point types" : nullptr;
  }
  if (m.ftz && m.type == dtype::f64) return "f64 has no .ftz";
  return op == ptx_op::fma && !m.rounded ? "a rounding modifier was expected" : nullptr;
}

verdict of_division(ptx_op op, const modifiers& m) {
  if (!is_float(m.type)) return m.rounded || m.ftz || m.approx || m.full ? "integers take no modifier" : nullptr;
  if (op == ptx_op::rsqrt) return m.rounded ? "only .approx exists" : m.approx ? nullptr : ".approx was expected";
  if (!m.rounded && !m.approx && !m.full) return "a rounding modifier or .approx was expected";
  return m.ftz && m.type == dtype::f64 && op != ptx_op::rcp ? "f64 has no .ftz" : nullptr;
}

verdict of_comparison(const modifiers& m) {
  using isa::compare;
  const dtype t = m.types == 2 ? m.type2 : m.type;
  if (m.ftz && t != dtype::f32 && !is_half(t)) return ".ftz is of f32 and half-precision types";
  if (is_float(t)) return m.unsigned_compare ? "lo, ls, hi and hs compare unsigned integers" : nullptr;
  const bool unordered = m.cmp == compare::num || m.cmp == compare::nan || (m.cmp >= compare::ltu && m.cmp <= compare::geu);
  if (unordered) return "only floating-point types compare so";
  const bool equality = m.cmp == compare::eq || m.cmp == compare::ne;
  if (is_bits(t) && !equality) return "types without sign know only eq and ne";
  return m.unsigned_compare && is_signed(t) ? "lo, ls, hi and hs compare unsigned integers" : nullptr;
}

verdict of_conversion(const modifiers& m) {
  const bool to_float = is_real(m.type), from_float = is_real(m.type2);
  if (!to_float && from_float && m.type != dtype::b32) {
    if (!m.to_integer) return "a rounding to an integer was expected: .rni, .rzi, .rmi or .rpi";
  } else if (to_float && is_integer(m.type2)) {
    if (!m.rounded || m.to_integer) return "a rounding modifier was expected: .rn, .rz, .rm or .rp";
  } else if (is_integer(m.type) && is_integer(m.type2)) {
    if (m.rounded) return "integers are not rounded";
  } else if (to_float && from_float && !m.rounded && (size_of(m.type) < size_of(m.type2) || is_pair(m.type))) {
    return "a rounding modifier was expected";
  }
  const auto wide = [](dtype t) { return t != dtype::f32 && !is_half(t); };
  return m.ftz && wide(m.type) && wide(m.type2) ? ".ftz is of f32 and half-precision types" : nullptr;
}

verdict of_atomic(const modifiers& m, bool noftz) {
  enum { add, minimum, maximum, inc, dec, and_, or_, xor_, exch, cas };
  const dtype t = m.type;
  const bool half = is_half(t);
  switch (m.sub) {
    case inc:
    case dec: return t == dtype::u32 ? nullptr : ".u32 was expected";
    case and_:
    case or_:
    case xor_: return t == dtype::b32 || t == dtype::b64 ? nullptr : ".b32 or .b64 was expected";
    case add:
      if (t == dtype::s64) return "64-bit integers are added as .u64";
      return half && !noftz ? "half-precision types are added with .noftz" : nullptr;
    case minimum:
    case maximum: return half && !noftz ? "half-precision types are compared with .noftz" : nullptr;
    default: return nullptr;
  }
}

verdict of_types(ptx_op op, dtype t) {
  switch (op) {
    case ptx_op::and_:
    case ptx_op::or_:
    case ptx_op::xor_:
    case ptx_op::not_: return is_bits(t) || t == dtype::pred ? nullptr : "a type without sign was expected";
    case ptx_op::shl:
    case ptx_op::cnot:
    case ptx_op::bfi:
    case ptx_op::popc:
    case ptx_op::clz:
    case ptx_op::brev: return is_bits(t) ? nullptr : "a type without sign was expected";
    case ptx_op::bfe:
    case ptx_op::bfind: return is_integer(t) ? nullptr : "an integer type was expected";
    default: return nullptr;
  }
}

bool has(const ast_instruction& i, std::initializer_list<const char*> words) {
  return std::any_of(i.modifiers.begin(), i.modifiers.end(),
                     [&](const std::string& w) { return std::find(words.begin(), words.end(), w) != words.end(); });
}

verdict of_fence(const ast_instruction& i) {
  const bool ordered = has(i, {"acq_rel", "sc", "acquire", "release"});
  return ordered && !has(i, {"cta", "cluster", "gpu", "sys"}) ? "a scope was expected: .cta, .cluster, .gpu or .sys" : nullptr;
}

verdict of_form(ptx_op op, const modifiers& m, const ast_instruction& i) {
  switch (op) {
    case ptx_op::add:
    case ptx_op::sub:
    case ptx_op::mul:
    case ptx_op::mad:
    case ptx_op::fma: return of_arithmetic(op, m);
    case ptx_op::abs:
    case ptx_op::neg:
    case ptx_op::min:
    case ptx_op::max:
      if (m.nan && (!is_float(m.type) || m.type == dtype::f64)) return ".NaN is of f32 and half-precision types";
      return of_arithmetic(op, m);
    case ptx_op::div:
    case ptx_op::rcp:
    case ptx_op::sqrt:
    case ptx_op::rsqrt: return of_division(op, m);
    case ptx_op::setp:
    case ptx_op::set: return of_comparison(m);
    case ptx_op::cvt: return of_conversion(m);
    case ptx_op::tanh: return m.ftz ? "tanh keeps subnormal numbers" : nullptr;
    case ptx_op::atom:
    case ptx_op::red: return m.vector == 1 ? of_atomic(m, has(i, {"noftz"})) : nullptr;
    case ptx_op::fence: return of_fence(i);
    default: return of_types(op, m.type);
  }
}

}  // namespace

void check_form(const ast_instruction& i, ptx_op op, const modifiers& m, const std::string& file) {
  if (const verdict wrong = of_form(op, m, i))
    throw input_error(file, i.where.line, i.where.column, "unsupported form of instruction '" + i.mnemonic() + "': " + wrong);
}

}  // namespace heddle::ptx
