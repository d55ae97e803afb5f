// SPDX-License-Identifier: MIT
#include <algorithm>
#include <utility>

#include "heddle/config/error.h"
#include "heddle/frontend/ptx/resolve/translate/resolver.h"

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

void resolver::load_words(const hir_instruction& h, const kernel_symbol& s, const ast_operand& address) {
  std::vector<value> to;
  in_.elements(code_.current()->operands[0], h.m.type, to, true, h.where);
  const unsigned size = isa::size_of(h.m.type);
  std::uint64_t at = static_cast<std::uint64_t>(address.offset);
  for (const value& d : to) {
    if (at % size != 0 || at + size > s.registers.size() * 4)
      code_.fail(address.where, "access outside parameter '" + address.text + "'");
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
    code_.append(std::move(one));
    at += size;
  }
}

void resolver::store_words(const hir_instruction& h, const kernel_symbol& s, const ast_operand& address) {
  std::vector<value> from;
  in_.elements(code_.current()->operands[1], h.m.type, from, false, h.where);
  const unsigned size = isa::size_of(h.m.type);
  std::uint64_t at = static_cast<std::uint64_t>(address.offset);
  for (const value& v : from) {
    if (at % size != 0 || at + size > s.registers.size() * 4)
      code_.fail(address.where, "access outside parameter '" + address.text + "'");
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
    code_.append(std::move(one));
    at += size;
  }
}

/// Binds a vector register to a vector formal, element by element.
void resolver::bind_vector(const ast_variable& formal, const kernel_symbol& inner, const ast_operand& actual,
                           bool into_callee) {
  std::vector<value> outer;
  in_.elements(actual, formal.type, outer, !into_callee, actual.where);
  if (outer.size() != inner.registers.size())
    code_.fail(actual.where, "argument '" + actual.text + "' does not fit parameter '" + formal.name + "', expected " +
                                 std::to_string(inner.registers.size()) + " elements");
  checker_.check_element_types(outer, 0, formal.type, false, actual.where);
  hir_instruction like;
  like.where = code_.current()->where;
  like.source = code_.current();
  for (std::size_t k = 0; k < outer.size(); ++k) {
    const value own = register_value(inner.registers[k]);
    code_.append(copy(like, into_callee ? own : outer[k], into_callee ? outer[k] : own, formal.type));
  }
}

