// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heddle/isa/opcode.h"

namespace heddle::sass_trace {

/// Generations of the machine code, each with its own opcodes.
enum class generation : std::uint8_t { kepler, maxwell, pascal, volta, turing, ampere, hopper, blackwell };

/// The generation of a binary version (10 x compute capability); false: unknown. 86, 87 and 89 are Ampere: Ada runs
/// Ampere's code. 100 to 121 are Blackwell.
bool generation_of(unsigned binary_version, generation& g);
/// "35, 50, ...": for messages.
std::string known_binary_versions();
const char* name_of(generation g);

/// The model's interpretation of a traced opcode.
struct opcode_meaning {
  isa::opcode op = isa::opcode::nop;  // behaviour at the issue stage: ld, st, bra, ...; nop: arithmetic
  isa::op_class timing = isa::op_class::int_add;
  isa::space space = isa::space::global;  // of ld, st, atom, red, ldc
  isa::flop_rule flops = isa::flop_rule::none;
  bool known = true;  // false: a guess
};

/// The interpretation of an opcode, given by its mnemonic before the first dot. An opcode that the generation does not
/// have gets a guess from its name, from `bytes` per lane (0: no memory access) and from whether it has a result
/// register.
opcode_meaning meaning_of(generation g, std::string_view mnemonic, unsigned bytes, bool has_result);

}  // namespace heddle::sass_trace
