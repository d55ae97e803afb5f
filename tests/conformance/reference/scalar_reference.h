// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "scalar_program.h"

namespace heddle::conformance {

/// A piece of global memory at the address that the kernel sees.
struct memory_piece {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};

struct scalar_launch {
  std::uint32_t grid[3] = {1, 1, 1};
  std::uint32_t block[3] = {1, 1, 1};
  std::uint32_t dynamic_shared_bytes = 0;
  std::vector<std::uint8_t> parameters;
};

/// Executes a kernel block after block, thread by thread, as the PTX ISA says and nothing else: no warps but for
/// shuffles and votes, no lowering, no code of the model. Changes the memory pieces. Throws reference_limit for what it
/// does not cover, program_error when the kernel touches memory outside, deadlocks, or runs for more than `limit` steps
/// in a thread.
void run_reference(const scalar_program& program, const scalar_launch& launch, std::vector<memory_piece>& memory,
                   std::uint64_t limit = 1'000'000);

}  // namespace heddle::conformance
