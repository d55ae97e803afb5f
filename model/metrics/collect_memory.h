// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/metrics/run_metrics.h"

namespace heddle {

class gpu;

/// a / b; 0 where b is.
inline double ratio(double a, double b) { return b > 0 ? a / b : 0; }

/// Counts of a launch in the SMs' part of the memory system: load/store units, TLBs, shared memories, L1s.
void fill_sm_memory(kernel_metrics& k, const gpu& g, std::uint32_t launch);
/// Counts of a launch in the chip's part: L2 slices and DRAM channels.
void fill_chip_memory(kernel_metrics& k, const gpu& g, std::uint32_t launch);

}  // namespace heddle
