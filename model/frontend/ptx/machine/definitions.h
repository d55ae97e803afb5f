// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/machine/liveness.h"
#include "heddle/frontend/ptx/machine/machine_ir.h"

namespace heddle::ptx {

/// Definitions per unit, and which units have exactly one, unguarded, that reaches every use.
struct definitions {
  std::vector<std::uint32_t> count;
  std::vector<const machine_instruction*> by;
  std::vector<std::uint32_t> uses;

  definitions(const machine_function& f, const unit_map& units)
      : count(units.count(), 0), by(units.count(), nullptr), uses(units.count(), 0) {
    for (const machine_block& b : f.blocks) {
      for (const machine_instruction& i : b.code) {
        for_each_definition(i, units, [&](std::uint32_t u) {
          ++count[u];
          by[u] = &i;
        });
        for_each_use(i, f.registers, units, [&](std::uint32_t u) { ++uses[u]; });
      }
    }
  }

  [[nodiscard]] bool single(const machine_function& f, std::uint32_t reg, std::uint32_t unit) const {
    return count[unit] == 1 && !by[unit]->guarded() && (f.registers[reg].single || f.registers[reg].temporary);
  }
};

}  // namespace heddle::ptx
