// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/matrix_form.h"
#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/register_runs.h"
#include "heddle/frontend/ptx/select/matrix/fragment_mover.h"
#include "heddle/frontend/ptx/select/matrix/matrix_products.h"

namespace heddle::ptx {

/// wmma: a product is a few matrix instructions. A product of eight rows (m8n32k16) is computed transposed.
class wmma_selector {
 public:
  wmma_selector(const operand_reader& in, code_writer& out, const chip_limits& chip, register_runs& runs,
                matrix_products& matrices, fragment_mover& fragments)
      : in_(in), out_(out), chip_(chip), runs_(runs), matrices_(matrices), fragments_(fragments) {}

  void select();

 private:
  struct block_product {  // d = a * b + c, 16 rows and 8 columns
    isa::dtype type = isa::dtype::f32, inputs = isa::dtype::f16;
    virtual_operand a, b, c;
    bool other_sign = false, saturate = false;
  };

  void wmma_multiply(const matrix_form& form);
  void wmma_block(const block_product& p, register_part d);
  virtual_operand accumulators(std::size_t first, bool halves);

  const operand_reader& in_;
  code_writer& out_;
  const chip_limits& chip_;
  register_runs& runs_;
  matrix_products& matrices_;
  fragment_mover& fragments_;
};

}  // namespace heddle::ptx
