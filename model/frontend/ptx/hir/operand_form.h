// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heddle/isa/opcode.h"

namespace heddle::ptx {

/// The requirements on one operand: a word of the column `operands` of form_table.h.
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
  isa::dtype pair = isa::dtype::none;  // type of the optional or mandatory operand after '|'
  bool destination = false;
  bool discards = false;  // '_' is allowed
  bool wider = false;     // the register may have more bits than the type
  bool optional = false, pair_optional = false;
  bool combined = false;  // present only with a boolean operation
  bool hinted = false;    // present only with .L2::cache_hint
  bool moves = false;     // a special register, a vector or an address is allowed
  bool special = false;   // a special register is allowed
  bool names = false;     // the name of a variable is allowed
  bool registers_only = false;
};

struct operand_column {
  bool checked = true;  // false: checked by the instruction's own decoder
  std::vector<operand_form> operands;
};

/// The type of this name; none if there is no such type.
isa::dtype type_named(const std::string& word);

operand_column parse_operand_column(std::string_view text);

/// True if a register declared as `reg` is allowed for an operand of type `t`. `wider`: a register with more bits is
/// allowed, too (PTX ISA, "Type checking of instructions" and "Operand size exceeding instruction-type size").
bool register_fits(isa::dtype t, isa::dtype reg, bool wider);
isa::dtype twice_as_wide(isa::dtype t);

}  // namespace heddle::ptx
