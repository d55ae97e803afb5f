// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/machine/liveness.h"
#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

/// Places of the virtual registers: physical[r] is the first 32-bit register of r, or the predicate register.
/// Registers that are never live have isa::rz (predicates: isa::pt).
struct register_allocation {
  std::vector<std::uint8_t> physical;
  std::uint32_t registers = 0;  // 32-bit registers per thread, as the chip counts them
};

constexpr std::uint8_t stack_pointer = 1;

/// What a chip's compilers keep to.
struct register_rules {
  unsigned limit = 255;        // registers per thread, those counted in but not placed among them
  unsigned free_of_cost = 0;   // so many leave an SM all its warps
  unsigned step = 8;           // a thread's registers are handed out in multiples of it
  unsigned banks = 1;          // of the register file
  bool stack_pointer = false;  // R1 is taken by it, in every kernel
  unsigned beyond = 0;         // registers that are counted beyond the highest one
};

/// How many registers a function takes at least, with its instructions in their order; 0: more than the limit.
unsigned registers_needed(const machine_function& f, const register_rules& rules);

/// Linear scan over live intervals with holes: in the order of their starts, each interval takes the lowest register
/// whose occupied stretches it does not meet; pairs are even, quads aligned to four. Copies whose sides never meet
/// share a place. What does not fit in the limit is spilled to local memory (f.local_bytes grows), predicates beyond
/// seven to registers; the function is rewritten. As long as that costs no occupancy (up to `free_of_cost` registers,
/// or the next multiple of `step`) the intervals are then spread: interval_scan::spread(). False: the limit is too
/// small for any code of this function.
bool allocate_registers(machine_function& f, const register_rules& rules, register_allocation& a);

/// Checks an allocation: no two units that are live at the same place share a register, alignment holds. Throws
/// internal_error.
void verify_allocation(const machine_function& f, const register_allocation& a);

}  // namespace heddle::ptx
