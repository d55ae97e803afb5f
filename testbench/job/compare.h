// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "testbench/job/job.h"

namespace heddle::testbench {

unsigned bytes_of(element_type type);

/// The outcome of comparing an output with what was expected.
struct comparison {
  std::string name;    // of the buffer or symbol
  std::string expect;  // the reference file
  std::uint64_t elements = 0;
  std::uint64_t differing = 0;
  std::vector<std::string> first;  // up to five lines: "[index] got, expected reference"
};

/// Element by element: a match means |a-b| <= atol + rtol*|reference|; NaN equals NaN, an infinity only itself. Both
/// byte strings must have the same size, a multiple of the element's.
comparison compare(const output& o, const std::vector<std::uint8_t>& got, const std::vector<std::uint8_t>& expected);

/// The value of an IEEE 754 half precision number.
double half_value(std::uint16_t bits);

}  // namespace heddle::testbench
