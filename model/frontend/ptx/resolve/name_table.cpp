// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/name_table.h"

#include <algorithm>
#include <utility>

namespace heddle::ptx {

bool name_table::find_in_module(const std::string& written, kernel_symbol& s) {
  const std::string& name = meaning(written);
  s.what = kernel_symbol::kind::address;
  const auto it = module_.symbols.find(name);
  if (it != module_.symbols.end()) {
    s.space = it->second.space;
    s.address = immediate_value(it->second.address);
    s.opaque = it->second.opaque;
    return true;
  }
  for (const ast_variable& v : module_.ast->variables) {
    if (v.name != name || (v.space != state_space::shared && v.space != state_space::local)) continue;
    s.space = v.space;
    s.address = places_.place_once(v);
    return true;
  }
  return false;
}

/// The address of a function, as seen by a program. False: the module has no such function.
bool name_table::function_name(const ast_operand& o, value& v) const {
  const std::uint64_t address = function_address(*module_.ast, meaning(o.text));
  if (address == 0 || !o.component.empty()) return false;
  v = immediate_value(address);
  return true;
}

/// True for a function that is declared but not defined.
bool name_table::is_declared(const std::string& function) const {
  const std::vector<ast_function>& functions = module_.ast->functions;
  return std::any_of(functions.begin(), functions.end(),
                     [&](const ast_function& f) { return !f.has_body && f.name == function; });
}

/// True for a variable that is declared but not defined.
bool name_table::is_undefined(const std::string& name) const {
  const std::vector<ast_variable>& variables = module_.ast->variables;
  return std::any_of(variables.begin(), variables.end(),
                     [&](const ast_variable& v) { return v.is_extern && v.name == name; });
}

bool name_table::find_ranged(const std::string& name, std::size_t scope, kernel_symbol& s) const {
  std::size_t digits = name.size();
  while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
  if (digits == name.size() || name.size() - digits > 9) return false;
  if (name[digits] == '0' && name.size() - digits > 1) return false;
  // For a name such as %x1_3 declared by %x1_<8>, only the trailing digits are the register's number.
  const auto& names = scopes_[scope].names;
  for (std::size_t split = digits; split < name.size(); ++split) {
    auto it = names.find(range_key(name.substr(0, split)));
    if (it == names.end()) continue;
    const std::uint32_t index = static_cast<std::uint32_t>(std::stoul(name.substr(split)));
    if (index >= it->second.range) continue;
    s = it->second;
    s.what = s.vector > 1 ? kernel_symbol::kind::components : kernel_symbol::kind::reg;
    s.first += index * s.vector;
    for (std::uint32_t k = 0; s.vector > 1 && k < s.vector; ++k) s.registers.push_back(s.first + k);
    return true;
  }
  return false;
}

bool name_table::find(const std::string& name, kernel_symbol& s) {
  for (std::size_t k = scopes_.size(); k-- > view_.frame;) {
    auto it = scopes_[k].names.find(name);
    if (it == scopes_[k].names.end()) {
      if (find_ranged(name, k, s)) return true;
      continue;
    }
    s = it->second;
    return true;
  }
  return find_in_module(name, s);
}

std::uint32_t name_table::find_label(const std::string& name, const location& where) const {
  for (std::size_t k = scopes_.size(); k-- > view_.frame;) {
    auto it = scopes_[k].labels.find(name);
    if (it != scopes_[k].labels.end()) return it->second;
    if (scopes_[k].names.count(name) != 0)
      code_.fail(where, "'" + name + "' is declared nearer than a label of this name, expected a label");
  }
  code_.refuse(where, "unknown label '" + name + "'");
}

/// Removes the innermost scope.
scope name_table::close() {
  scope s = std::move(scopes_.back());
  scopes_.pop_back();
  return s;
}

name_table::function_view name_table::enter_function(std::uint32_t unit) {
  return std::exchange(view_, function_view{scopes_.size(), unit});
}

/// The name under which the module holds what the current function calls `name`.
const std::string& name_table::meaning(const std::string& name) const { return module_.ast->meaning(name, view_.unit); }

}  // namespace heddle::ptx
