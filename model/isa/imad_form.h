// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/instruction.h"
#include "heddle/isa/opcode.h"

namespace heddle::isa {

/// What IMAD does whose operands leave no product: IMAD.MOV, IMAD.IADD and IMAD.SHL, with which compilers give the
/// multiplier's pipe moves, sums and shifts.
enum class imad_form : std::uint8_t { multiply, move, sum, shift };

imad_form form_of(const instruction& i);

/// The operand that a MOV or an IMAD.MOV copies; null: the instruction is neither.
const operand* copied_by(const instruction& i);

}  // namespace heddle::isa
