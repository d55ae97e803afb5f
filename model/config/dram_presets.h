// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/parameters.h"

namespace heddle {

/// Sets what the kind of memory named `dram.preset` says of a channel: clock, width, burst, banks, rows and times. The
/// controller (queue, latency) and the number of channels stay. Nothing for `none`.
void apply_dram_preset(dram_parameters& dram);

}  // namespace heddle
