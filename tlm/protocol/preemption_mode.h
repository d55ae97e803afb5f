// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle {

/// How an SM is freed of its blocks: they run to their end; they are written to memory and restored later; they are
/// dropped and restarted from the beginning; or whichever of these is estimated to cost least.
enum class preemption_mode : std::uint8_t { drain, context_switch, flush, automatic };

}  // namespace heddle
