// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "testbench/job/job.h"

namespace heddle::testbench {

/// The splitmix64 generator (Steele, Lea, Flood 2014): the n-th output, n from 0, of the sequence that starts at
/// `seed`.
std::uint64_t splitmix64(std::uint64_t seed, std::uint64_t n);

/// Bytes [offset, offset + bytes) of a filled buffer; offset is a multiple of 8. A buffer's last element is cut where
/// the size is no multiple of it. Not for file contents.
std::vector<std::uint8_t> fill_bytes(const buffer& b, std::uint64_t offset, std::uint64_t bytes);

}  // namespace heddle::testbench
