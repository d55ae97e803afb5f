// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/products.h"
#include "heddle/frontend/ptx/select/code/wide_integers.h"

namespace heddle::ptx {

/// mul, mad, mul24, mad24 and the multiplications of carry chains.
class multiply_selector {
 public:
  multiply_selector(const operand_reader& in, code_writer& out, const chip_limits& chip, wide_integers& wide,
                    products& products)
      : in_(in), out_(out), chip_(chip), wide_(wide), products_(products) {}

  void multiply();
  void multiply_24();
  void carry_chain_multiply();

 private:
  const operand_reader& in_;
  code_writer& out_;
  const chip_limits& chip_;
  wide_integers& wide_;
  products& products_;
};

}  // namespace heddle::ptx
