// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "testbench/job/job.h"

namespace heddle::testbench {

/// Bytes [offset, offset + bytes) of a generated buffer; offset is a multiple of 8. The last element is truncated if
/// the size is not a multiple of the element size. Not for file contents.
std::vector<std::uint8_t> fill_bytes(const buffer& b, std::uint64_t offset, std::uint64_t bytes);

}  // namespace heddle::testbench
