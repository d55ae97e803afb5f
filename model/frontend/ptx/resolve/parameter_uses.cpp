// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/parameter_uses.h"

#include <algorithm>

namespace heddle::ptx {

namespace {

constexpr std::uint64_t most_in_registers = 256;  // bytes

void add_names(const ast_operand& o, bool addresses, std::set<std::string>& names) {
  if (o.what == ast_operand::kind::identifier || (addresses && o.what == ast_operand::kind::address))
    names.insert(o.text);
  for (const ast_operand& e : o.list) add_names(e, addresses, names);
}

}  // namespace

/// The names that a block uses as operands other than as addresses of ld and st: a parameter among them needs an
/// address.
const std::set<std::string>& parameter_uses::addressed_in(const ast_block& b) {
  const auto known = addressed_.find(&b);
  if (known != addressed_.end()) return known->second;
  std::set<std::string>& names = addressed_[&b];
  visit_instructions(b, [&](const ast_instruction& i) {
    if (i.op == ptx_op::call) return;
    const bool accesses = i.op == ptx_op::ld || i.op == ptx_op::st || i.op == ptx_op::ldu;
    for (const ast_operand& o : i.operands) add_names(o, !accesses, names);
  });
  return names;
}

bool parameter_uses::is_large(const ast_variable& v) {
  return v.space == state_space::param && v.size_bytes() > most_in_registers;
}

bool parameter_uses::lives_in_memory(const ast_variable& v, const ast_block& scope) {
  return v.space == state_space::param && (is_large(v) || addressed_in(scope).count(v.name) != 0);
}

/// True if a call in the block has a parameter in memory whose address is used.
bool parameter_uses::takes_local_parameters(const ast_block& b) {
  for (const ast_variable& v : b.variables)
    if (v.space == state_space::param && addressed_in(b).count(v.name) != 0) return true;
  return std::any_of(b.statements.begin(), b.statements.end(),
                     [&](const ast_statement& s) { return s.block && takes_local_parameters(*s.block); });
}

}  // namespace heddle::ptx
