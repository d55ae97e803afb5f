// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/register_runs.h"

namespace heddle::ptx {

/// tex, tld4, suld, sust, txq, suq: handle, coordinates and data in aligned consecutive registers.
class texture_selector {
 public:
  texture_selector(const operand_reader& in, code_writer& out, register_runs& runs) : in_(in), out_(out), runs_(runs) {}

  void texture_fetch();
  void surface_access();
  void texture_question();

 private:
  virtual_operand registers_of(unsigned first, unsigned count);

  const operand_reader& in_;
  code_writer& out_;
  register_runs& runs_;
};

}  // namespace heddle::ptx
