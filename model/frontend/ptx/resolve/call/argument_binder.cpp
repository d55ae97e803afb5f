// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/call/argument_binder.h"

#include <algorithm>
#include <utility>

#include "heddle/frontend/ptx/resolve/special_registers.h"

namespace heddle::ptx {

/// An instruction at the place of the call, for move_like().
hir_instruction argument_binder::at_call() const {
  hir_instruction like;
  like.where = code_.current()->where;
  like.source = code_.current();
  return like;
}

void argument_binder::copy(const hir_instruction& like, std::uint32_t inner, const value& outer, isa::dtype type,
                           bool into_callee) {
  const value own = register_value(inner);
  code_.append(move_like(like, into_callee ? own : outer, into_callee ? outer : own, type));
}

/// Binds a vector register to a vector formal, element by element.
void argument_binder::bind_vector(const ast_variable& formal, const kernel_symbol& inner, const ast_operand& actual,
                                  bool into_callee) {
  std::vector<value> outer;
  in_.elements(actual, formal.type, outer, !into_callee, actual.where);
  if (outer.size() != inner.registers.size())
    code_.fail(actual.where, "argument '" + actual.text + "' does not fit parameter '" + formal.name + "', expected " +
                                 std::to_string(inner.registers.size()) + " elements");
  checker_.check_element_types(outer, 0, formal.type, false, actual.where);
  const hir_instruction like = at_call();
  for (std::size_t k = 0; k < outer.size(); ++k) copy(like, inner.registers[k], outer[k], formal.type, into_callee);
}

void argument_binder::check(const ast_variable& formal, const ast_operand& actual) {
  if (actual.what != ast_operand::kind::identifier) return;
  const std::string given =
      "'" + actual.text + (actual.component.empty() ? "" : "." + std::string(actual.component)) + "'";
  kernel_symbol s;
  if (!names_.find(actual.text, s)) {
    if (special_registers::is_special(actual))
      code_.fail(actual.where, "special register " + given + " in a call, expected a register or a .param");
    return;
  }
  std::uint64_t size = s.size;
  if (s.what == kernel_symbol::kind::address && !s.parameter)
    code_.fail(actual.where, "variable " + given + " in a call, expected a register or a .param of this block");
  if (s.what == kernel_symbol::kind::reg ||
      (s.what == kernel_symbol::kind::components && !s.registers.empty() && !actual.component.empty())) {
    const isa::dtype declared = code_.registers()[s.what == kernel_symbol::kind::reg ? s.first : s.registers[0]].type;
    if (declared != isa::dtype::none && declared != isa::dtype::pred) size = isa::size_of(declared);
  }
  if (size != 0 && size != formal.size_bytes() && formal.type != isa::dtype::pred)
    code_.fail(actual.where, given + " has " + std::to_string(size) + " bytes, expected " +
                                 std::to_string(formal.size_bytes()) + " as parameter '" + formal.name +
                                 "' of the call");
}

void argument_binder::bind(const ast_variable& formal, const ast_operand& actual, bool into_callee,
                           const scope& callee) {
  const kernel_symbol& f = callee.names.at(formal.name);
  if (f.what == kernel_symbol::kind::components) return bind_vector(formal, f, actual, into_callee);
  check(formal, actual);
  kernel_symbol a;
  const bool named = actual.what == ast_operand::kind::identifier && names_.find(actual.text, a);
  if (named && (a.parameter || (f.parameter && a.what == kernel_symbol::kind::words))) {
    if (f.what != kernel_symbol::kind::reg) return into_callee ? moves_.transfer(f, a) : moves_.transfer(a, f);
    return moves_.transfer(a, register_value(f.first), !into_callee, actual.where);
  }
  if (f.what == kernel_symbol::kind::words && named && a.what == kernel_symbol::kind::words) {
    const hir_instruction like = at_call();
    for (std::size_t k = 0; k < std::min(f.registers.size(), a.registers.size()); ++k)
      copy(like, f.registers[k], register_value(a.registers[k]), isa::dtype::b32, into_callee);
    return;
  }
  const value outer =
      into_callee ? in_.operand(actual, formal.type, actual.where) : in_.destination(actual, actual.where);
  if (f.parameter) return moves_.transfer(f, outer, into_callee, actual.where);
  if (f.what == kernel_symbol::kind::reg) return copy(at_call(), f.first, outer, formal.type, into_callee);
  bind_words(formal, f, actual, outer, into_callee);
}

/// A register for a .param formal in registers: one word or two.
void argument_binder::bind_words(const ast_variable& formal, const kernel_symbol& inner, const ast_operand& actual,
                                 const value& outer, bool into_callee) {
  std::vector<value> words;
  for (std::uint32_t r : inner.registers) words.push_back(register_value(r));
  if (words.size() > 2)
    code_.fail(actual.where, "argument '" + actual.text + "' does not fit parameter '" + formal.name + "'");
  hir_instruction h = move_like(at_call(), outer, outer, words.size() == 2 ? isa::dtype::b64 : isa::dtype::b32);
  if (words.size() == 2) h.op = into_callee ? ptx_op::unpack : ptx_op::pack;
  (into_callee ? h.dst : h.src) = words;
  code_.append(std::move(h));
}

scope argument_binder::declare(const ast_variable& formal) {
  names_.open();
  declarations_.declare(formal);
  return names_.close();
}

scope argument_binder::declare(const ast_function& f, bool inlined) {
  const auto in_memory = [&](const ast_variable& v) {
    return inlined ? uses_.lives_in_memory(v, f.body) : uses_.is_large(v);
  };
  names_.open();
  for (const ast_variable& v : f.returns) declarations_.declare(v, in_memory(v));
  for (const ast_variable& v : f.parameters) declarations_.declare(v, in_memory(v));
  return names_.close();
}

value argument_binder::argument(const ast_variable& formal, const ast_operand& actual) {
  if (formal.size_bytes() > 8)
    code_.fail(actual.where, "argument '" + actual.text + "' does not fit parameter '" + formal.name + "'");
  const scope callee = declare(formal);
  bind(formal, actual, true, callee);
  const kernel_symbol& s = callee.names.at(formal.name);
  if (s.what == kernel_symbol::kind::reg) return register_value(s.first);
  if (s.registers.size() == 1) return register_value(s.registers[0]);
  hir_instruction join;
  join.op = ptx_op::pack;
  join.m.type = isa::dtype::b64;
  for (std::uint32_t r : s.registers) join.src.push_back(register_value(r));
  const value whole = register_value(code_.new_register(2, 64));
  join.dst = {whole};
  code_.append(std::move(join));
  return whole;
}

}  // namespace heddle::ptx
