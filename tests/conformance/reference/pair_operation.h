// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>

#include "scalar_operation.h"

namespace heddle::conformance {

/// An instruction with two 16-bit operands as the ISA defines it, decoded once. It evaluates all pairs of operands,
/// for which the scalar reference, which decodes each instruction word by word, would take days. It shares no code
/// with the model; exhaustive_test.cpp compares it with the scalar reference.
class pair_operation {
 public:
  static constexpr unsigned row_length = 256;

  virtual ~pair_operation() = default;
  /// out[k] = the result for a and first + k, both 16-bit operands. The result of a division by zero is arbitrary.
  virtual void row(std::uint32_t a, std::uint32_t first, std::uint32_t* out) const = 0;
  [[nodiscard]] virtual std::uint32_t one(std::uint32_t a, std::uint32_t b) const = 0;
};

/// The operation; for packed operands that of one half. Null for other instructions.
std::unique_ptr<pair_operation> resolve_pair(const scalar_operation& o);

/// The operations that compute f16 or bf16, for resolve_pair.
std::unique_ptr<pair_operation> resolve_float_pair(const scalar_operation& o, isa::dtype t);
/// setp and set of f16 and bf16; `yes`: the result of set for a true comparison.
std::unique_ptr<pair_operation> resolve_float_comparison(const scalar_operation& o, isa::dtype t, std::uint32_t yes);

/// Adapts a functor of two operands to a pair_operation, with the loop over the second operand.
template <class Functor>
class pair_rows final : public pair_operation {
 public:
  explicit pair_rows(const Functor& f) : f_(f) {}
  void row(std::uint32_t a, std::uint32_t first, std::uint32_t* out) const override {
    const Functor f = f_;
    for (unsigned k = 0; k < row_length; ++k) out[k] = f(a, first + k);
  }
  [[nodiscard]] std::uint32_t one(std::uint32_t a, std::uint32_t b) const override { return f_(a, b); }

 private:
  Functor f_;
};

template <class Functor>
std::unique_ptr<pair_operation> rows_of_pairs(const Functor& f) {
  return std::make_unique<pair_rows<Functor>>(f);
}

}  // namespace heddle::conformance
