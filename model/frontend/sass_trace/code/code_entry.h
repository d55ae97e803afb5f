// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heddle/isa/instruction.h"

namespace heddle::sass_trace {

/// The fields of an instruction line that are equal in each execution of the instruction.
struct static_fields {
  std::uint32_t pc = 0;
  std::string opcode;                 // with all modifiers
  std::vector<std::uint8_t> results;  // vector registers
  std::vector<std::uint8_t> operands;
  unsigned bytes = 0;          // per lane; 0: not a memory instruction
  std::int64_t immediate = 0;  // the first immediate
  bool bulk = false;           // its lines have the fields of a bulk copy
};

/// An instruction of a traced kernel.
struct code_entry {
  std::uint32_t pc = 0;
  std::string opcode;
  isa::instruction instruction;
  isa::op_class timing = isa::op_class::int_add;
  isa::flop_rule flops = isa::flop_rule::none;
  bool known = true;           // false: the opcode is not in the table of its generation
  bool has_addresses = false;  // its lines contain addresses
  bool bulk = false;           // they contain the fields of a bulk copy
  std::uint32_t index = 0;     // index in the code
  std::string fields;          // text of its lines from the number of results up to the bytes per lane
  std::string tail;            // text after these fields, for an instruction without addresses
};

}  // namespace heddle::sass_trace
