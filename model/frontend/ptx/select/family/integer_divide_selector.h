// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/products.h"

namespace heddle::ptx {

/// div and rem of integers: an estimate by a floating-point reciprocal and two corrections, ASSIST for 64 bits.
class integer_divide_selector {
 public:
  integer_divide_selector(const operand_reader& in, code_writer& out, products& products, const chip_limits& chip)
      : in_(in), out_(out), products_(products), hopper_(chip.has_hopper_code()) {}

  void divide();

 private:
  /// Whether a divisor is a number of which the code may make use.
  [[nodiscard]] bool is_known(const virtual_operand& divisor) const {
    return hopper_ && divisor.is_immediate() && divisor.value != 0;
  }
  void divide_u32(register_part quotient, register_part remainder, virtual_operand a, virtual_operand b);
  void divide_s32(bool remainder);

  const operand_reader& in_;
  code_writer& out_;
  products& products_;
  const bool hopper_;
};

}  // namespace heddle::ptx
