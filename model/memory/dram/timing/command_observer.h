// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/config/dram_standard.h"
#include "heddle/tlm/kernel/clock_timing.h"

namespace heddle {

/// Is notified of the commands of a DRAM channel, each burst's column command and refreshes included. Commands may be
/// reported before their cycle, and those of a time without requests after it; `bank` has no meaning for prea and
/// refab.
class command_observer {
 public:
  virtual ~command_observer() = default;
  virtual void issued(dram_command command, unsigned bank, std::uint64_t row, cycle_t cycle) = 0;
};

}  // namespace heddle
