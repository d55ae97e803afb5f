// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {

/// A trace file that derives from this as well is written only in cycles `first` to `last`, both included: signals that
/// cost something need not be kept up to date in others.
struct trace_window {
  cycle_t first = 0;
  cycle_t last = never;
};

}  // namespace heddle
