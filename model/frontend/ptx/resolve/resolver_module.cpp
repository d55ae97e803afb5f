// SPDX-License-Identifier: MIT
// Names other than registers: variables and functions of module scope, the state space implied by a name, and handles
// of textures.
#include <algorithm>
#include <utility>

#include "heddle/frontend/ptx/resolve/resolver.h"

namespace heddle::ptx {

/// Places a variable that has one location per kernel, independent of the number of calls: in the block's shared
/// memory or the thread's local memory.
value resolver::place_once(const ast_variable& v) {
  const auto known = places_.find(&v);
  if (known != places_.end()) return known->second;
  outlined* const activation =
      std::exchange(instance_, nullptr);  // not on the stack, where each activation has its own copy
  const value place = v.space == state_space::shared ? place_shared(v) : place_local(v, v.alignment(), v.size_bytes());
  instance_ = activation;
  return places_[&v] = place;
}

bool resolver::find_in_module(const std::string& written, symbol& s) {
  const std::string& name = module_.ast->meaning(written, unit_);
  s.what = symbol::kind::address;
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
    s.address = place_once(v);
    return true;
  }
  return false;
}

/// An access to a named variable uses the variable's state space, even if the instruction is generic (ptxas does so
/// for .global, .shared and .local; it rejects .const and .param).
void resolver::name_space(hir_instruction& h, const ast_operand& o) {
  symbol s;
  if (!find(o.text, s) || s.what != symbol::kind::address) return;
  if (s.space == state_space::param) h.src.back() = s.address;  // not its copy in local memory
  const bool accesses = h.op == ptx_op::ld || h.op == ptx_op::st || h.op == ptx_op::atom || h.op == ptx_op::red;
  const bool own = s.space == state_space::shared || (s.space == state_space::local && !s.parameter);
  if (h.m.space == state_space::none && accesses && own) h.m.space = s.space;
  if (s.space != h.m.space && !(h.m.space == state_space::none && s.space == state_space::global))
    fail(o.where, "'" + o.text + "' is not in the state space of '" + current_->mnemonic() + "'");
}

/// Loads the handle that the host has bound to a texture, surface or sampler reference.
value resolver::handle_of(const symbol& s) {
  hir_instruction load;
  load.op = ptx_op::ld;
  load.m.type = isa::dtype::b64;
  load.m.types = 1;
  load.m.space = s.space;
  load.src = {s.address};
  load.dst = {register_value(out_.new_register(2, 64))};
  const value handle = load.dst[0];
  append(std::move(load));
  return handle;
}

/// register + constant as an operand: the sum, in the register's width.
value resolver::sum_with(const value& v, const ast_operand& o) {
  const virtual_register& r = out_.registers[v.reg];
  if (r.words == 0 || r.words > 2 || isa::is_float(r.type) || v.negate)
    fail(o.where,
         "'" + o.text + "' with a constant added in '" + current_->mnemonic() + "', expected an integer register");
  const unsigned words = r.words, bits = r.bits;
  hir_instruction sum;
  sum.op = ptx_op::add;
  sum.m.type = bits == 64 ? isa::dtype::u64 : bits == 32 ? isa::dtype::u32 : isa::dtype::u16;
  sum.m.types = 1;
  sum.dst = {register_value(out_.new_register(words, bits))};
  sum.src = {v, immediate_value(static_cast<std::uint64_t>(o.offset))};
  const value result = sum.dst[0];
  append(std::move(sum));
  return result;
}

/// The address of a function, as seen by a program. False: the module has no such function.
bool resolver::function_name(const ast_operand& o, value& v) const {
  const std::uint64_t address = function_address(*module_.ast, module_.ast->meaning(o.text, unit_));
  if (address == 0 || !o.component.empty()) return false;
  v = immediate_value(address);
  return true;
}

/// True for a function that is declared but not defined.
bool resolver::is_declared(const std::string& function) const {
  const std::vector<ast_function>& functions = module_.ast->functions;
  return std::any_of(functions.begin(), functions.end(),
                     [&](const ast_function& f) { return !f.has_body && f.name == function; });
}

/// True for a variable that is declared but not defined.
bool resolver::is_undefined(const std::string& name) const {
  const std::vector<ast_variable>& variables = module_.ast->variables;
  return std::any_of(variables.begin(), variables.end(),
                     [&](const ast_variable& v) { return v.is_extern && v.name == name; });
}

}  // namespace heddle::ptx