/// An argument or result must be a register, a literal or a .param of the parameter's size.
void resolver::check_argument(const ast_variable& formal, const ast_operand& actual) {
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

void resolver::bind(const ast_variable& formal, const ast_operand& actual, bool into_callee, scope& callee) {
  // Actual parameters are looked up in the caller's scopes (the current ones), formal parameters are symbols of the
  // callee.
  const kernel_symbol& f = callee.names.at(formal.name);
  if (f.what == kernel_symbol::kind::components) return bind_vector(formal, f, actual, into_callee);
  check_argument(formal, actual);
  hir_instruction like;
  like.where = code_.current()->where;
  like.source = code_.current();
  kernel_symbol a;
  const bool named = actual.what == ast_operand::kind::identifier && names_.find(actual.text, a);
  if (named && (a.parameter || (f.parameter && a.what == kernel_symbol::kind::words))) {
    if (f.what != kernel_symbol::kind::reg) return into_callee ? transfer(f, a) : transfer(a, f);
    return transfer(a, register_value(f.first), !into_callee, actual.where);
  }
  if (f.parameter)
    return transfer(
        f, into_callee ? in_.operand(actual, formal.type, actual.where) : in_.destination(actual, actual.where),
        into_callee, actual.where);
  if (f.what == kernel_symbol::kind::words && actual.what == ast_operand::kind::identifier &&
      names_.find(actual.text, a) && a.what == kernel_symbol::kind::words) {
    for (std::size_t k = 0; k < std::min(f.registers.size(), a.registers.size()); ++k) {
      const value inner = register_value(f.registers[k]), outer = register_value(a.registers[k]);
      code_.append(copy(like, into_callee ? inner : outer, into_callee ? outer : inner, isa::dtype::b32));
    }
    return;
  }
  const value outer =
      into_callee ? in_.operand(actual, formal.type, actual.where) : in_.destination(actual, actual.where);
  if (f.what == kernel_symbol::kind::reg) {
    const value inner = register_value(f.first);
    code_.append(copy(like, into_callee ? inner : outer, into_callee ? outer : inner, formal.type));
    return;
  }
  // A register bound to a .param formal: one word or two.
  hir_instruction h = copy(like, outer, outer, f.registers.size() == 2 ? isa::dtype::b64 : isa::dtype::b32);
  std::vector<value> words;
  for (std::uint32_t r : f.registers) words.push_back(register_value(r));
  if (words.size() > 2)
    code_.fail(actual.where, "argument '" + actual.text + "' does not fit parameter '" + formal.name + "'");
  if (words.size() == 2) h.op = into_callee ? ptx_op::unpack : ptx_op::pack;
  (into_callee ? h.dst : h.src) = words;
  code_.append(std::move(h));
}

/// The value of an argument as the callee sees it: up to two words.
value resolver::argument(const ast_variable& formal, const ast_operand& actual) {
  if (formal.size_bytes() > 8)
    code_.fail(actual.where, "argument '" + actual.text + "' does not fit parameter '" + formal.name + "'");
  names_.open();
  declarations_.declare(formal);
  scope callee = names_.close();
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
    code_.fail(i.where,
               "call of '" + name + "' with the wrong number of arguments, expected " + std::to_string(r->arguments));
  hir_instruction c;
  c.where = h.where;
  c.source = h.source;
  for (std::size_t k = 0; k < r->arguments; ++k) c.src.push_back(argument(declared->parameters[k], arguments.list[k]));
  const bool asserts = name == "__assertfail", narrow = module_.ast->address_size == 32;
  for (std::size_t k = 0; k < c.src.size(); ++k)
    if (narrow && !(asserts && k == 2)) c.src[k] = in_.wide_address(c.src[k]);
  for (std::size_t k = 0; k < c.src.size(); ++k)
    if (code_.registers()[c.src[k].reg].words != (asserts && k == 2 ? 1u : 2u))
      code_.fail(i.where, "call of '" + name + "' with an argument of the wrong size");
  c.op = asserts ? ptx_op::trap : ptx_op::system_call;
  c.m.sub = asserts ? isa::trap_assertion : static_cast<std::uint8_t>(r->function);
  if (r->results == 0) {
    code_.append(std::move(c));
    return true;
  }
  system_result(h, std::move(c), declared->returns[0], r->function == isa::system_function::malloc ? 2 : 1,
                results.list[0]);
  return true;
}

/// Appends the call and moves its result of `words` words to the actual parameter.
void resolver::system_result(const hir_instruction& h, hir_instruction c, const ast_variable& formal, unsigned words,
                             const ast_operand& actual) {
  names_.open();
  declarations_.declare(formal);
  scope callee = names_.close();
  const value result = register_value(code_.new_register(words, words * 32));
  c.dst = {result};
  c.m.type = words == 2 ? isa::dtype::b64 : isa::dtype::b32;
  code_.append(std::move(c));
  const kernel_symbol& s = callee.names.at(formal.name);
  const bool narrow = module_.ast->address_size == 32 && words == 2 && s.registers.size() == 1;
  if (s.what != kernel_symbol::kind::words || (s.registers.size() != words && !narrow))
    code_.fail(h.where, "'" + code_.current()->mnemonic() +
                            "' of a function of the device runtime returns a .param of another size");
  hir_instruction split = copy(h, register_value(s.registers[0]), result, isa::dtype::b32);
  split.guard = {};
  if (words == 2) {
    split.op = ptx_op::unpack;
    split.m.type = isa::dtype::b64;
    split.dst.push_back(register_value(narrow ? code_.new_register(1, 32) : s.registers[1]));
  }
  code_.append(std::move(split));
  bind(formal, actual, false, callee);
}

void resolver::call(const hir_instruction& h, const ast_instruction& i) {
  std::size_t k = 0;
  const ast_operand none{};
  const ast_operand* results = &none;
  if (!i.operands.empty() && i.operands[0].what == ast_operand::kind::list) results = &i.operands[k++];
  if (k >= i.operands.size()) code_.fail(i.where, "'call' without a function name");
  const ast_operand& name = i.operands[k++];
  const ast_operand* arguments =
      k < i.operands.size() && i.operands[k].what == ast_operand::kind::list ? &i.operands[k] : &none;
  if (h.guard.what != value::kind::none) {
    const std::uint32_t behind = code_.go_around(h);
    hir_instruction plain = h;
    plain.guard = {};
    call(plain, i);
    code_.place_label(behind);
    return;
  }
  if (arguments != &none) ++k;
  if (name.what != ast_operand::kind::identifier)
    code_.fail(name.where, "'call' of what is no name, expected a function or a register");
  if (k < i.operands.size() && (i.operands[k].what != ast_operand::kind::identifier || k + 1 < i.operands.size()))
    code_.fail(i.operands[k].where,
               "'call' with too many operands, expected the name of a .callprototype or .calltargets");
  if (const ast_function* f = find_function(*module_.ast, names_.meaning(name.text)))
    return call_function(i, *f, *results, *arguments);
  if (system_call(h, i, *results, name.text, *arguments)) return;
  kernel_symbol s;
  if (k < i.operands.size() && names_.find(name.text, s) && s.what == kernel_symbol::kind::reg)
    return indirect_call(i, name, i.operands[k], *results, *arguments);
  if (is_device_launch(name.text))
    code_.fail(
        name.where,
        "call of '" + name.text +
            "': kernels that launch kernels (CUDA dynamic parallelism) are not modelled, expected the " +
            "inner kernels among the job's launches (its 'repeat' launches them while device memory asks for it)");
  code_.fail(
      name.where,
      "call of '" + name.text + "', which is not a function with a body in this module, is not supported" +
          (names_.is_declared(name.text) ? ": it is declared .extern, and no module among those loaded defines it"
                                         : ""));
}

void resolver::call_function(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                             const ast_operand& arguments) {
  if (results.list.size() != f.returns.size() || arguments.list.size() != f.parameters.size())
    code_.fail(i.where, "call of '" + f.name + "' with the wrong number of arguments");
  if (reached_.insert(&f).second && reached_.size() > most_functions)
    code_.fail(i.where, "kernel '" + kernel_.name + "' calls too many functions, expected at most " +
                            std::to_string(most_functions));
  if (calls_.recursive(f.name) || call_chain_.size() > 64 || code_.instructions() > largest_inlining)
    return outlined_call(i, f, results, arguments);
  if (!calls_.allocates(f.name)) return inline_call(i, f, results, arguments);
  // Stack memory allocated by the callee is released at its return.
  const value top = register_value(code_.new_register(1, 32));
  hir_instruction like;
  code_.append(copy(like, top, stack_pointer(), isa::dtype::b32));
  inline_call(i, f, results, arguments);
  code_.append(copy(like, stack_pointer(), top, isa::dtype::b32));
}

/// Inlines the body of `f` at the call.
void resolver::inline_call(const ast_instruction& i, const ast_function& f, const ast_operand& results,
                           const ast_operand& arguments) {
  names_.open();
  for (const ast_variable& v : f.returns) declarations_.declare(v, uses_.lives_in_memory(v, f.body));
  for (const ast_variable& v : f.parameters) declarations_.declare(v, uses_.lives_in_memory(v, f.body));
  scope callee = names_.close();
  for (std::size_t n = 0; n < arguments.list.size(); ++n) bind(f.parameters[n], arguments.list[n], true, callee);

  const name_table::function_view caller = names_.enter_function(f.unit);
  const std::uint32_t saved_return = std::exchange(return_label_, code_.new_label());
  names_.open(callee);
  call_chain_.push_back(f.name);
  body(f.body);
  names_.close();
  call_chain_.pop_back();
  names_.show(caller);
  code_.place_label(return_label_);
  return_label_ = saved_return;
  code_.start(i);
  for (std::size_t n = 0; n < results.list.size(); ++n) bind(f.returns[n], results.list[n], false, callee);
}

}  // namespace heddle::ptx
