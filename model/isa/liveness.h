// SPDX-License-Identifier: MIT
#pragma once

#include <bitset>
#include <vector>

#include "heddle/isa/program.h"

namespace heddle::isa {

using register_set = std::bitset<256>;

/// For each instruction the registers whose value may still be read by a thread that has it before it. What an
/// instruction writes under a guard stays live, for threads may keep what they had.
std::vector<register_set> live_registers(const program& p);

}  // namespace heddle::isa
