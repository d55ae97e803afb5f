// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/emitter.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"

namespace heddle::ptx {

/// Traps and calls of the device runtime.
class system_selector {
 public:
  system_selector(const operand_reader& in, emitter& out) : in_(in), out_(out) {}

  void trap();
  void system_call();

 private:
  const operand_reader& in_;
  emitter& out_;
};

}  // namespace heddle::ptx
