// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/machine/machine_ir.h"
#include "heddle/frontend/ptx/machine/register_allocation.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

/// Machine code with physical registers: copies onto themselves and branches to the next instruction are dropped, block
/// targets and reconvergence points (immediate post-dominators) become instruction indices.
std::vector<isa::instruction> emit(const machine_function& f, const register_allocation& a);

}  // namespace heddle::ptx
