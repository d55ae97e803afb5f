// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/parameters.h"

namespace heddle::ptx {

/// Whether a GPU's programs have what ptxas 13.0 makes for compute capability 9.0 and later: loads of constants, LEA
/// for sums of 64 bits, wide loads of shared memory, LOP3 of three inputs. Programs of other GPUs have none of it.
[[nodiscard]] inline bool has_hopper_code(const gpu_config& gpu) { return compute_capability(gpu) >= 90; }

}  // namespace heddle::ptx
