// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "testbench/job/job.h"

namespace heddle::testbench {

/// The result of comparing an output with its reference.
struct comparison {
  std::string name;    // of the buffer or symbol
  std::string expect;  // the reference file
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;
  std::vector<std::string> first;  // up to five lines: "[index] got, expected reference"
};

/// Compares element by element: a match means |a-b| <= atol + rtol*|reference|; NaN equals NaN, an infinity equals
/// only itself. Both byte strings must have the same size, a multiple of the element size.
comparison compare(const output& o, const std::vector<std::uint8_t>& got, const std::vector<std::uint8_t>& expected);

/// The value of an IEEE 754 half precision number.
double half_value(std::uint16_t bits);

}  // namespace heddle::testbench
