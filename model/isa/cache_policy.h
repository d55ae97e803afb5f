// SPDX-License-Identifier: MIT
// Cache policies: what createpolicy makes and an access with .L2::cache_hint names. PTX leaves the 64 bits open. These
// are those of libcu++ (cuda/__annotated_ptr/access_property_encoding.h) and of the constants in CUTLASS; all that
// matters is in the upper 32 bits, and only these are handed on.
#pragma once

#include <cstdint>

namespace heddle::isa {

/// When the L2 replaces a line that an access has used: before all others (first), after all others (last), in the
/// order of their use (normal), or as before the access (unchanged).
enum class eviction : std::uint8_t { unchanged, first, last, normal };

/// The upper word of a policy. The primary eviction is that of a part of the addresses, the secondary one (unchanged or
/// first) that of the others.
namespace cache_policy {

// Bits of fields, and where they begin.
constexpr unsigned mode_at = 27, primary_at = 25, secondary_at = 24, amount_at = 20, start_at = 12, count_at = 5;
constexpr std::uint32_t block_mask = 127;
/// The mode of a part that is a fraction of all lines (amount: sixteenths, less one), or a run of `count` blocks from
/// number `start` on (amount: the logarithm of the blocks' size in units of 4096 bytes).
constexpr std::uint32_t fraction = 2, range = 3;
constexpr unsigned least_block_bits = 12;

constexpr std::uint32_t evictions(std::uint32_t mode, eviction primary, eviction secondary) {
  return mode << mode_at | static_cast<std::uint32_t>(primary) << primary_at |
         (secondary == eviction::first ? 1u << secondary_at : 0u);
}

/// `sixteenths`, 1 to 16, of all lines.
constexpr std::uint32_t of_fraction(eviction primary, eviction secondary, unsigned sixteenths) {
  return evictions(fraction, primary, secondary) | (sixteenths - 1) << amount_at;
}

}  // namespace cache_policy

}  // namespace heddle::isa
