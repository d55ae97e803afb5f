// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"

namespace heddle::ptx {

/// Arithmetic, minima, signs and tests of floating-point numbers.
class float_selector {
 public:
  float_selector(const operand_reader& in, code_writer& out, const chip_limits& chip)
      : in_(in), out_(out), chip_(chip) {}

  void arithmetic();
  void min_max();
  void sign();
  void copy_sign();
  void test_property();

 private:
  void half_arithmetic();
  void pair_arithmetic();
  virtual_operand magnitude(const virtual_operand& o);

  const operand_reader& in_;
  code_writer& out_;
  const chip_limits& chip_;
};

}  // namespace heddle::ptx
