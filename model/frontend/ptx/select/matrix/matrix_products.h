// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/matrix_form.h"
#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/register_runs.h"

namespace heddle::ptx {

constexpr std::uint32_t whole_warp = 0xffffffffu;

/// Products of matrix fragments, of which mma and wmma consist.
class matrix_products {
 public:
  matrix_products(const operand_reader& in, code_writer& out, const chip_limits& chip, register_runs& runs)
      : in_(in), out_(out), chip_(chip), runs_(runs) {}

  machine_instruction& multiply(isa::opcode op, std::uint8_t sub, isa::dtype type, isa::dtype inputs, register_part d,
                                virtual_operand a, virtual_operand b, virtual_operand c);
  void multiply_doubles(const matrix_form& form, unsigned a_count, unsigned b_count);

 private:
  const operand_reader& in_;
  code_writer& out_;
  const chip_limits& chip_;
  register_runs& runs_;
};

}  // namespace heddle::ptx
