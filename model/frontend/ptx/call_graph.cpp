// SPDX-License-Identifier: MIT
#include "frontend/ptx/call_graph.h"

#include <vector>

namespace heddle::ptx {

const ast_function* find_function(const ast_module& m, const std::string& name) {
  for (const ast_function& f : m.functions)
    if (f.name == name && f.has_body && !f.is_entry) return &f;
  return nullptr;
}

call_graph::call_graph(const ast_module& m) {
  for (const ast_function& f : m.functions)
    if (f.has_body) nodes_[f.name];
  for (const ast_variable& v : m.variables)
    for (const auto& e : v.initialiser)
      if (find_function(m, e.symbol)) taken_.insert(e.symbol);
  for (const ast_function& f : m.functions)
    if (f.has_body) scan(m, f.unit, f.body, nodes_[f.name]);
}

void call_graph::scan(const ast_module& m, std::uint32_t unit, const ast_block& b, node& n) {
  for (const ast_statement& s : b.statements) {
    if (s.block) scan(m, unit, *s.block, n);
    if (s.what == ast_statement::kind::call_targets)
      for (const std::string& t : s.targets) taken_.insert(m.meaning(t, unit));
    if (s.what != ast_statement::kind::instruction) continue;
    const ast_instruction& i = s.instruction;
    if (i.opcode == "alloca") n.allocates = true;
    if (i.opcode == "call") {
      for (const ast_operand& o : i.operands) {
        if (o.what == ast_operand::kind::list) continue;
        if (nodes_.count(m.meaning(o.text, unit))) n.calls.insert(m.meaning(o.text, unit));
        else n.indirect = true;
        break;
      }
    } else if (i.opcode == "mov") {
      for (const ast_operand& o : i.operands)
        if (o.what == ast_operand::kind::identifier && nodes_.count(m.meaning(o.text, unit))) taken_.insert(m.meaning(o.text, unit));
    }
  }
}

bool call_graph::recursive(const std::string& function) const {
  std::set<std::string> seen;
  std::vector<std::string> open{function};
  while (!open.empty()) {
    const auto n = nodes_.find(open.back());
    open.pop_back();
    if (n == nodes_.end()) continue;
    const auto go = [&](const std::set<std::string>& to) {
      for (const std::string& t : to)
        if (seen.insert(t).second) open.push_back(t);
    };
    go(n->second.calls);
    if (n->second.indirect) go(taken_);
  }
  return seen.count(function) != 0;
}

bool call_graph::allocates(const std::string& function) const {
  const auto n = nodes_.find(function);
  return n != nodes_.end() && n->second.allocates;
}

}  // namespace heddle::ptx
