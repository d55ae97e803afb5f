// SPDX-License-Identifier: MIT
#pragma once

#include <string_view>
#include <vector>

#include "heddle/isa/opcode.h"

namespace heddle::ptx {

/// What one operand of a form has to be: a word of the column `operands` of form_table.h.
struct operand_form {
  enum class kind : std::uint8_t { value, elements, address, literal, label, target_list };
  enum class type_of : std::uint8_t {
    first,
    result,
    second,
    widened,
    address,
    fixed
  };  // first and second: of the instruction's types

  kind what = kind::value;
  type_of type = type_of::first;
  isa::dtype fixed = isa::dtype::none;
  isa::dtype pair = isa::dtype::none;  // of what may or must stand behind a '|'
  bool destination = false;
  bool discards = false;  // '_' may stand there
  bool wider = false;     // the register may have more bits than the type
  bool optional = false, pair_optional = false;
  bool combined = false;  // stands where the instruction has a boolean operation
  bool hinted = false;    // stands where it has .L2::cache_hint
  bool moves = false;     // a special register, a vector or an address will do
  bool special = false;   // a special register will do
  bool names = false;     // the name of a variable will do
  bool registers_only = false;
};

struct operand_column {
  bool checked = true;  // false: the instruction's own decoder looks at its operands
  std::vector<operand_form> operands;
};

operand_column parse_operand_column(std::string_view text);

/// May a register declared as `reg` stand where an operand of type `t` is expected? `wider`: a register of more bits
/// may, too (PTX ISA, "Type checking of instructions" and "Operand size exceeding instruction-type size").
bool register_fits(isa::dtype t, isa::dtype reg, bool wider);
isa::dtype twice_as_wide(isa::dtype t);

}  // namespace heddle::ptx
