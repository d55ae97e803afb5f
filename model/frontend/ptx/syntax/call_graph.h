// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "heddle/frontend/ptx/syntax/ast.h"

namespace heddle::ptx {

/// The call graph of a module. An indirect call may reach every function whose address is taken.
class call_graph {
 public:
  explicit call_graph(const ast_module& m);

  /// True if a call of `function` may call it again before it returns.
  [[nodiscard]] bool recursive(const std::string& function) const { return recursive_.count(function) != 0; }
  /// True if the function itself allocates stack memory (alloca).
  [[nodiscard]] bool allocates(const std::string& function) const;
  /// Functions with a body whose address occurs in an initialiser or an operand, by name.
  [[nodiscard]] const std::set<std::string>& address_taken() const { return taken_; }

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

/// The non-kernel function with a body that a call by this name reaches; null: none.
const ast_function* find_function(const ast_module& m, const std::string& name);

}  // namespace heddle::ptx
