// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/register_runs.h"

namespace heddle::ptx {

/// Moves of registers and parts of them.
class move_selector {
 public:
  move_selector(const operand_reader& in, code_writer& out, register_runs& runs) : in_(in), out_(out), runs_(runs) {}

  void move();
  void pack();
  void unpack();

 private:
  const operand_reader& in_;
  code_writer& out_;
  register_runs& runs_;
};

}  // namespace heddle::ptx
