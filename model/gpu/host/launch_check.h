// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/config/parameters.h"
#include "heddle/isa/program.h"
#include "heddle/occupancy/occupancy.h"
#include "heddle/tlm/protocol/cta_protocol.h"

namespace heddle {

/// What a block of this kernel asks of an SM.
block_demand demand_of(const isa::program& program, unsigned threads, std::uint64_t dynamic_shared_bytes,
                       int carveout_percent);

/// Throws input_error, naming the limiting resource, for a launch that can never run on the GPU: a dimension of 0, too
/// many threads, .reqntid or .maxntid violated, a block that fits no SM.
void check_launch(const gpu_config& config, const isa::program& program, const std::uint32_t grid[3],
                  const std::uint32_t block[3], std::uint32_t dynamic_shared_bytes, int carveout_percent);

/// Throws input_error for a preemption mode that the GPU does not support, and for an SM that does not exist.
void check_preemption(const gpu_config& config, const std::vector<unsigned>& sms, preemption_mode mode);

/// The message that refuses mode flush for a kernel, with the reason `why`.
std::string flush_refusal(const std::string& kernel, const std::string& why);

}  // namespace heddle
