// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/isa/program.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/simt/texture/texture.h"

namespace heddle {

/// A global access of a kernel, by what its address is computed from.
struct access_origin {
  std::uint64_t slots = 0;  // bit s: the 8 bytes of parameters from 8 s on take part in the address
  bool unknown = false;     // a value that may itself be a pointer does, or parameters beyond the first 512 bytes
  std::uint32_t line = 0;   // of the source
};

/// What a kernel does to global memory, as far as its machine program shows it.
struct global_footprint {
  std::vector<access_origin> loads;  // but for those of read-only data (ld.global.nc)
  std::vector<access_origin> stores;
  bool samples = false;                // reads textures or surfaces
  std::uint32_t irrevocable_line = 0;  // of an atomic, a surface store or a call of the system; 0: there is none
};

/// Follows parameters through registers, shared and local memory to the addresses. Assumes that a 64-bit pointer is
/// never put together from halves that were loaded from global memory one by one.
global_footprint footprint_of(const isa::program& program);

/// Why blocks of a launch cannot be shown to give the same result when they are dropped on the way and run anew; empty:
/// they can. They can when nothing irrevocable happens and no load can reach an allocation that a store can reach.
/// `parameters`: the parameter area's bytes.
std::string why_not_idempotent(const global_footprint& footprint, const std::vector<std::uint8_t>& parameters,
                               const address_ranges& ranges, const simt::texture_table* textures);

}  // namespace heddle
