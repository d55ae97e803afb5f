// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "heddle/frontend/ptx/hir/operand_form.h"
#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// What the operands of an instruction without a row in form_table.h have to be; one of them must fit. Empty: its
/// decoder looks at them.
std::vector<const operand_column*> own_operands(const ast_instruction& i);

/// What is wrong with the words of such an instruction, or with a literal among its operands; "": nothing.
std::string own_words_problem(const ast_instruction& i);

}  // namespace heddle::ptx
