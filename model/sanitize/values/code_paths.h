// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/program.h"

namespace heddle::sanitize {

/// True if all paths from behind the instruction `from` to the end of the kernel lead through the instruction `at`.
bool always_follows(const isa::program& p, std::uint32_t from, std::uint32_t at);

/// True if a path from behind the instruction `from` computes with the register, or stores it alone, before it is
/// written anew. Moves and stores of whole vectors, as copies of structures have them, do not count.
bool computes_with(const isa::program& p, std::uint32_t from, unsigned reg);

}  // namespace heddle::sanitize
