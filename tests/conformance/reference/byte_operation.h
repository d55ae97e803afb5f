// SPDX-License-Identifier: MIT
#pragma once

#include "scalar_operation.h"

namespace heddle::conformance {

/// A byte-wise video instruction as the ISA defines it, decoded once: vadd4 and similar instructions on whole
/// operands, vadd, vshl and similar ones on one byte of each operand. exhaustive_test.cpp compares it with the scalar
/// reference.
class byte_operation {
 public:
  /// Throws reference_limit for other instructions.
  explicit byte_operation(const scalar_operation& o);

  std::uint32_t operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const;

 private:
  enum class formula : std::uint8_t {
    add,
    sub,
    absolute_difference,
    least,
    most,
    average,
    equal,
    unequal,
    less,
    not_greater,
    greater,
    not_less,
    left,
    right
  };

  static int part(std::uint32_t v, unsigned place, bool is_signed) {
    const int n = static_cast<int>(v >> (8 * place) & 0xff);
    return is_signed && n > 127 ? n - 256 : n;
  }
  [[nodiscard]] std::int64_t compute(int a, int b) const;
  [[nodiscard]] std::int64_t clamped(std::int64_t v, unsigned bits) const;

  formula what_ = formula::add;
  bool four_ = false, signed_d_ = false, signed_a_ = false, signed_b_ = false, sat_ = false, sums_ = false,
       wraps_ = false;
  int into_ = -1;           // the byte of the result that is written; -1: the whole result
  unsigned a_ = 0, b_ = 0;  // the bytes that are read
};

}  // namespace heddle::conformance
