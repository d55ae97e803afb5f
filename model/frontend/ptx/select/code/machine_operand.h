// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

/// A 64-bit operand by words.
struct wide_value {
  virtual_operand lo, hi;
};

[[nodiscard]] virtual_operand immediate(std::uint64_t bits, unsigned words = 1);
/// RZ.
[[nodiscard]] virtual_operand zero();
/// Word `k` of an operand.
[[nodiscard]] virtual_operand word(const virtual_operand& o, unsigned k);
[[nodiscard]] virtual_operand minus(virtual_operand o);

/// How many registers a value of the type takes.
[[nodiscard]] unsigned words_of(isa::dtype t);
/// f16, bf16 and pairs of them.
[[nodiscard]] bool is_half(isa::dtype t);

}  // namespace heddle::ptx
