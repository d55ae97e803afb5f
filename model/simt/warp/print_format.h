// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace heddle::simt {

/// Reads `bytes` bytes at a generic address of the printing lane; throws program_error if there is no memory.
using lane_reader = std::function<void(std::uint64_t address, void* data, unsigned bytes)>;

/// Reads a C string of the simulated program. Throws program_error if it has no end within 64 KiB.
std::string read_string(const lane_reader& read, std::uint64_t address);

struct printed_text {
  std::string text;
  std::int32_t arguments = 0;  // result of vprintf: number of conversions, -1 without a format
};

/// vprintf of CUDA's device runtime: C's conversions d i u x X o c s p f F e E g G a A and %%, flags, width, precision
/// (both also *), h hh l ll z t j. Arguments are consecutive and aligned to their size: 8 bytes for doubles, pointers,
/// l and ll, otherwise 4. Unknown conversions are printed unchanged. Throws program_error for an access to missing
/// memory and for a width or precision above 65535.
printed_text format_print(const lane_reader& read, std::uint64_t format, std::uint64_t arguments);

}  // namespace heddle::simt
