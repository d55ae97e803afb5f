// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "heddle/frontend/ptx/syntax/ast.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

/// The types of a kernel's parameters, in their order; `none` for structs, arrays and vectors. Empty: no such kernel.
inline std::vector<isa::dtype> parameter_types(const ast_module& m, const std::string& kernel) {
  std::vector<isa::dtype> types;
  for (const ast_function& f : m.functions) {
    if (!f.is_entry || !f.has_body || f.name != kernel) continue;
    for (const ast_variable& v : f.parameters) types.push_back(v.is_array || v.vector != 1 ? isa::dtype::none : v.type);
    break;
  }
  return types;
}

}  // namespace heddle::ptx
