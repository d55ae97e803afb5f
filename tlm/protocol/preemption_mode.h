// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle {

/// How blocks leave an SM before their time: run to their end; are written to memory and read back; are dropped and run
/// anew; or whichever of these is estimated to cost least.
enum class preemption_mode : std::uint8_t { drain, context_switch, flush, automatic };

}  // namespace heddle
