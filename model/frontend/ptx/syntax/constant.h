// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/frontend/ptx/syntax/lexer.h"
#include "heddle/frontend/ptx/syntax/token_stream.h"

namespace heddle::ptx {

/// A folded constant expression. `bits`: two's complement, or the pattern of .f32 (low half) or .f64.
/// A single 0f literal (and its negation) stays f32; floating-point arithmetic is in .f64 (PTX ISA, "Constant
/// Expressions").
struct constant {
  enum class kind : std::uint8_t { integer, f32, f64 };
  kind what = kind::integer;
  bool is_unsigned = false;
  std::uint64_t bits = 0;

  static constant of_integer(std::uint64_t bits, bool is_unsigned) { return {kind::integer, is_unsigned, bits}; }
  static constant of_double(double value);

  [[nodiscard]] bool is_integer() const { return what == kind::integer; }
  /// Value as .f64: exact for f32, rounded to nearest for integers.
  [[nodiscard]] double as_double() const;
  [[nodiscard]] bool is_true() const;
};

/// `operation` is the operator's symbol(). Reports errors at `where`: division by zero, an integer operator on a
/// floating-point value.
constant apply_unary(const token_stream& tokens, const token& operation, constant a);
constant apply_binary(const token_stream& tokens, const token& operation, constant a, constant b);

}  // namespace heddle::ptx
