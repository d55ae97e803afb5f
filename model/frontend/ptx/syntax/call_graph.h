// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// Who calls whom in a module. An indirect call may reach every function whose address is taken.
class call_graph {
 public:
  explicit call_graph(const ast_module& m);

  /// Whether a call of `function` may lead to another one before it has returned.
  bool recursive(const std::string& function) const { return recursive_.count(function) != 0; }
  /// Whether the function itself takes memory from the stack (alloca).
  bool allocates(const std::string& function) const;
  /// Functions with a body whose address is in an initialiser or an operand, by name.
  const std::set<std::string>& address_taken() const { return taken_; }

 private:
  struct node {
    std::set<std::string> calls;
    bool indirect = false;
    bool allocates = false;
  };
  void scan(const ast_module& m, std::uint32_t unit, const ast_block& b, node& n);

  void find_recursive();

  std::map<std::string, node> nodes_;
  std::set<std::string> taken_;
  std::set<std::string> recursive_;
};

/// The function that a call by name reaches: one with a body that is no kernel. Null: there is none.
const ast_function* find_function(const ast_module& m, const std::string& name);

}  // namespace heddle::ptx
