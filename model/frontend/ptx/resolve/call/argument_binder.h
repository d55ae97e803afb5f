// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/resolve/call/parameter_moves.h"
#include "heddle/frontend/ptx/resolve/declarations.h"
#include "heddle/frontend/ptx/resolve/operand_checker.h"

namespace heddle::ptx {

/// Binds the arguments and results of a call to the parameters of the function.
class argument_binder {
 public:
  argument_binder(block_builder& code, name_table& names, parameter_uses& uses, declarations& declared,
                  operand_resolver& in, const operand_checker& checker, parameter_moves& moves)
      : code_(code), names_(names), uses_(uses), declarations_(declared), in_(in), checker_(checker), moves_(moves) {}

  /// An argument or result must be a register, a literal or a .param of the parameter's size.
  void check(const ast_variable& formal, const ast_operand& actual);
  /// Copies the argument to the parameter, or the result from it. `actual` is a name of the current function, `formal`
  /// one of the callee.
  void bind(const ast_variable& formal, const ast_operand& actual, bool into_callee, const scope& callee);
  /// The parameter of a function without a body.
  scope declare(const ast_variable& formal);
  /// The parameters and results of a function. In memory are those that are large and, of a function to be inlined,
  /// those whose address is taken.
  scope declare(const ast_function& f, bool inlined);
  /// The value of an argument as the callee sees it: up to two words.
  value argument(const ast_variable& formal, const ast_operand& actual);

 private:
  void bind_vector(const ast_variable& formal, const kernel_symbol& inner, const ast_operand& actual, bool into_callee);
  void bind_words(const ast_variable& formal, const kernel_symbol& inner, const ast_operand& actual, const value& outer,
                  bool into_callee);
  void copy(const hir_instruction& like, std::uint32_t inner, const value& outer, isa::dtype type, bool into_callee);
  [[nodiscard]] hir_instruction at_call() const;

  block_builder& code_;
  name_table& names_;
  parameter_uses& uses_;
  declarations& declarations_;
  operand_resolver& in_;
  const operand_checker& checker_;
  parameter_moves& moves_;
};

}  // namespace heddle::ptx
