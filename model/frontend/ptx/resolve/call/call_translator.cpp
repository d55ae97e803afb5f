// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/call/call_translator.h"

#include <algorithm>
#include <utility>

namespace heddle::ptx {

namespace {

constexpr std::size_t most_functions =
    8'000;  // per kernel: values passed through a chain of calls are live along the whole chain
// PTX instructions, and calls (of functions that need no instruction); in larger kernels functions are not inlined
constexpr std::size_t largest_inlining = 100'000;
constexpr std::size_t deepest_inlining = 64;  // calls

/// Functions with which a kernel launches kernels.
bool is_device_launch(const std::string& name) {
  return name.rfind("__cudaCDP2", 0) == 0 || name.rfind("cudaLaunchDevice", 0) == 0 ||
         name.rfind("cudaGetParameterBuffer", 0) == 0;
}

bool same_shape(const std::vector<ast_variable>& a, const std::vector<ast_variable>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](const ast_variable& x, const ast_variable& y) { return x.size_bytes() == y.size_bytes(); });
}

}  // namespace

call_translator::parts call_translator::parts_of(const ast_instruction& i) const {
  static const ast_operand none{};
  using kind = ast_operand::kind;
  parts p{&none, nullptr, &none, nullptr};
  std::size_t k = 0;
  if (!i.operands.empty() && i.operands[0].what == kind::list) p.results = &i.operands[k++];
  if (k >= i.operands.size()) code_.fail(i.where, "'call' without a function name");
  p.name = &i.operands[k++];
  if (k < i.operands.size() && i.operands[k].what == kind::list) p.arguments = &i.operands[k++];
  if (p.name->what != kind::identifier)
    code_.fail(p.name->where, "'call' of what is no name, expected a function or a register");
  if (k == i.operands.size()) return p;
  p.shape = &i.operands[k];
  if (p.shape->what != kind::identifier || k + 1 < i.operands.size())
    code_.fail(p.shape->where, "'call' with too many operands, expected the name of a .callprototype or .calltargets");
  return p;
}

void call_translator::translate(const hir_instruction& h, const ast_instruction& i) {
  if (h.guard.what != value::kind::none) {
    const std::uint32_t behind = code_.branch_around(h);
    hir_instruction plain = h;
    plain.guard = {};
    translate(plain, i);
    code_.place_label(behind);
    return;
  }
  const parts p = parts_of(i);
  const std::string& name = p.name->text;
  if (const ast_function* f = find_function(module_, names_.meaning(name))) return call_function(i, *f, p);
  if (system_.call(h, i, *p.results, name, *p.arguments)) return;
  kernel_symbol s;
  if (p.shape && names_.find(name, s) && s.what == kernel_symbol::kind::reg) return indirect_call(i, p);
  refuse(*p.name);
}

/// A call of a function that is not there.
void call_translator::refuse(const ast_operand& name) const {
  if (is_device_launch(name.text))
    code_.fail(
        name.where,
        "call of '" + name.text +
            "': kernels that launch kernels (CUDA dynamic parallelism) are not modelled, expected the " +
            "inner kernels among the job's launches (its 'repeat' launches them while a word of device memory says so)");
  code_.fail(
      name.where,
      "call of '" + name.text + "', which is not a function with a body in this module, is not supported" +
          (names_.is_declared(name.text) ? ": it is declared .extern, and no module among those loaded defines it"
                                         : ""));
}

void call_translator::call_function(const ast_instruction& i, const ast_function& f, const parts& p) {
  if (p.results->list.size() != f.returns.size() || p.arguments->list.size() != f.parameters.size())
    code_.fail(i.where, "call of '" + f.name + "' with the wrong number of arguments");
  if (reached_.insert(&f).second && reached_.size() > most_functions)
    code_.fail(i.where, "kernel '" + kernel_.name + "' calls too many functions, expected at most " +
                            std::to_string(most_functions));
  if (calls_.recursive(f.name) || now_.depth() > deepest_inlining || code_.instructions() > largest_inlining ||
      inlined_calls_ > largest_inlining)
    return outlined_.call(i, f, *p.results, *p.arguments);
  if (!calls_.allocates(f.name)) return inline_call(i, f, p);
  // Stack memory allocated by the callee is released at its return.
  const value top = register_value(code_.new_register(1, 32));
  code_.append(move_like({}, top, stack_.pointer(), isa::dtype::b32));
  inline_call(i, f, p);
  code_.append(move_like({}, stack_.pointer(), top, isa::dtype::b32));
}

