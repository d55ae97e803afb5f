// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/wide_integers.h"

namespace heddle::ptx {

/// cvt.
class convert_selector {
 public:
  convert_selector(const operand_reader& in, code_writer& out, const chip_limits& chip, wide_integers& wide)
      : in_(in), out_(out), chip_(chip), wide_(wide) {}

  void convert();

 private:
  void integer_to_integer();
  void float_to_float();
  void convert_packed();
  void convert_eighths();

  const operand_reader& in_;
  code_writer& out_;
  const chip_limits& chip_;
  wide_integers& wide_;
};

}  // namespace heddle::ptx
