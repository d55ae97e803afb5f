// SPDX-License-Identifier: MIT
#include "heddle/simt/scalar/arrival.h"
#include "heddle/simt/scalar/memory_access.h"
#include "heddle/simt/scalar/soft_float.h"

namespace heddle::simt {

namespace {

using isa::atomic_op;
using isa::dtype;
using isa::rounding;

bool is_floating(dtype t) {
  return t == dtype::f16 || t == dtype::bf16 || t == dtype::f16x2 || t == dtype::bf16x2 || t == dtype::f32 ||
         t == dtype::f64;
}

unsigned bits_of(dtype t) {
  switch (t) {
    case dtype::u8:
    case dtype::s8:
    case dtype::b8: return 8;
    case dtype::u16:
    case dtype::s16:
    case dtype::b16:
    case dtype::f16:
    case dtype::bf16: return 16;
    case dtype::u64:
    case dtype::s64:
    case dtype::b64:
    case dtype::f64: return 64;
    default: return 32;
  }
}

std::uint64_t float_element(atomic_op op, float_format f, std::uint64_t a, std::uint64_t b, std::uint64_t nan) {
  if (op == atomic_op::add) {
    if (f.mantissa == format_f64.mantissa) return fma_f64(a, 0x3ff0000000000000u, b, rounding::rn, false);
    return add_small(f, a, b, rounding::rn, nan);
  }
  return minmax(f, a, b, op == atomic_op::min, false, nan);
}

std::uint64_t float_result(atomic_op op, dtype t, std::uint64_t a, std::uint64_t b) {
  const float_format f = format_of(t);
  const std::uint64_t nan = canonical_nan(t);
  if (t != dtype::f16x2 && t != dtype::bf16x2) return float_element(op, f, a, b, nan);
  return float_element(op, f, a & 0xffff, b & 0xffff, nan) |
         float_element(op, f, a >> 16 & 0xffff, b >> 16 & 0xffff, nan) << 16;
}

}  // namespace

std::uint64_t atomic_result(atomic_op op, dtype type, std::uint64_t old_value, std::uint64_t operand,
                            std::uint64_t swap) {
  const unsigned bits = bits_of(type);
  const std::uint64_t cell = ~std::uint64_t{0} >> (64 - bits);
  const std::uint64_t a = old_value & cell;
  const std::uint64_t b = operand & cell;
  const std::uint64_t sign = std::uint64_t{1} << (bits - 1);
  const bool is_signed = type == dtype::s8 || type == dtype::s16 || type == dtype::s32 || type == dtype::s64;
  const std::uint64_t order = is_signed ? sign : 0;  // flips signed numbers into the order of unsigned ones
  switch (op) {
    case atomic_op::and_: return a & b;
    case atomic_op::or_: return a | b;
    case atomic_op::xor_: return a ^ b;
    case atomic_op::exch: return b;
    case atomic_op::cas: return a == b ? swap & cell : a;
    case atomic_op::arrive: return arrival::result(a, b);
    case atomic_op::inc: return a >= b ? 0 : a + 1;
    case atomic_op::dec: return a == 0 || a > b ? b : a - 1;
    default: break;
  }
  if (is_floating(type)) return float_result(op, type, a, b);
  if (op == atomic_op::add) return (a + b) & cell;
  const bool less = (a ^ order) < (b ^ order);
  return less == (op == atomic_op::min) ? a : b;
}

std::uint64_t global_atomic_result(atomic_op op, dtype type, std::uint64_t old_value, std::uint64_t operand,
                                   std::uint64_t swap) {
  if (op != atomic_op::add || type != dtype::f32) return atomic_result(op, type, old_value, operand, swap);
  const auto flushed = [](std::uint64_t bits) { return flush(format_f32, bits & 0xffffffffu); };
  return flushed(atomic_result(op, type, flushed(old_value), flushed(operand), swap));
}

}  // namespace heddle::simt
