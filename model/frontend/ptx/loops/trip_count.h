// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/frontend/ptx/loops/loop_plan.h"

namespace heddle::ptx {

/// Of a type of 32 or 64 bits.
inline unsigned counter_words(isa::dtype t) { return isa::size_of(t) / 4; }

std::int64_t signed_value(std::uint64_t bits, unsigned words);

/// The comparison with its operands exchanged.
isa::compare mirrored(isa::compare c);

/// The comparison that holds where this one does not.
isa::compare opposite(isa::compare c);

/// Trips of a loop by its test; 0 if they are not known, as where the counter leaves the range of its type.
std::uint64_t count_trips(const loop_plan& p);

}  // namespace heddle::ptx
