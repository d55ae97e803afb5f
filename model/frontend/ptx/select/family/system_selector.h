// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"

namespace heddle::ptx {

/// Traps and calls of the device runtime.
class system_selector {
 public:
  system_selector(const operand_reader& in, code_writer& out) : in_(in), out_(out) {}

  void trap();
  void system_call();

 private:
  const operand_reader& in_;
  code_writer& out_;
};

}  // namespace heddle::ptx
