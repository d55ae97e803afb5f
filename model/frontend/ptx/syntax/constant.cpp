// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/syntax/constant.h"

#include <cstring>

namespace heddle::ptx {

namespace {

constexpr std::uint64_t f32_sign = 0x80000000u;
constexpr std::uint64_t f64_sign = 0x8000000000000000u;

constant truth(bool value) { return constant::of_integer(value ? 1 : 0, false); }

template <typename T>
bool compared(std::uint16_t operation, T a, T b) {
  switch (operation) {
    case symbol('<'): return a < b;
    case symbol('>'): return a > b;
    case symbol('<', '='): return a <= b;
    case symbol('>', '='): return a >= b;
    case symbol('=', '='): return a == b;
    default: return a != b;
  }
}

bool is_comparison(std::uint16_t operation) {
  return operation == symbol('<') || operation == symbol('>') || operation == symbol('<', '=') ||
         operation == symbol('>', '=') || operation == symbol('=', '=') || operation == symbol('!', '=');
}

constant apply_floating(const token_stream& tokens, const token& operation, double a, double b) {
  const std::uint16_t what = operation.punctuation;
  if (is_comparison(what)) return truth(compared(what, a, b));
  switch (what) {
    case symbol('+'): return constant::of_double(a + b);
    case symbol('-'): return constant::of_double(a - b);
    case symbol('*'): return constant::of_double(a * b);
    case symbol('/'): return constant::of_double(a / b);
    default: break;
  }
  tokens.fail(operation.where,
              "operator '" + std::string(operation.text) + "' on a floating-point value, expected integers");
}

std::uint64_t divided(bool remainder, bool is_unsigned, std::uint64_t a, std::uint64_t b) {
  if (is_unsigned) return remainder ? a % b : a / b;
  if (b == ~std::uint64_t{0}) return remainder ? 0 : 0 - a;  // -1: the only signed divisor that can overflow
  const auto x = static_cast<std::int64_t>(a);
  const auto y = static_cast<std::int64_t>(b);
  return static_cast<std::uint64_t>(remainder ? x % y : x / y);
}

std::uint64_t shifted_right(bool is_unsigned, std::uint64_t a, std::uint64_t amount) {
  const bool fill = !is_unsigned && (a & f64_sign) != 0;
  if (amount >= 64) return fill ? ~std::uint64_t{0} : 0;
  std::uint64_t result = a >> amount;
  if (fill && amount != 0) result |= ~std::uint64_t{0} << (64 - amount);
  return result;
}

}  // namespace

constant constant::of_double(double value) {
  constant c;
  c.what = kind::f64;
  std::memcpy(&c.bits, &value, sizeof value);
  return c;
}

double constant::as_double() const {
  if (what == kind::f64) {
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  if (what == kind::f32) {
    const auto low = static_cast<std::uint32_t>(bits);
    float value = 0;
    std::memcpy(&value, &low, sizeof value);
    return static_cast<double>(value);
  }
  return is_unsigned ? static_cast<double>(bits) : static_cast<double>(static_cast<std::int64_t>(bits));
}

bool constant::is_true() const { return is_integer() ? bits != 0 : as_double() != 0; }

constant apply_unary(const token_stream& tokens, const token& operation, constant a) {
  switch (operation.punctuation) {
    case symbol('-'):
      if (a.is_integer()) {
        a.bits = 0 - a.bits;
      } else {
        a.bits ^= a.what == constant::kind::f32 ? f32_sign : f64_sign;
      }
      return a;
    case symbol('!'): return truth(!a.is_true());
    case symbol('~'):
      if (a.is_integer()) {
        a.bits = ~a.bits;
        return a;
      }
      tokens.fail(operation.where, "operator '~' on a floating-point value, expected an integer");
    default: return a;
  }
}

constant apply_binary(const token_stream& tokens, const token& operation, constant a, constant b) {
  const std::uint16_t what = operation.punctuation;
  if (what == symbol('&', '&')) return truth(a.is_true() && b.is_true());
  if (what == symbol('|', '|')) return truth(a.is_true() || b.is_true());
  if (!a.is_integer() || !b.is_integer()) return apply_floating(tokens, operation, a.as_double(), b.as_double());

  const bool is_unsigned = a.is_unsigned || b.is_unsigned;
  if (is_comparison(what)) {
    return truth(is_unsigned ? compared(what, a.bits, b.bits)
                             : compared(what, static_cast<std::int64_t>(a.bits), static_cast<std::int64_t>(b.bits)));
  }
  switch (what) {
    case symbol('+'): return constant::of_integer(a.bits + b.bits, is_unsigned);
    case symbol('-'): return constant::of_integer(a.bits - b.bits, is_unsigned);
    case symbol('*'): return constant::of_integer(a.bits * b.bits, is_unsigned);
    case symbol('&'): return constant::of_integer(a.bits & b.bits, is_unsigned);
    case symbol('|'): return constant::of_integer(a.bits | b.bits, is_unsigned);
    case symbol('^'): return constant::of_integer(a.bits ^ b.bits, is_unsigned);
    case symbol('<', '<'): return constant::of_integer(b.bits >= 64 ? 0 : a.bits << b.bits, a.is_unsigned);
    case symbol('>', '>'): return constant::of_integer(shifted_right(a.is_unsigned, a.bits, b.bits), a.is_unsigned);
    default: break;
  }
  if (b.bits == 0) tokens.fail(operation.where, "division by zero, expected a divisor other than 0");
  return constant::of_integer(divided(what == symbol('%'), is_unsigned, a.bits, b.bits), is_unsigned);
}

}  // namespace heddle::ptx
