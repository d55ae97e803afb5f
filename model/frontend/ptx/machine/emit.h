// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/machine/machine_ir.h"
#include "heddle/frontend/ptx/machine/register_allocation.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

/// Instructions that keep the lanes of a warp together: none, BSSY where they may diverge and BSYNC where they
/// reconverge, or the barrier register cleared before (BMOV), too.
enum class convergence_code : std::uint8_t { none, barriers, saved_barriers };

/// What a chip's compilers put around a program's own instructions.
struct code_rules {
  convergence_code convergence = convergence_code::none;
  bool stack_pointer = false;  // R1 is loaded at the beginning
  bool exits_apart = false;    // lanes that only exit do not reconverge before
  bool descriptor = false;     // accesses to global memory take a descriptor, loaded at the beginning, too
};

/// Machine code with physical registers: copies onto themselves and branches to the next instruction are dropped, block
/// targets and reconvergence points (immediate post-dominators) become instruction indices.
std::vector<isa::instruction> emit(const machine_function& f, const register_allocation& a, const code_rules& rules);

}  // namespace heddle::ptx
