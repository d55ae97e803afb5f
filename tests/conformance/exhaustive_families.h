// SPDX-License-Identifier: MIT
#pragma once

#include "families.h"

namespace heddle::conformance {

/// The size and packing of a case's operands.
enum class operand_shape : std::uint8_t {
  byte,    // the low 8 bits of a register
  half,    // 16 bits
  halves,  // two of 16 bits, each an independent operation
  bytes    // 8-bit parts of a register: video instructions on bytes, alone and four at a time
};

struct exhaustive_case {
  conformance_case instruction;  // operands: 1 or 2
  operand_shape shape = operand_shape::half;
};

/// All cases of one or two operands of 8 and 16 bits (integers, f16, bf16), alone and packed, that only compute.
std::vector<exhaustive_case> exhaustive_families();

}  // namespace heddle::conformance
