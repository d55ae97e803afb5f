// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle::sanitize {

/// Whether it moves the bits of its sources, if it does not alter them.
bool moves_bits(const isa::instruction& i);
/// Whether it hands registers on as they are.
bool moves_registers(const isa::instruction& i);
/// The sources whose bits it moves, by bit.
unsigned moved_sources(const isa::instruction& i);
/// Whether it inverts bits of a source, or moves them by parts of bytes: a field of bits, say. `k`: the source.
bool alters_bits(const isa::instruction& i, const simt::warp_state& w, unsigned lane, unsigned k);

}  // namespace heddle::sanitize
