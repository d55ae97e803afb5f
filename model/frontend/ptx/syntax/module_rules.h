// SPDX-License-Identifier: MIT
#pragma once

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// Throws input_error if declarations of one module are inconsistent: two of one name, differing prototypes, mutually
/// exclusive directives of a kernel, or parameters of a kind that a kernel or function cannot have. `first_line`: as
/// for parse().
void check_module(const ast_module& m, std::uint32_t first_line);

}  // namespace heddle::ptx
