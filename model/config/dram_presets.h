// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/config/parameters.h"

namespace heddle {

/// Sets the parameters of a channel that `dram.preset` determines: clock, width, burst, banks, rows and timings. The
/// controller (queue, latency) and the number of channels do not change. Has no effect for `none`.
void apply_dram_preset(dram_parameters& dram);

}  // namespace heddle
