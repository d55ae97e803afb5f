// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "heddle/isa/instruction.h"

namespace heddle {
struct gpu_config;
}

namespace heddle::ptx {

/// Gives moves, sums of two and shifts left to the pipe of multiply-adds where that of the other integer instructions
/// is busy when their sources are there: IMAD.MOV, IMAD.IADD, IMAD.SHL, and VIADD from 9.0 on. So do NVIDIA's compilers
/// for Volta and later, whose schedulers issue an instruction every cycle to pipes that take one every other cycle. The
/// order stays.
void balance_pipes(std::vector<isa::instruction>& code, const gpu_config& gpu);

}  // namespace heddle::ptx
