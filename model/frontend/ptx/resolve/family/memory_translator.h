// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/call/kernel_parameters.h"
#include "heddle/frontend/ptx/resolve/call/parameter_moves.h"
#include "heddle/frontend/ptx/resolve/operand_checker.h"
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

namespace heddle::ptx {

/// ld, ldu, st, atom, red.
class memory_translator {
 public:
  memory_translator(block_builder& code, name_table& names, operand_resolver& in, const operand_checker& checker,
                    kernel_parameters& parameters, parameter_moves& moves)
      : code_(code), names_(names), in_(in), checker_(checker), parameters_(parameters), moves_(moves) {}

  void translate(hir_instruction h, const ast_instruction& i);

 private:
  bool access_parameter(hir_instruction& h, const ast_instruction& i, const ast_operand& where);
  void check_operation(const hir_instruction& h, const ast_instruction& i) const;
  void load(hir_instruction h, const ast_instruction& i);
  void store(hir_instruction h, const ast_instruction& i);
  void atomic(hir_instruction h, const ast_instruction& i);
  void vector_atomic(const hir_instruction& h, const ast_instruction& i);
  void access(hir_instruction h);
  void add_policy(hir_instruction& h, const ast_instruction& i);

  block_builder& code_;
  name_table& names_;
  operand_resolver& in_;
  const operand_checker& checker_;
  kernel_parameters& parameters_;
  parameter_moves& moves_;
};

}  // namespace heddle::ptx
