// SPDX-License-Identifier: MIT
#pragma once

#include <set>

#include "testbench/advice/machine_code.h"

namespace heddle::testbench {

/// Whether some address or branch in these blocks depends on what they have loaded: a walk along a list, a search, or a
/// wait for another thread. Found by the registers of the instructions, in the order of the code.
bool follows_loaded_values(const machine_code& code, const std::set<std::size_t>& blocks);

}  // namespace heddle::testbench
