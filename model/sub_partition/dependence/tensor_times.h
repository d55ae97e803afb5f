// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/parameters.h"
#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

/// Results per cycle and sub-partition, and cycles to a dependent instruction.
struct class_timing {
  double lanes;
  unsigned latency;
};

/// The timing of a matrix instruction.
class_timing tensor_timing(const isa::instruction& i, const gpu_config& g);

/// Sets what a product of a warpgroup occupies, if the GPU has them. `recorded`: of a trace, whose operand registers
/// are known.
void set_product(decoded_instruction& d, const gpu_config& config, bool recorded);

}  // namespace heddle
