// SPDX-License-Identifier: MIT
#include <algorithm>

#include "config/error.h"
#include "frontend/ptx/resolver.h"

namespace heddle::ptx {

namespace {

hir_instruction copy(const hir_instruction& like, value to, value from, isa::dtype type) {
  hir_instruction h;
  h.where = like.where;
  h.source = like.source;
  h.guard = like.guard;
  h.op = ptx_op::mov;
  h.m.type = type;
  h.dst = {to};
  h.src = {from};
  return h;
}

}  // namespace

void resolver::load_words(const hir_instruction& h, const symbol& s, const ast_operand& address) {
  std::vector<value> to;
  elements(current_->operands[0], h.m.type, to, true, h.where);
  const unsigned size = isa::size_of(h.m.type);
  std::uint64_t at = static_cast<std::uint64_t>(address.offset);
  for (const value& d : to) {
    if (at % size != 0 || at + size > s.registers.size() * 4) fail(address.where, "access outside parameter '" + address.text + "'");
    const value word = register_value(s.registers[at / 4]);
    hir_instruction one = copy(h, d, word, h.m.type);
    if (size == 8) {
      one.op = ptx_op::pack;
      one.src.push_back(register_value(s.registers[at / 4 + 1]));
    } else if (size < 4) {
      one.op = ptx_op::bfe;
      one.m.type = isa::is_signed(h.m.type) ? isa::dtype::s32 : isa::dtype::u32;
      one.src.push_back(immediate_value(at % 4 * 8));
      one.src.push_back(immediate_value(size * 8));
    }
    append(std::move(one));
    at += size;
  }
}

void resolver::store_words(const hir_instruction& h, const symbol& s, const ast_operand& address) {
  std::vector<value> from;
  elements(current_->operands[1], h.m.type, from, false, h.where);
  const unsigned size = isa::size_of(h.m.type);
  std::uint64_t at = static_cast<std::uint64_t>(address.offset);
  for (const value& v : from) {
    if (at % size != 0 || at + size > s.registers.size() * 4) fail(address.where, "access outside parameter '" + address.text + "'");
    const value word = register_value(s.registers[at / 4]);
    hir_instruction one = copy(h, word, v, h.m.type);
    if (size == 8) {
      one.op = ptx_op::unpack;
      one.dst.push_back(register_value(s.registers[at / 4 + 1]));
    } else if (size < 4) {
      one.op = ptx_op::bfi;
      one.m.type = isa::dtype::b32;
      one.src = {v, word, immediate_value(at % 4 * 8), immediate_value(size * 8)};
    }
    append(std::move(one));
    at += size;
  }
}

void resolver::bind(const ast_variable& formal, const ast_operand& actual, bool into_callee, scope& callee) {
  // Actuals are looked up in the caller's scopes (the current ones), formals are symbols of the callee.
  const symbol& f = callee.names.at(formal.name);
  hir_instruction like;
  like.where = current_->where;
  like.source = current_;
  symbol a;
  if (f.what == symbol::kind::words && actual.what == ast_operand::kind::identifier && find(actual.text, a) &&
      a.what == symbol::kind::words) {
    for (std::size_t k = 0; k < std::min(f.registers.size(), a.registers.size()); ++k) {
      const value inner = register_value(f.registers[k]), outer = register_value(a.registers[k]);
      append(copy(like, into_callee ? inner : outer, into_callee ? outer : inner, isa::dtype::b32));
    }
    return;
  }
  const value outer = into_callee ? operand(actual, formal.type, actual.where) : destination(actual, actual.where);
  if (f.what == symbol::kind::reg) {
    const value inner = register_value(f.first);
    append(copy(like, into_callee ? inner : outer, into_callee ? outer : inner, formal.type));
    return;
  }
  // A register for a .param formal: one word or two.
  hir_instruction h = copy(like, outer, outer, f.registers.size() == 2 ? isa::dtype::b64 : isa::dtype::b32);
  std::vector<value> words;
  for (std::uint32_t r : f.registers) words.push_back(register_value(r));
  if (words.size() > 2) fail(actual.where, "argument '" + actual.text + "' does not fit parameter '" + formal.name + "'");
  if (words.size() == 2) h.op = into_callee ? ptx_op::unpack : ptx_op::pack;
  (into_callee ? h.dst : h.src) = words;
  append(std::move(h));
}

// The texts that the call names are host strings in device memory; the program's position says which assertion it is.
void resolver::assertion_failure(hir_instruction h) {
  h.op = ptx_op::trap;
  h.m.sub = isa::trap_assertion;
  append(std::move(h));
}

void resolver::call(const hir_instruction& h, const ast_instruction& i) {
  if (h.guard.what != value::kind::none) fail(i.where, "a guarded 'call' is not supported");
  std::size_t k = 0;
  const ast_operand none{};
  const ast_operand* results = &none;
  if (!i.operands.empty() && i.operands[0].what == ast_operand::kind::list) results = &i.operands[k++];
  if (k >= i.operands.size()) fail(i.where, "'call' without a function name");
  const ast_operand& name = i.operands[k++];
  const ast_operand* arguments = k < i.operands.size() && i.operands[k].what == ast_operand::kind::list ? &i.operands[k] : &none;
  const ast_function* f = nullptr;
  for (const ast_function& candidate : module_.ast->functions)
    if (candidate.name == name.text && candidate.has_body && !candidate.is_entry) f = &candidate;
  if (!f && name.text == "__assertfail") return assertion_failure(h);
  if (!f) fail(name.where, "call of '" + name.text + "', which is not a function with a body in this module, is not supported");
  if (std::find(call_chain_.begin(), call_chain_.end(), f->name) != call_chain_.end())
    fail(name.where, "recursive call of '" + f->name + "' is not supported");
  if (call_chain_.size() > 64) fail(name.where, "calls nested deeper than 64");
  if (results->list.size() != f->returns.size() || arguments->list.size() != f->parameters.size())
    fail(i.where, "call of '" + f->name + "' with the wrong number of arguments");

  scopes_.emplace_back();
  for (const ast_variable& v : f->returns) declare(v);
  for (const ast_variable& v : f->parameters) declare(v);
  scope callee = std::move(scopes_.back());
  scopes_.pop_back();
  for (std::size_t n = 0; n < arguments->list.size(); ++n) bind(f->parameters[n], arguments->list[n], true, callee);

  const std::size_t saved_frame = frame_;
  const std::uint32_t saved_return = return_label_;
  frame_ = scopes_.size();
  return_label_ = new_label();
  scopes_.push_back(callee);
  call_chain_.push_back(f->name);
  body(f->body);
  scopes_.pop_back();
  call_chain_.pop_back();
  frame_ = saved_frame;
  place_label(return_label_);
  return_label_ = saved_return;
  current_ = &i;
  for (std::size_t n = 0; n < results->list.size(); ++n) bind(f->returns[n], results->list[n], false, callee);
}

}  // namespace heddle::ptx
