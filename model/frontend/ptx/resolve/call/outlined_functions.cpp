// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/call/outlined_functions.h"

#include "heddle/frontend/ptx/resolve/align_up.h"

namespace heddle::ptx {

outlined_functions::outlined& outlined_functions::body_of(const ast_function& f) {
  auto known = outlined_.find(f.name);
  if (known != outlined_.end()) return *known->second;
  auto o = std::make_unique<outlined>();
  o->function = &f;
  o->entry = code_.new_label();
  o->exit = code_.new_label();
  o->first_register = static_cast<std::uint32_t>(code_.registers().size());
  activation* const caller = places_.set_activation(
      nullptr);  // these values are live across the jump only, so all activations share their registers
  o->formals = binder_.declare(f, false);
  places_.set_activation(caller);
  o->return_to = register_value(code_.new_register(1, 32));
  o->frame.base = register_value(code_.new_register(1, 32));
  o->own_end = static_cast<std::uint32_t>(code_.registers().size());
  waiting_.push_back(o.get());
  return *outlined_.emplace(f.name, std::move(o)).first->second;
}

/// Where a call saves or restores registers.
void outlined_functions::mark(ptx_op op, std::uint32_t site) {
  hir_instruction h;
  h.op = op;
  h.target = site;
  code_.append(std::move(h));
}

void outlined_functions::call(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                              const ast_operand& arguments) {
  const auto kept_end =
      static_cast<std::uint32_t>(code_.registers().size());  // registers created for the call itself need not be saved
  // Arguments may be the caller's own parameters: all are read before any is written.
  const scope passed = binder_.declare(f, false);
  for (std::size_t n = 0; n < arguments.list.size(); ++n)
    binder_.bind(f.parameters[n], arguments.list[n], true, passed);
  stack_.pointer();
  outlined& o = body_of(f);
  std::uint32_t site = 0;
  if (instance_) {
    site = stack_.add_site({instance_->body_first, kept_end, instance_->first_register, instance_->own_end});
    mark(ptx_op::save, site);
  }
  for (const ast_variable& v : f.parameters) moves_.copy_words(o.formals.names.at(v.name), passed.names.at(v.name));
  const std::uint32_t back = code_.new_label();
  code_.append(new_instruction(ptx_op::mov, isa::dtype::b32, {o.return_to}, {immediate_value(o.returns.size())}));
  o.returns.push_back(back);
  code_.jump(o.entry, back);
  code_.place_label(back);
  code_.start(i);
  for (const ast_variable& v : f.returns) moves_.copy_words(passed.names.at(v.name), o.formals.names.at(v.name));
  if (instance_) mark(ptx_op::restore, site);
  for (std::size_t n = 0; n < results.list.size(); ++n) binder_.bind(f.returns[n], results.list[n], false, passed);
}

void outlined_functions::place_bodies() {
  while (!waiting_.empty()) {
    outlined& o = *waiting_.back();
    waiting_.pop_back();
    instance_ = &o;
    places_.set_activation(&o.frame);
    place_body(o);
    instance_ = nullptr;
    places_.set_activation(nullptr);
  }
  // All calls are known now: emits the return sequences.
  for (const auto& [o, label] : exits_) {
    code_.place_label(label);
    return_to_callers(*o);
  }
}

/// The body between the reservation of its frame, whose size is known only behind it, and its release.
void outlined_functions::place_body(outlined& o) {
  const value top = stack_.pointer();
  o.body_first = static_cast<std::uint32_t>(code_.registers().size());
  code_.place_label(o.entry);
  code_.append(new_instruction(ptx_op::mov, isa::dtype::b32, {o.frame.base}, {top}));
  code_.append(new_instruction(ptx_op::add, isa::dtype::u32, {top}, {top, immediate_value(0)}));
  const std::size_t block = out_.blocks.size() - 1, at = out_.blocks.back().code.size() - 1;
  translate_body(o);
  const auto bytes = static_cast<std::uint32_t>(align_up(o.frame.local_bytes, 16));
  out_.blocks[block].code[at].src[1] = immediate_value(bytes);
  stack_.need_frame(bytes);
  code_.append(new_instruction(ptx_op::mov, isa::dtype::b32, {top}, {o.frame.base}));
  exits_.push_back({&o, code_.new_label()});
  code_.jump(exits_.back().second);
}

void outlined_functions::translate_body(outlined& o) {
  const ast_function& f = *o.function;
  const name_table::function_view kernel = names_.enter_function(f.unit);
  const open_function::view before = now_.enter(o.exit);
  names_.open(o.formals);
  // Parameters of the activation whose address is taken.
  for (const ast_variable& v : f.returns)
    if (uses_.lives_in_memory(v, f.body)) declarations_.declare(v, true);
  for (const ast_variable& v : f.parameters) {
    if (!uses_.lives_in_memory(v, f.body)) continue;
    declarations_.declare(v, true);
    moves_.transfer(names_.innermost().names.at(v.name), o.formals.names.at(v.name));
  }
  const scope formals = names_.innermost();
  blocks_.translate(f.body);
  names_.close();
  names_.show(kernel);
  now_.show(before);
  code_.place_label(o.exit);
  for (const ast_variable& v : f.returns)
    if (const kernel_symbol& s = formals.names.at(v.name); s.parameter) moves_.transfer(o.formals.names.at(v.name), s);
}

/// Compares the number of the call with all but the last.
void outlined_functions::return_to_callers(const outlined& o) {
  for (std::size_t k = 0; k < o.returns.size(); ++k) {
    hir_instruction go;
    go.op = ptx_op::bra;
    go.target = o.returns[k];
    if (k + 1 < o.returns.size()) {
      hir_instruction test = new_instruction(ptx_op::setp, isa::dtype::u32, {register_value(code_.new_register(0, 1))},
                                             {o.return_to, immediate_value(k)});
      test.m.cmp = isa::compare::eq;
      go.guard = test.dst[0];
      code_.append(std::move(test));
    }
    code_.append(std::move(go));
  }
}

}  // namespace heddle::ptx
