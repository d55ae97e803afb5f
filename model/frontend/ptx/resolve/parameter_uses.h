// SPDX-License-Identifier: MIT
#pragma once

#include <set>
#include <string>
#include <unordered_map>

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// Decides which parameters of functions and calls must be in memory: those that are large or whose address is taken.
class parameter_uses {
 public:
  const std::set<std::string>& addressed_in(const ast_block& b);
  bool lives_in_memory(const ast_variable& v, const ast_block& scope);
  static bool is_large(const ast_variable& v);
  bool takes_local_parameters(const ast_block& b);

 private:
  std::unordered_map<const ast_block*, std::set<std::string>> addressed_;  // by addressed_in()
};

/// Calls `visit` for each instruction of a block and of the blocks in it.
template <class visitor>
void visit_instructions(const ast_block& b, const visitor& visit) {
  for (const ast_statement& s : b.statements) {
    if (s.what == ast_statement::kind::instruction) visit(s.instruction);
    if (s.block) visit_instructions(*s.block, visit);
  }
}

}  // namespace heddle::ptx
