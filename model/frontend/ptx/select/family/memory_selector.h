// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/select/code/chip_limits.h"
#include "heddle/frontend/ptx/select/code/code_writer.h"
#include "heddle/frontend/ptx/select/code/machine_operand.h"
#include "heddle/frontend/ptx/select/code/operand_reader.h"
#include "heddle/frontend/ptx/select/code/register_runs.h"
#include "heddle/frontend/ptx/select/code/wide_integers.h"

namespace heddle::ptx {

/// Accesses to memory, fences, and addresses of the state spaces.
class memory_selector {
 public:
  memory_selector(const operand_reader& in, code_writer& out, const chip_limits& chip, wide_integers& wide,
                  register_runs& runs)
      : in_(in), out_(out), chip_(chip), wide_(wide), runs_(runs) {}

  void load();
  void store();
  void atomic();
  void fence();
  void copy();
  void arrival_wait();
  void convert_address();
  void is_space();

 private:
  void memory_address(machine_instruction& i, const value& base);
  void bulk_copy();
  [[nodiscard]] virtual_operand policy(isa::space space) const;
  void check_vector_atomic(isa::atomic_op kind) const;
  void check_wide_atomic(isa::atomic_op kind) const;
  [[nodiscard]] bool counts_lanes(isa::atomic_op kind) const;
  void order_before(const modifiers& m);
  void order_after(const modifiers& m);

  const operand_reader& in_;
  code_writer& out_;
  const chip_limits& chip_;
  wide_integers& wide_;
  register_runs& runs_;
};

}  // namespace heddle::ptx
