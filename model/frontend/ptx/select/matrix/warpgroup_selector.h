// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/hir/warpgroup_form.h"
#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/register_runs.h"

namespace heddle::ptx {

/// wgmma, setmaxnreg. The accumulators of a product are consecutive registers, which it reads and writes.
class warpgroup_selector {
 public:
  warpgroup_selector(const operand_reader& in, code_writer& out, const chip_limits& chip, register_runs& runs)
      : in_(in), out_(out), chip_(chip), runs_(runs) {}

  void select();

 private:
  void multiply(const warpgroup_form& form);
  virtual_operand factor(const warpgroup_form& form) const;
  void commit();

  const operand_reader& in_;
  code_writer& out_;
  const chip_limits& chip_;
  register_runs& runs_;
};

}  // namespace heddle::ptx
