// SPDX-License-Identifier: MIT
#include <algorithm>
#include <set>
#include <utility>

#include "heddle/frontend/ptx/syntax/grammar.h"

namespace heddle::ptx {

namespace {

class hoister {
 public:
  explicit hoister(ast_module& m) : m_(m) {
    for (const ast_variable& v : m.variables) used_.insert(v.name);
  }

  void visit(const std::string& function, ast_block& b) {
    const std::size_t outer = names_.size();
    for (ast_variable& v : b.variables)
      if (v.space == state_space::global || v.space == state_space::constant) hoist(function, v);
    for (ast_statement& s : b.statements)
      if (s.block) visit(function, *s.block);
    names_.resize(outer);
  }

 private:
  void hoist(const std::string& function, ast_variable& v) {
    v.module_name = v.is_extern ? v.name : unused(function + "::" + v.name);
    names_.emplace_back(v.name, v.module_name);
    if (v.is_extern && !used_.insert(v.name).second) return;  // also declared at module scope
    ast_variable at_module = v;
    at_module.name = v.module_name;
    for (ast_variable::initial& e : at_module.initialiser) e.symbol = meaning(e.symbol);
    v.initialiser.clear();
    m_.variables.push_back(std::move(at_module));
  }

  std::string unused(const std::string& name) {
    std::string candidate = name;
    for (unsigned k = 2; !used_.insert(candidate).second; ++k) candidate = name + "::" + std::to_string(k);
    return candidate;
  }

  /// The variable to which a name in an initialiser refers: the innermost declaration.
  [[nodiscard]] std::string meaning(const std::string& name) const {
    const auto known = std::find_if(names_.rbegin(), names_.rend(), [&](const auto& n) { return n.first == name; });
    return known == names_.rend() ? name : known->second;
  }

  ast_module& m_;
  std::set<std::string> used_;
  // Of the enclosing blocks: declared name, name at module scope.
  std::vector<std::pair<std::string, std::string>> names_;
};

}  // namespace

void hoist_variables(ast_module& m) {
  hoister h(m);
  for (ast_function& f : m.functions)
    if (f.has_body) h.visit(f.name, f.body);
}

}  // namespace heddle::ptx
