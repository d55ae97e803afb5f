// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/wide_integers.h"

namespace heddle::ptx {

/// Products of 32- and 64-bit integers, with IMAD or with the 16-bit multiplier XMAD.
class products {
 public:
  products(const chip_limits& chip, code_writer& out, wide_integers& wide) : chip_(chip), out_(out), wide_(wide) {}

  void low(register_part d, virtual_operand a, virtual_operand b, virtual_operand c);
  void wide(register_part d, virtual_operand a, virtual_operand b, bool is_signed);
  void wide_sum(register_part d, virtual_operand a, virtual_operand b, wide_value c, bool is_signed);
  void low_of_wide(register_part d, wide_value a, wide_value b, const wide_value* c);
  register_part high(virtual_operand a, virtual_operand b, bool is_signed);
  register_part high_of_wide(wide_value a, wide_value b, bool is_signed);

 private:
  const chip_limits& chip_;
  code_writer& out_;
  wide_integers& wide_;
};

}  // namespace heddle::ptx
