// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>

#include "testbench/advice/machine_code.h"

namespace heddle::testbench {

/// What an instruction reads and writes: "R7", "P0".
struct operands {
  std::set<std::string> read, written;
  bool guarded = false;  // it may not write
};
operands operands_of(const machine_step& step);

/// Whether some address or branch in these blocks depends on what they have loaded: a walk along a list, a search, or a
/// wait for another thread. Found by the registers of the instructions, in the order of the code.
bool follows_loaded_values(const machine_code& code, const std::set<std::size_t>& blocks);

/// Whether the address of a load in a loop, from its first to its last instruction, depends on what the load has
/// returned in the iterations before.
bool follows_itself(const machine_code& code, std::size_t first, std::size_t last, std::size_t load);

/// Whether the iterations of some loop may differ between threads: its branch depends on a number of the thread or
/// block, or on what was loaded. If not, and each instruction is executed as often by all warps, all have the same
/// work.
bool has_loops_by_thread(const machine_code& code);

/// The same of indices of arrays in local memory: no unrolled loop makes them constants.
bool has_local_arrays_by_thread(const machine_code& code);

}  // namespace heddle::testbench
