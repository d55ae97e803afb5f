// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"

namespace heddle::ptx {

/// Functions of the special function unit: rsqrt, sin, cos, lg2, ex2, tanh.
class function_selector {
 public:
  function_selector(const operand_reader& in, code_writer& out) : in_(in), out_(out) {}

  void special_function();
  void half_function();
  void exponential();

 private:
  const operand_reader& in_;
  code_writer& out_;
};

}  // namespace heddle::ptx
