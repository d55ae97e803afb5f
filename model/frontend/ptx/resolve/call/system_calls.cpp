// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/call/system_calls.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace heddle::ptx {

struct system_calls::routine {
  const char* name;
  std::size_t arguments;
  unsigned result_words;  // 0: no result
  bool asserts;           // its third argument is a line number
  isa::system_function function;
};

const ast_function& system_calls::declaration(const routine& r, const ast_instruction& i, const ast_operand& results,
                                              const ast_operand& arguments) const {
  const ast_function* declared = nullptr;
  for (const ast_function& f : module_.functions)
    if (f.name == r.name) declared = &f;
  const std::size_t count = r.result_words == 0 ? 0 : 1;
  if (!declared || declared->parameters.size() != r.arguments || arguments.list.size() != r.arguments ||
      declared->returns.size() != count || results.list.size() != count)
    code_.fail(i.where, "call of '" + std::string(r.name) + "' with the wrong number of arguments, expected " +
                            std::to_string(r.arguments));
  return *declared;
}

/// The arguments: addresses have 64 bits.
std::vector<value> system_calls::read(const routine& r, const ast_instruction& i, const ast_function& declared,
                                      const ast_operand& arguments) {
  const auto is_line = [&](std::size_t k) { return r.asserts && k == 2; };
  std::vector<value> read;
  for (std::size_t k = 0; k < r.arguments; ++k)
    read.push_back(binder_.argument(declared.parameters[k], arguments.list[k]));
  for (std::size_t k = 0; k < read.size(); ++k)
    if (module_.address_size == 32 && !is_line(k)) read[k] = in_.wide_address(read[k]);
  for (std::size_t k = 0; k < read.size(); ++k)
    if (code_.registers()[read[k].reg].words != (is_line(k) ? 1u : 2u))
      code_.fail(i.where, "call of '" + std::string(r.name) + "' with an argument of the wrong size");
  return read;
}

bool system_calls::call(const hir_instruction& h, const ast_instruction& i, const ast_operand& results,
                        const std::string& name, const ast_operand& arguments) {
  static constexpr routine routines[] = {{"vprintf", 2, 1, false, isa::system_function::vprintf},
                                         {"malloc", 1, 2, false, isa::system_function::malloc},
                                         {"free", 1, 0, false, isa::system_function::free},
                                         {"__assertfail", 5, 0, true, {}}};
  const auto* r =
      std::find_if(std::begin(routines), std::end(routines), [&](const routine& k) { return name == k.name; });
  if (r == std::end(routines)) return false;
  const ast_function& declared = declaration(*r, i, results, arguments);
  hir_instruction c;
  c.where = h.where;
  c.source = h.source;
  c.src = read(*r, i, declared, arguments);
  c.op = r->asserts ? ptx_op::trap : ptx_op::system_call;
  c.m.sub = r->asserts ? isa::trap_assertion : static_cast<std::uint8_t>(r->function);
  if (r->result_words == 0) code_.append(std::move(c));
  else append_with_result(h, std::move(c), declared.returns[0], r->result_words, results.list[0]);
  return true;
}

/// Appends the call and moves its result of `words` words to the actual parameter.
void system_calls::append_with_result(const hir_instruction& h, hir_instruction c, const ast_variable& formal,
                                      unsigned words, const ast_operand& actual) {
  const scope callee = binder_.declare(formal);
  const value result = register_value(code_.new_register(words, words * 32));
  c.dst = {result};
  c.m.type = words == 2 ? isa::dtype::b64 : isa::dtype::b32;
  code_.append(std::move(c));
  const kernel_symbol& s = callee.names.at(formal.name);
  const bool narrow = module_.address_size == 32 && words == 2 && s.registers.size() == 1;
  if (s.what != kernel_symbol::kind::words || (s.registers.size() != words && !narrow))
    code_.fail(h.where, "'" + code_.current()->mnemonic() +
                            "' of a function of the device runtime returns a .param of another size");
  hir_instruction split = move_like(h, register_value(s.registers[0]), result, isa::dtype::b32);
  split.guard = {};
  if (words == 2) {
    split.op = ptx_op::unpack;
    split.m.type = isa::dtype::b64;
    split.dst.push_back(register_value(narrow ? code_.new_register(1, 32) : s.registers[1]));
  }
  code_.append(std::move(split));
  binder_.bind(formal, actual, false, callee);
}

}  // namespace heddle::ptx
