// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// The 64 bits of an mbarrier object; PTX leaves their layout to the implementation.
namespace heddle::simt::arrival {

constexpr std::uint64_t count_mask = 0xfffff;  // 20 bits: PTX allows 2^20 - 1 arrivals
constexpr unsigned pending_shift = 0;          // arrivals that the current phase still waits for
constexpr unsigned expected_shift = 20;        // arrivals of the next phase
constexpr unsigned bytes_shift = 40;           // bytes of transactions still to come, 21 bits, signed
constexpr std::uint64_t bytes_mask = 0x1fffff;
constexpr std::uint64_t phase = std::uint64_t{1} << 63;  // toggles when a phase completes

constexpr std::uint64_t drops = 1u << 20;  // in an arrival: the next phases expect fewer arrivals

/// The object's value after an arrival (described at isa::instruction: atom, arrive).
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
