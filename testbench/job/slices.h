// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/parameters.h"
#include "testbench/job/job.h"

namespace heddle::testbench {

/// The GPU divided into the job's slices: whole GPCs up to a slice's number of SMs, and channels behind each other.
/// Throws input_error for what the chip does not have.
gpu_config divided(gpu_config config, const job& j);

/// The SMs on which a client's blocks may be at once: of its slice or the GPU, or the part of them that `sm_percent`
/// gives, rounded up.
unsigned sms_of_client(const job& j, unsigned client, const gpu_config& config);

}  // namespace heddle::testbench
