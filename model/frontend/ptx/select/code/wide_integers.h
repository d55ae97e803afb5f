// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"

namespace heddle::ptx {

/// Integers of 64 bits as pairs of 32-bit words: sums, shifts, comparisons, saturation.
class wide_integers {
 public:
  explicit wide_integers(code_writer& out) : out_(out) {}

  void add(register_part d, wide_value a, wide_value b, bool subtract);
  void add_saturated(register_part d, virtual_operand a, virtual_operand b, bool subtract);
  void shift_left(register_part d, wide_value a, virtual_operand amount);
  void shift_right(register_part d, wide_value a, virtual_operand amount, bool is_signed);
  void compare(std::uint32_t p, std::uint32_t q, wide_value a, wide_value b, bool is_signed, isa::compare c,
               isa::bool_op bop, virtual_predicate with);
  void saturate(register_part d, virtual_operand a, isa::dtype to, isa::dtype from);

 private:
  code_writer& out_;
};

}  // namespace heddle::ptx
