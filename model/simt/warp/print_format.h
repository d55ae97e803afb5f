// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace heddle::simt {

/// Reads `bytes` bytes at a generic address of the lane that prints; throws program_error where there is no memory.
using lane_reader = std::function<void(std::uint64_t address, void* data, unsigned bytes)>;

/// A C string of the simulated program. Throws program_error if it has no end within 64 KiB.
std::string read_string(const lane_reader& read, std::uint64_t address);

struct printed_text {
  std::string text;
  std::int32_t arguments = 0;  // what vprintf returns: conversions done, -1 without a format
};

/// vprintf of CUDA's device runtime: C's conversions d i u x X o c s p f F e E g G a A and %%, flags, width, precision
/// (both also *), h hh l ll z t j. Arguments lie one after the other, aligned to their size: 8 bytes for doubles,
/// pointers, l and ll, else 4. What is no conversion is printed as it stands. Throws program_error where memory is
/// missing, or a width or precision is above 65535.
printed_text format_print(const lane_reader& read, std::uint64_t format, std::uint64_t arguments);

}  // namespace heddle::simt