/// Inlines the body of `f` at the call.
void call_translator::inline_call(const ast_instruction& i, const ast_function& f, const parts& p) {
  ++inlined_calls_;
  const scope callee = binder_.declare(f, true);
  for (std::size_t n = 0; n < f.parameters.size(); ++n)
    binder_.bind(f.parameters[n], p.arguments->list[n], true, callee);

  const name_table::function_view caller = names_.enter_function(f.unit);
  const std::uint32_t behind = code_.new_label();
  const open_function::view before = now_.enter(behind);
  names_.open(callee);
  blocks_.translate(f.body);
  names_.close();
  now_.show(before);
  names_.show(caller);
  code_.place_label(behind);
  code_.start(i);
  for (std::size_t n = 0; n < f.returns.size(); ++n) binder_.bind(f.returns[n], p.results->list[n], false, callee);
}

std::vector<const ast_function*> call_translator::listed_targets(const ast_instruction& i, const parts& p,
                                                                 const ast_statement& list) const {
  std::vector<const ast_function*> found;
  for (const std::string& name : list.targets) {
    const ast_function* f = find_function(module_, names_.meaning(name));
    if (!f) code_.fail(list.where, "'" + name + "' in .calltargets is not a function with a body in this module");
    if (f->returns.size() != p.results->list.size() || f->parameters.size() != p.arguments->list.size())
      code_.fail(i.where,
                 "a call through '" + p.shape->text + "' with another number of arguments than '" + name + "' has");
    found.push_back(f);
  }
  return found;
}

std::vector<const ast_function*> call_translator::possible_targets(const ast_instruction& i, const parts& p) {
  kernel_symbol s;
  if (!names_.find(p.shape->text, s) || s.what != kernel_symbol::kind::prototype || !s.targets)
    code_.fail(p.shape->where, "'" + i.mnemonic() + "' through a register needs a .callprototype or .calltargets");
  if (s.targets->what == ast_statement::kind::call_targets) return listed_targets(i, p, *s.targets);
  const ast_function& prototype = *s.targets->prototype;
  if (prototype.returns.size() != p.results->list.size() || prototype.parameters.size() != p.arguments->list.size())
    code_.fail(i.where, "a call through '" + p.shape->text + "' with the wrong number of arguments");
  for (std::size_t k = 0; k < prototype.returns.size(); ++k) binder_.check(prototype.returns[k], p.results->list[k]);
  for (std::size_t k = 0; k < prototype.parameters.size(); ++k)
    binder_.check(prototype.parameters[k], p.arguments->list[k]);
  std::vector<const ast_function*> found;
  for (const std::string& name : calls_.address_taken()) {
    const ast_function* f = find_function(module_, name);
    if (f && same_shape(f->returns, prototype.returns) && same_shape(f->parameters, prototype.parameters))
      found.push_back(f);
  }
  return found;
}

value call_translator::address_of(const ast_instruction& i, const ast_operand& target) {
  const value address = in_.operand(target, isa::dtype::u64, target.where);
  if (address.is_reg() && isa::is_float(code_.registers()[address.reg].type))
    code_.fail(target.where, "'" + target.text + "' in '" + i.mnemonic() + "', expected a register for .u64");
  return address;
}

void call_translator::indirect_call(const ast_instruction& i, const parts& p) {
  const std::vector<const ast_function*> targets = possible_targets(i, p);
  const value address = address_of(i, *p.name);
  const bool narrow = address.is_reg() && code_.registers()[address.reg].words == 1;
  const std::uint32_t done = code_.new_label();
  for (const ast_function* f : targets) {
    const std::uint32_t next = code_.new_label();
    hir_instruction test = new_instruction(ptx_op::setp, narrow ? isa::dtype::u32 : isa::dtype::u64,
                                           {register_value(code_.new_register(0, 1))},
                                           {address, immediate_value(function_address(module_, f->name))});
    test.m.cmp = isa::compare::ne;
    hir_instruction skip;
    skip.op = ptx_op::bra;
    skip.target = next;
    skip.guard = test.dst[0];
    code_.append(std::move(test));
    code_.append(std::move(skip));
    call_function(i, *f, p);
    code_.jump(done);
    code_.place_label(next);
  }
  hir_instruction wild;
  wild.op = ptx_op::trap;
  wild.m.sub = isa::trap_wild_call;
  code_.append(std::move(wild));
  code_.place_label(done);
}

}  // namespace heddle::ptx
