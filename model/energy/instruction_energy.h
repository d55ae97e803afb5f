// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/energy/energy_metrics.h"

namespace heddle {

struct decoded_instruction;
struct decoded_program;

namespace isa {
struct instruction;
}

/// What an executed warp instruction costs in its SM, pJ. What it causes in the memory system is counted there.
struct instruction_energy {
  energy_unit unit = energy_unit::branch;       // that executes it
  energy_class purpose = energy_class::branch;  // of the instruction, on whatever unit
  double unit_per_warp = 0;                     // for each warp instruction: matrix instructions
  double unit_per_lane = 0;                     // for each active lane: the others
  double registers_per_lane = 0;                // its operands and result
};

/// Registers that a lane reads and writes, 32 bits each.
struct register_use {
  unsigned reads = 0;
  unsigned writes = 0;
};
register_use registers_of(const isa::instruction& i);

instruction_energy energy_of(const decoded_instruction& d, const energy_parameters& prices);
std::vector<instruction_energy> energies_of(const decoded_program& program, const energy_parameters& prices);

}  // namespace heddle
