// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/register_runs.h"
#include "heddle/frontend/ptx/select/matrix/matrix_products.h"

namespace heddle::ptx {

/// mma, ldmatrix, movmatrix: operands are gathered in aligned register pairs and quads, as the machine instructions
/// require.
class tensor_selector {
 public:
  tensor_selector(const operand_reader& in, code_writer& out, const chip_limits& chip, register_runs& runs,
                  matrix_products& matrices)
      : in_(in), out_(out), chip_(chip), runs_(runs), matrices_(matrices) {}

  void multiply();
  void load_matrix();
  void transpose_matrix();

 private:
  virtual_operand sparse_factor(unsigned words, unsigned metadata);

  const operand_reader& in_;
  code_writer& out_;
  const chip_limits& chip_;
  register_runs& runs_;
  matrix_products& matrices_;
};

}  // namespace heddle::ptx
