// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// Why this executable cannot be started with a library under it, as the rest of a sentence: it is cut off, or a CUDA
/// program that is linked without a dynamic linker (-static). Empty: it can, or it is no ELF file of 64 bits.
std::string defect_of_executable(const std::string& file);

}  // namespace heddle::testbench
