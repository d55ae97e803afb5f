// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/isa/program.h"
#include "heddle/memory/common/address_ranges.h"
#include "heddle/simt/texture/texture.h"

namespace heddle {

/// A global access of a kernel, described by the origins of its address.
struct access_origin {
  std::uint64_t slots = 0;  // bit s: the address depends on the 8 bytes of parameters at 8 s
  bool unknown = false;     // it depends on a possible pointer, or on parameters beyond the first 512 bytes
  std::uint32_t line = 0;   // in the source
};

/// A kernel's accesses to global memory, as far as its machine program shows them.
struct global_footprint {
  std::vector<access_origin> loads;  // except loads of read-only data (ld.global.nc)
  std::vector<access_origin> stores;
  bool samples = false;                // reads textures or surfaces
  std::uint32_t irrevocable_line = 0;  // of an atomic, a surface store or a system call; 0 if none
};

/// Follows parameters through registers, shared and local memory to addresses. Assumes that a 64-bit pointer is never
/// assembled from halves loaded separately from global memory.
global_footprint footprint_of(const isa::program& program);

/// The reason why blocks of a launch are not shown to give the same result when they are dropped halfway and restarted;
/// empty if they are. They are if nothing irrevocable happens and no load can reach an allocation that a store can
/// reach. `parameters`: the bytes of the parameter area.
std::string why_not_idempotent(const global_footprint& footprint, const std::vector<std::uint8_t>& parameters,
                               const address_ranges& ranges, const simt::texture_table* textures);

}  // namespace heddle
