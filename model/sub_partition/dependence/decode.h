// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "heddle/sub_partition/dependence/decoded_program.h"

namespace heddle {

/// Classifies each instruction as a back edge.
std::vector<back_edge> back_edges(const isa::program& p);

/// Decodes for the GPU. Throws input_error for an instruction whose unit the chip lacks (lanes = 0).
[[nodiscard]] std::shared_ptr<const decoded_program> decode(const std::shared_ptr<const isa::program>& program,
                                                            const gpu_config& config, std::uint64_t code_address);

}  // namespace heddle
