// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// True for a CUDA program that is linked without a dynamic linker (-static): no library can be put under it. False for
/// what is no ELF file of 64 bits that can be read.
bool is_static_cuda_program(const std::string& file);

}  // namespace heddle::testbench
