// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "frontend/ptx/liveness.h"
#include "frontend/ptx/machine_ir.h"

namespace heddle::ptx {

/// Places of the virtual registers: physical[r] is the first 32-bit register of r, or the predicate register.
/// Registers that are never live have isa::rz (predicates: isa::pt).
struct register_allocation {
  std::vector<std::uint8_t> physical;
  std::uint32_t registers = 0;         // 32-bit registers per thread
};

/// Linear scan over live intervals with holes: in the order of their starts, each interval takes the lowest register whose
/// occupied stretches it does not meet; pairs are even, quads aligned to four. Copies whose sides never meet share a
/// place. What does not fit in `limit` registers is spilled to local memory (f.local_bytes grows), predicates beyond seven to
/// registers; the function is rewritten. Up to `free_of_cost` registers, or the next multiple of eight, registers rest for a few instructions
/// before they are taken again, and those are taken that keep an instruction's sources in different ones of `banks` register banks, as
/// ptxas does. False: `limit` is too small for any code of this function.
bool allocate_registers(machine_function& f, unsigned limit, unsigned free_of_cost, unsigned banks, register_allocation& a);

/// Checks an allocation: no two units that are live at the same place share a register, alignment holds. Throws internal_error.
void verify_allocation(const machine_function& f, const register_allocation& a);

}  // namespace heddle::ptx
