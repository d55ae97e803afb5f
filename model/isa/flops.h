// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>

#include "heddle/isa/program.h"

namespace heddle::isa {

/// The units whose floating-point operations are counted apart.
enum class flop_unit : std::uint8_t { none, fp32, fp64, half, tensor };

/// Floating-point operations of one instruction: an addition or a multiplication is one, a multiply-add two.
/// Comparisons, conversions and special functions are none, as in the profiler's flop_count.
struct flops {
  flop_unit unit = flop_unit::none;
  std::uint32_t of_lane = 0;  // of each active lane that is not predicated off
  std::uint32_t of_warp = 0;  // of each execution: products of matrices
};

/// Those of the instruction at an index of a program, by the tables of opcodes: the machine's, or for a traced program
/// that of the traces. Products of integer matrices have none.
flops flops_of(const program& p, std::size_t index);

}  // namespace heddle::isa
