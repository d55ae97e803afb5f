// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <memory>

#include "scalar_operation.h"

namespace heddle::conformance {

/// An instruction of two 16-bit operands as the ISA says it, decided once: for all pairs there are, where the scalar
/// reference, which is asked word for word, would take days. Shares nothing with the model; exhaustive_test.cpp holds
/// it against the scalar reference.
class pair_operation {
 public:
  static constexpr unsigned row_length = 256;

  virtual ~pair_operation() = default;
  /// out[k] = the result of a and first + k, both 16-bit operands. A division by zero gives anything.
  virtual void row(std::uint32_t a, std::uint32_t first, std::uint32_t* out) const = 0;
  virtual std::uint32_t one(std::uint32_t a, std::uint32_t b) const = 0;
};

/// The operation; of packed operands that of one half. Null for what is not of this kind.
std::unique_ptr<pair_operation> resolve_pair(const scalar_operation& o);

/// Those of them that compute f16 or bf16, for resolve_pair.
std::unique_ptr<pair_operation> resolve_float_pair(const scalar_operation& o, isa::dtype t);
/// setp and set of f16 and bf16; `yes`: what set gives where the comparison holds.
std::unique_ptr<pair_operation> resolve_float_comparison(const scalar_operation& o, isa::dtype t, std::uint32_t yes);

/// A functor of two operands as a pair_operation, with the loop over the second one around it.
template <class Functor>
class pair_rows final : public pair_operation {
 public:
  explicit pair_rows(const Functor& f) : f_(f) {}
  void row(std::uint32_t a, std::uint32_t first, std::uint32_t* out) const override {
    const Functor f = f_;
    for (unsigned k = 0; k < row_length; ++k) out[k] = f(a, first + k);
  }
  std::uint32_t one(std::uint32_t a, std::uint32_t b) const override { return f_(a, b); }

 private:
  Functor f_;
};

template <class Functor>
std::unique_ptr<pair_operation> rows_of_pairs(const Functor& f) {
  return std::make_unique<pair_rows<Functor>>(f);
}

}  // namespace heddle::conformance
