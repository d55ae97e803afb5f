// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scalar_program.h"

namespace heddle::conformance {

/// A range of global memory at the address that the kernel uses.
struct memory_region {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};

struct scalar_launch {
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::uint8_t> parameters;
};

/// Executes a kernel block by block and thread by thread according to the PTX ISA: without warps except for shuffles
/// and votes, without lowering, and without code of the model. Modifies the memory ranges. Throws reference_limit for
/// unsupported features, program_error if the kernel accesses other memory, deadlocks, or runs for more than `limit`
/// steps in a thread.
void run_reference(const scalar_program& program, const scalar_launch& launch, std::vector<memory_region>& memory,
                   std::uint64_t limit = 1'000'000);

}  // namespace heddle::conformance
