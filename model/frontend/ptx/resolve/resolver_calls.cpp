// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/resolve/resolver.h"

namespace heddle::ptx {

namespace {

constexpr std::size_t most_functions =
    8'000;  // per kernel: values passed through a chain of calls are live along the whole chain
constexpr std::size_t largest_inlining = 100'000;  // PTX instructions; in larger kernels functions are not inlined

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

/// Functions with which a kernel launches kernels.
bool is_device_launch(const std::string& name) {
  return name.rfind("__cudaCDP2", 0) == 0 || name.rfind("cudaLaunchDevice", 0) == 0 ||
         name.rfind("cudaGetParameterBuffer", 0) == 0;
}

}  // namespace

void resolver::load_words(const hir_instruction& h, const symbol& s, const ast_operand& address) {
  std::vector<value> to;
  elements(current_->operands[0], h.m.type, to, true, h.where);
  const unsigned size = isa::size_of(h.m.type);
  std::uint64_t at = static_cast<std::uint64_t>(address.offset);
  for (const value& d : to) {
    if (at % size != 0 || at + size > s.registers.size() * 4)
      fail(address.where, "access outside parameter '" + address.text + "'");
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
    if (at % size != 0 || at + size > s.registers.size() * 4)
      fail(address.where, "access outside parameter '" + address.text + "'");
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

/// Binds a vector register to a vector formal, element by element.
void resolver::bind_vector(const ast_variable& formal, const symbol& inner, const ast_operand& actual,
                           bool into_callee) {
  std::vector<value> outer;
  elements(actual, formal.type, outer, !into_callee, actual.where);
  if (outer.size() != inner.registers.size())
    fail(actual.where, "argument '" + actual.text + "' does not fit parameter '" + formal.name + "', expected " +
                           std::to_string(inner.registers.size()) + " elements");
  check_element_types(outer, 0, formal.type, false, actual.where);
  hir_instruction like;
  like.where = current_->where;
  like.source = current_;
  for (std::size_t k = 0; k < outer.size(); ++k) {
    const value own = register_value(inner.registers[k]);
    append(copy(like, into_callee ? own : outer[k], into_callee ? outer[k] : own, formal.type));
  }
}

/// An argument or result must be a register, a literal or a .param of the parameter's size.
void resolver::check_argument(const ast_variable& formal, const ast_operand& actual) {
  if (actual.what != ast_operand::kind::identifier) return;
  const std::string given =
      "'" + actual.text + (actual.component.empty() ? "" : "." + std::string(actual.component)) + "'";
  symbol s;
  if (!find(actual.text, s)) {
    if (is_special(actual))
      fail(actual.where, "special register " + given + " in a call, expected a register or a .param");
    return;
  }
  std::uint64_t size = s.size;
  if (s.what == symbol::kind::address && !s.parameter)
    fail(actual.where, "variable " + given + " in a call, expected a register or a .param of this block");
  if (s.what == symbol::kind::reg ||
      (s.what == symbol::kind::components && !s.registers.empty() && !actual.component.empty())) {
    const isa::dtype declared = out_.registers[s.what == symbol::kind::reg ? s.first : s.registers[0]].type;
    if (declared != isa::dtype::none && declared != isa::dtype::pred) size = isa::size_of(declared);
  }
  if (size != 0 && size != formal.size_bytes() && formal.type != isa::dtype::pred)
    fail(actual.where, given + " has " + std::to_string(size) + " bytes, expected " +
                           std::to_string(formal.size_bytes()) + " as parameter '" + formal.name + "' of the call");
}

void resolver::bind(const ast_variable& formal, const ast_operand& actual, bool into_callee, scope& callee) {
  // Actual parameters are looked up in the caller's scopes (the current ones), formal parameters are symbols of the
  // callee.
  const symbol& f = callee.names.at(formal.name);
  if (f.what == symbol::kind::components) return bind_vector(formal, f, actual, into_callee);
  check_argument(formal, actual);
  hir_instruction like;
  like.where = current_->where;
  like.source = current_;
  symbol a;
  const bool named = actual.what == ast_operand::kind::identifier && find(actual.text, a);
  if (named && (a.parameter || (f.parameter && a.what == symbol::kind::words))) {
    if (f.what != symbol::kind::reg) return into_callee ? transfer(f, a) : transfer(a, f);
    return transfer(a, register_value(f.first), !into_callee, actual.where);
  }
  if (f.parameter)
    return transfer(f, into_callee ? operand(actual, formal.type, actual.where) : destination(actual, actual.where),
                    into_callee, actual.where);
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
  // A register bound to a .param formal: one word or two.
  hir_instruction h = copy(like, outer, outer, f.registers.size() == 2 ? isa::dtype::b64 : isa::dtype::b32);
  std::vector<value> words;
  for (std::uint32_t r : f.registers) words.push_back(register_value(r));
  if (words.size() > 2)
    fail(actual.where, "argument '" + actual.text + "' does not fit parameter '" + formal.name + "'");
  if (words.size() == 2) h.op = into_callee ? ptx_op::unpack : ptx_op::pack;
  (into_callee ? h.dst : h.src) = words;
  append(std::move(h));
}

/// The value of an argument as the callee sees it: up to two words.
value resolver::argument(const ast_variable& formal, const ast_operand& actual) {
  if (formal.size_bytes() > 8)
    fail(actual.where, "argument '" + actual.text + "' does not fit parameter '" + formal.name + "'");
  scopes_.emplace_back();
  declare(formal);
  scope callee = std::move(scopes_.back());
  scopes_.pop_back();
  bind(formal, actual, true, callee);
  const symbol& s = callee.names.at(formal.name);
  if (s.what == symbol::kind::reg) return register_value(s.first);
  if (s.registers.size() == 1) return register_value(s.registers[0]);
  hir_instruction join;
  join.op = ptx_op::pack;
  join.m.type = isa::dtype::b64;
  for (std::uint32_t r : s.registers) join.src.push_back(register_value(r));
  const value whole = register_value(out_.new_register(2, 64));
  join.dst = {whole};
  append(std::move(join));
  return whole;
}

/// Extends a 32-bit address of a module with such addresses for the device runtime.
value resolver::wide_address(value v) {
  if (!v.is_reg() || out_.registers[v.reg].words != 1) return v;
  hir_instruction join;
  join.op = ptx_op::pack;
  join.m.type = isa::dtype::b64;
  join.src = {v, immediate_value(0)};
  join.dst = {register_value(out_.new_register(2, 64))};
  const value whole = join.dst[0];
  append(std::move(join));
  return whole;
}

// Functions provided by the CUDA device runtime. False: the name is none of them.
bool resolver::system_call(const hir_instruction& h, const ast_instruction& i, const ast_operand& results,
                           const std::string& name, const ast_operand& arguments) {
  struct routine {
    const char* name;
    std::size_t arguments, results;
    isa::system_function function;
  };
  static constexpr routine routines[] = {{"vprintf", 2, 1, isa::system_function::vprintf},
                                         {"malloc", 1, 1, isa::system_function::malloc},
                                         {"free", 1, 0, isa::system_function::free},
                                         {"__assertfail", 5, 0, {}}};
  const auto* r =
      std::find_if(std::begin(routines), std::end(routines), [&](const routine& k) { return name == k.name; });
  if (r == std::end(routines)) return false;
  const ast_function* declared = nullptr;
  for (const ast_function& f : module_.ast->functions)
    if (f.name == name) declared = &f;
  if (!declared || declared->parameters.size() != r->arguments || arguments.list.size() != r->arguments ||
      declared->returns.size() != r->results || results.list.size() != r->results)
    fail(i.where,
         "call of '" + name + "' with the wrong number of arguments, expected " + std::to_string(r->arguments));
  hir_instruction c;
  c.where = h.where;
  c.source = h.source;
  for (std::size_t k = 0; k < r->arguments; ++k) c.src.push_back(argument(declared->parameters[k], arguments.list[k]));
  const bool asserts = name == "__assertfail", narrow = module_.ast->address_size == 32;
  for (std::size_t k = 0; k < c.src.size(); ++k)
    if (narrow && !(asserts && k == 2)) c.src[k] = wide_address(c.src[k]);
  for (std::size_t k = 0; k < c.src.size(); ++k)
    if (out_.registers[c.src[k].reg].words != (asserts && k == 2 ? 1u : 2u))
      fail(i.where, "call of '" + name + "' with an argument of the wrong size");
  c.op = asserts ? ptx_op::trap : ptx_op::system_call;
  c.m.sub = asserts ? isa::trap_assertion : static_cast<std::uint8_t>(r->function);
  if (r->results == 0) {
    append(std::move(c));
    return true;
  }
  system_result(h, std::move(c), declared->returns[0], r->function == isa::system_function::malloc ? 2 : 1,
                results.list[0]);
  return true;
}

/// Appends the call and moves its result of `words` words to the actual parameter.
void resolver::system_result(const hir_instruction& h, hir_instruction c, const ast_variable& formal, unsigned words,
                             const ast_operand& actual) {
  scopes_.emplace_back();
  declare(formal);
  scope callee = std::move(scopes_.back());
  scopes_.pop_back();
  const value result = register_value(out_.new_register(words, words * 32));
  c.dst = {result};
  c.m.type = words == 2 ? isa::dtype::b64 : isa::dtype::b32;
  append(std::move(c));
  const symbol& s = callee.names.at(formal.name);
  const bool narrow = module_.ast->address_size == 32 && words == 2 && s.registers.size() == 1;
  if (s.what != symbol::kind::words || (s.registers.size() != words && !narrow))
    fail(h.where,
         "'" + current_->mnemonic() + "' of a function of the device runtime returns a .param of another size");
  hir_instruction split = copy(h, register_value(s.registers[0]), result, isa::dtype::b32);
  split.guard = {};
  if (words == 2) {
    split.op = ptx_op::unpack;
    split.m.type = isa::dtype::b64;
    split.dst.push_back(register_value(narrow ? out_.new_register(1, 32) : s.registers[1]));
  }
  append(std::move(split));
  bind(formal, actual, false, callee);
}

void resolver::call(const hir_instruction& h, const ast_instruction& i) {
  std::size_t k = 0;
  const ast_operand none{};
  const ast_operand* results = &none;
  if (!i.operands.empty() && i.operands[0].what == ast_operand::kind::list) results = &i.operands[k++];
  if (k >= i.operands.size()) fail(i.where, "'call' without a function name");
  const ast_operand& name = i.operands[k++];
  const ast_operand* arguments =
      k < i.operands.size() && i.operands[k].what == ast_operand::kind::list ? &i.operands[k] : &none;
  if (h.guard.what != value::kind::none) {
    const std::uint32_t behind = go_around(h);
    hir_instruction plain = h;
    plain.guard = {};
    call(plain, i);
    place_label(behind);
    return;
  }
  if (arguments != &none) ++k;
  if (name.what != ast_operand::kind::identifier)
    fail(name.where, "'call' of what is no name, expected a function or a register");
  if (k < i.operands.size() && (i.operands[k].what != ast_operand::kind::identifier || k + 1 < i.operands.size()))
    fail(i.operands[k].where, "'call' with too many operands, expected the name of a .callprototype or .calltargets");
  if (const ast_function* f = find_function(*module_.ast, module_.ast->meaning(name.text, unit_)))
    return call_function(i, *f, *results, *arguments);
  if (system_call(h, i, *results, name.text, *arguments)) return;
  symbol s;
  if (k < i.operands.size() && find(name.text, s) && s.what == symbol::kind::reg)
    return indirect_call(i, name, i.operands[k], *results, *arguments);
  if (is_device_launch(name.text))
    fail(name.where,
         "call of '" + name.text +
             "': kernels that launch kernels (CUDA dynamic parallelism) are not modelled, expected the " +
             "inner kernels among the job's launches (its 'repeat' launches them while device memory asks for it)");
  fail(name.where,
       "call of '" + name.text + "', which is not a function with a body in this module, is not supported" +
           (is_declared(name.text) ? ": it is declared .extern, and no module among those loaded defines it" : ""));
}

void resolver::call_function(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                             const ast_operand& arguments) {
  if (results.list.size() != f.returns.size() || arguments.list.size() != f.parameters.size())
    fail(i.where, "call of '" + f.name + "' with the wrong number of arguments");
  if (reached_.insert(&f).second && reached_.size() > most_functions)
    fail(i.where,
         "kernel '" + kernel_.name + "' calls too many functions, expected at most " + std::to_string(most_functions));
  if (calls_.recursive(f.name) || call_chain_.size() > 64 || instructions_ > largest_inlining)
    return outlined_call(i, f, results, arguments);
  if (!calls_.allocates(f.name)) return inline_call(i, f, results, arguments);
  // Stack memory allocated by the callee is released at its return.
  const value top = register_value(out_.new_register(1, 32));
  hir_instruction like;
  append(copy(like, top, stack_pointer(), isa::dtype::b32));
  inline_call(i, f, results, arguments);
  append(copy(like, stack_pointer(), top, isa::dtype::b32));
}

/// Inlines the body of `f` at the call.
void resolver::inline_call(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                           const ast_operand& arguments) {
  scopes_.emplace_back();
  for (const ast_variable& v : f.returns) declare(v, lives_in_memory(v, f.body));
  for (const ast_variable& v : f.parameters) declare(v, lives_in_memory(v, f.body));
  scope callee = std::move(scopes_.back());
  scopes_.pop_back();
  for (std::size_t n = 0; n < arguments.list.size(); ++n) bind(f.parameters[n], arguments.list[n], true, callee);

  const std::size_t saved_frame = frame_;
  const std::uint32_t saved_return = return_label_, saved_unit = std::exchange(unit_, f.unit);
  frame_ = scopes_.size();
  return_label_ = new_label();
  scopes_.push_back(callee);
  call_chain_.push_back(f.name);
  body(f.body);
  scopes_.pop_back();
  call_chain_.pop_back();
  frame_ = saved_frame;
  place_label(return_label_);
  return_label_ = saved_return;
  unit_ = saved_unit;
  current_ = &i;
  for (std::size_t n = 0; n < results.list.size(); ++n) bind(f.returns[n], results.list[n], false, callee);
}

}  // namespace heddle::ptx
