// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"

namespace heddle::ptx {

/// Exchange and synchronisation among threads: shfl, vote, elect, match, redux, bar, griddepcontrol.
class warp_selector {
 public:
  warp_selector(const operand_reader& in, code_writer& out, const chip_limits& chip)
      : in_(in), out_(out), chip_(chip) {}

  void shuffle();
  void vote();
  void elect();
  void match();
  void reduce();
  void barrier();
  void grid_dependence();

 private:
  void cluster_barrier();

  const operand_reader& in_;
  code_writer& out_;
  const chip_limits& chip_;
};

}  // namespace heddle::ptx
