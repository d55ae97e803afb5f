// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

/// Alternative operand requirements of an instruction without a row in form_table.h. Empty: its decoder checks the
/// operands.
std::vector<const operand_column*> own_operands(const ast_instruction& i);

/// The error in the words of such an instruction, or in a literal operand; "": none.
std::string own_words_problem(const hir_instruction& h, const ast_instruction& i);

}  // namespace heddle::ptx
