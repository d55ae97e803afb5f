// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heddle/isa/opcode.h"

namespace heddle::sass_trace {

/// Generations of machine code, each with its own opcodes.
enum class generation : std::uint8_t { kepler, maxwell, pascal, volta, turing, ampere, hopper };

/// The generation of a binary version (10 x compute capability); false: it is not known. 86, 87 and 89 are Ampere's:
/// Ada runs its code.
bool generation_of(unsigned binary_version, generation& g);
/// "35, 50, ...": for messages.
std::string known_binary_versions();
const char* name_of(generation g);

/// What a trace's opcode is to the machine.
struct opcode_meaning {
  isa::opcode op = isa::opcode::nop;  // what the issue stage does with it: ld, st, bra, ...; nop: arithmetic
  isa::op_class timing = isa::op_class::int_add;
  isa::space space = isa::space::global;  // of ld, st, atom, red, ldc
  bool known = true;                      // false: a guess
};

/// The meaning of an opcode, given by its mnemonic before the first dot. An opcode that the generation does not have
/// gets the nearest meaning by its name and by whether it moves memory (`bytes` per lane, 0: none) into a register or
/// from one.
opcode_meaning meaning_of(generation g, std::string_view mnemonic, unsigned bytes, bool has_result);

}  // namespace heddle::sass_trace
