// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/syntax/call_graph.h"

#include <algorithm>
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
  find_recursive();
}

void call_graph::scan(const ast_module& m, std::uint32_t unit, const ast_block& b, node& n) {
  for (const ast_statement& s : b.statements) {
    if (s.block) scan(m, unit, *s.block, n);
    if (s.what == ast_statement::kind::call_targets)
      for (const std::string& t : s.targets) taken_.insert(m.meaning(t, unit));
    if (s.what != ast_statement::kind::instruction) continue;
    const ast_instruction& i = s.instruction;
    if (i.op == ptx_op::alloca_) n.allocates = true;
    if (i.op == ptx_op::call) {
      for (const ast_operand& o : i.operands) {
        if (o.what == ast_operand::kind::list) continue;
        if (nodes_.count(m.meaning(o.text, unit))) n.calls.insert(m.meaning(o.text, unit));
        else n.indirect = true;
        break;
      }
    } else if (i.op == ptx_op::mov) {
      for (const ast_operand& o : i.operands)
        if (o.what == ast_operand::kind::identifier && nodes_.count(m.meaning(o.text, unit)))
          taken_.insert(m.meaning(o.text, unit));
    }
  }
}

/// Strongly connected components (Tarjan) with an explicit stack, because call chains may be long. One node represents
/// all indirect calls.
void call_graph::find_recursive() {
  std::map<std::string, std::size_t> number;
  for (const auto& [name, n] : nodes_) number.emplace(name, number.size());
  const std::size_t indirect = number.size(), count = indirect + 1;
  std::vector<std::vector<std::size_t>> to(count);
  std::vector<const std::string*> names;
  const auto add = [&](std::size_t from, const std::set<std::string>& called) {
    for (const std::string& c : called)
      if (const auto it = number.find(c); it != number.end()) to[from].push_back(it->second);
  };
  for (const auto& [name, n] : nodes_) {
    add(names.size(), n.calls);
    if (n.indirect) to[names.size()].push_back(indirect);
    names.push_back(&name);
  }
  add(indirect, taken_);
  constexpr std::size_t unvisited = static_cast<std::size_t>(-1);
  std::vector<std::size_t> index(count, unvisited), low(count), part, next(count, 0), open;
  std::vector<char> pending(count, 0);
  std::size_t clock = 0;
  for (std::size_t root = 0; root < count; ++root) {
    if (index[root] != unvisited) continue;
    for (open.push_back(root); !open.empty();) {
      const std::size_t k = open.back();
      if (index[k] == unvisited) index[k] = low[k] = clock++, pending[k] = 1, part.push_back(k);
      if (next[k] < to[k].size()) {
        const std::size_t t = to[k][next[k]++];
        if (index[t] == unvisited) open.push_back(t);
        else if (pending[t]) low[k] = std::min(low[k], index[t]);
        continue;
      }
      open.pop_back();
      if (!open.empty()) low[open.back()] = std::min(low[open.back()], low[k]);
      if (low[k] != index[k]) continue;
      const bool alone = part.back() == k && std::find(to[k].begin(), to[k].end(), k) == to[k].end();
      for (std::size_t member = unvisited; member != k;) {
        member = part.back();
        part.pop_back();
        pending[member] = 0;
        if (!alone && member != indirect) recursive_.insert(*names[member]);
      }
    }
  }
}

bool call_graph::allocates(const std::string& function) const {
  const auto n = nodes_.find(function);
  return n != nodes_.end() && n->second.allocates;
}

}  // namespace heddle::ptx
