// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// The 64 bits of an mbarrier object, whose layout PTX leaves to the machine.
namespace heddle::simt::arrival {

constexpr std::uint64_t count_mask = 0xfffff;  // 20 bits: PTX allows 2^20 - 1 arrivals
constexpr unsigned pending_shift = 0;          // arrivals that the current phase still awaits
constexpr unsigned expected_shift = 20;        // arrivals of the next phase
constexpr unsigned bytes_shift = 40;           // bytes of transactions awaited, 21 bits, signed
constexpr std::uint64_t bytes_mask = 0x1fffff;
constexpr std::uint64_t phase = std::uint64_t{1} << 63;  // changes when a phase is complete

constexpr std::uint64_t drops = 1u << 20;  // of an arrival: not expected again

/// What an arrival (docs of isa::instruction: atom, arrive) leaves in the object.
inline std::uint64_t result(std::uint64_t old_value, std::uint64_t change) {
  const std::uint64_t count = change & count_mask;
  std::uint64_t expected = old_value >> expected_shift & count_mask;
  if ((change & drops) != 0) expected = (expected - count) & count_mask;
  const std::uint64_t pending = ((old_value >> pending_shift) - count) & count_mask;
  const std::uint64_t bytes = ((old_value >> bytes_shift) + (change >> 32)) & bytes_mask;
  const bool complete = pending == 0 && bytes == 0;
  return ((old_value & phase) ^ (complete ? phase : 0)) | (complete ? expected : pending) << pending_shift |
         expected << expected_shift | bytes << bytes_shift;
}

}  // namespace heddle::simt::arrival
