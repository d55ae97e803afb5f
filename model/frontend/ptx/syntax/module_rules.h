// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// Throws input_error where declarations of one module do not go together: two of one name, prototypes that differ,
/// directives of a kernel that exclude each other, parameters of a kind that a kernel or a function cannot have.
/// `first_line`: as of parse().
void check_module(const ast_module& m, std::uint32_t first_line);

}  // namespace heddle::ptx
