// SPDX-License-Identifier: MIT
#pragma once

#include <bitset>
#include <vector>

#include "heddle/isa/program.h"

namespace heddle::isa {

using register_set = std::bitset<256>;

/// For each instruction, the registers whose value a thread at that instruction may still read. A guarded write does
/// not end liveness, because threads that fail the guard keep the old value.
std::vector<register_set> live_registers(const program& p);

}  // namespace heddle::isa
