// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "testbench/job/job.h"

namespace heddle::testbench {

/// Output n (from 0) of the splitmix64 generator (Steele, Lea, Flood 2014) with the initial state `seed`.
std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t n);

/// Bytes [offset, offset + bytes) of a generated buffer; offset is a multiple of 8. The last element is truncated if
/// the size is not a multiple of the element size. Not for file contents.
std::vector<std::uint8_t> fill_bytes(const buffer& b, std::uint64_t offset, std::uint64_t bytes);

}  // namespace heddle::testbench
