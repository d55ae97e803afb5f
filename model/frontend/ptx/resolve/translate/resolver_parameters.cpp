// SPDX-License-Identifier: MIT
// Parameters in memory. Parameters of functions and calls are held in registers unless their address is taken or they
// are large; otherwise they are in local memory. Kernel parameters are in a constant bank, which has no generic
// addresses: parameters whose generic address is needed are copied to local memory at the start of the kernel.
#include <algorithm>

#include "heddle/frontend/ptx/resolve/translate/resolver.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

namespace {

bool says(const ast_instruction& i, const char* word) {
  return std::find(i.modifiers.begin(), i.modifiers.end(), word) != i.modifiers.end();
}

/// Instructions that use addresses of kernel parameters other than for the kernel's own loads.
bool shares_kernel_parameters(const ast_function& f) {
  bool found = false;
  visit_instructions(f.body, [&](const ast_instruction& i) {
    const bool generic =
        (i.opcode == "cvta" || i.opcode == "isspacep") && (says(i, "param") || says(i, "param::entry"));
    found = found || generic || (!f.is_entry && i.opcode == "ld" && says(i, "param::entry"));
  });
  return found;
}

isa::dtype bits_type(unsigned bytes) {
  return bytes == 1 ? isa::dtype::b8 : bytes == 2 ? isa::dtype::b16 : bytes == 4 ? isa::dtype::b32 : isa::dtype::b64;
}

}  // namespace

void resolver::copy_kernel_parameters() {
  const std::set<std::string>& names = uses_.addressed_in(kernel_.body);
  const auto addressed = [&](const ast_variable& v) { return names.count(v.name) != 0; };
  parameters_in_memory_ = uses_.takes_local_parameters(kernel_.body);
  if (std::none_of(kernel_.parameters.begin(), kernel_.parameters.end(), addressed)) return;
  const auto shares = [&](const ast_function& f) {
    return (!f.is_entry || &f == &kernel_) && shares_kernel_parameters(f);
  };
  const std::vector<ast_function>& functions = module_.ast->functions;
  parameters_in_memory_ = parameters_in_memory_ || std::any_of(functions.begin(), functions.end(), shares);
  if (!parameters_in_memory_) return;  // addresses in the constant bank are sufficient
  visit_instructions(kernel_.body, [&](const ast_instruction& i) {
    if (!code_.current()) code_.start(i);
  });
  copies_begin_ = out_.local_bytes;
  for (const ast_variable& v : kernel_.parameters) {
    if (!addressed(v)) continue;
    kernel_symbol& s = names_.innermost().names.at(v.name);
    s.copy = copy_to_local(v, s.address);
  }
  copies_end_ = out_.local_bytes;
}

value resolver::copy_to_local(const ast_variable& v, value from) {
  kernel_symbol place;
  place.address = places_.place_local(v, std::max(v.alignment(), 4u), v.size_bytes());
  const auto size = static_cast<std::uint32_t>(v.size_bytes());
  for (std::uint32_t at = 0, bytes; at < size; at += bytes) {
    bytes = std::min(v.alignment(), 8u);
    while (bytes > size - at) bytes /= 2;
    const value data = register_value(code_.new_register(bytes == 8 ? 2 : 1, bytes == 8 ? 64 : 32));
    hir_instruction load = access_local(ptx_op::ld, place, at, bytes, {data});
    load.m.space = state_space::param;
    load.src = {from};
    code_.append(std::move(load));
    code_.append(access_local(ptx_op::st, place, at, bytes, {data}));
  }
  return place.address;
}

/// Moves `data`, elements of `bytes` bytes, between registers and a place in local memory.
hir_instruction resolver::access_local(ptx_op op, const kernel_symbol& place, std::uint32_t at, unsigned bytes,
                                       const std::vector<value>& data) const {
  hir_instruction h;
  h.op = op;
  h.m.type = bits_type(bytes);
  h.m.types = 1;
  h.m.space = state_space::local;
  h.m.vector = static_cast<unsigned>(data.size());
  h.src = {place.address};
  h.offset = at;
  auto& list = op == ptx_op::ld ? h.dst : h.src;
  list.insert(list.end(), data.begin(), data.end());
  return h;
}

/// Copies a parameter to another, if at least one of them is in memory, in words as large as the alignment of both
/// allows.
void resolver::transfer(const kernel_symbol& to, const kernel_symbol& from) {
  const auto bytes = [](const kernel_symbol& s) {
    return s.parameter ? s.bytes : static_cast<std::uint32_t>(4 * s.registers.size());
  };
  const std::uint32_t end = std::min(bytes(to), bytes(from));
  for (std::uint32_t at = 0; at < end; at += 4) {
    value word;
    if (from.parameter) {
      word = register_value(to.parameter ? code_.new_register(1, 32) : to.registers[at / 4]);
      code_.append(access_local(ptx_op::ld, from, at, 4, {word}));
    } else {
      word = register_value(from.registers[at / 4]);
    }
    if (to.parameter) code_.append(access_local(ptx_op::st, to, at, 4, {word}));
  }
}

/// The same for a register or literal in place of a parameter.
void resolver::transfer(const kernel_symbol& place, value data, bool store, const location& where) {
  const unsigned words = data.is_reg() ? code_.registers()[data.reg].words : place.bytes > 4 ? 2 : 1;
  if (words == 0 || words > 2 || words * 4 != place.bytes)
    code_.fail(where, "argument of '" + code_.current()->mnemonic() + "' does not fit the parameter");
  code_.append(access_local(store ? ptx_op::st : ptx_op::ld, place, 0, 4 * words, {data}));
}

/// cvta.param and isspacep.param.
void resolver::parameter_address(hir_instruction h, const ast_instruction& i) {
  const bool tests = h.op == ptx_op::isspacep;
  if (!tests) {
    h.m.space = state_space::local;
    return generic_instruction(std::move(h), i);
  }
  if (copies_begin_ == copies_end_ || i.operands.size() != 2) return generic_instruction(std::move(h), i);
  const value d = in_.destination(i.operands[0], i.where),
              a = in_.wide_address(in_.operand(i.operands[1], isa::dtype::u64, i.where));
  const value distance = register_value(code_.new_register(2, 64));
  code_.append(in_place_of(h, ptx_op::sub, isa::dtype::u64, {distance},
                           {a, immediate_value(isa::local_window_base + copies_begin_)}));
  hir_instruction inside =
      in_place_of(h, ptx_op::setp, isa::dtype::u64, {d}, {distance, immediate_value(copies_end_ - copies_begin_)});
  inside.m.cmp = isa::compare::lt;
  inside.guard = h.guard;
  code_.append(std::move(inside));
}

/// Rejects a kernel parameter that is read by name with an offset outside of all parameters.
void resolver::check_parameter_bounds(const hir_instruction& h, const ast_operand& where) {
  kernel_symbol s;
  if (where.what != ast_operand::kind::address || !names_.find(where.text, s) ||
      s.what != kernel_symbol::kind::address || s.space != state_space::param)
    return;
  std::uint64_t end = 0;
  for (const ast_variable& v : kernel_.parameters)
    end = (end + v.alignment() - 1) / v.alignment() * v.alignment() + v.size_bytes();
  const std::int64_t first = static_cast<std::int64_t>(s.address.bits - isa::bank0::parameters) + where.offset;
  const std::int64_t bytes = static_cast<std::int64_t>(isa::size_of(h.m.type)) * h.m.vector;
  if (first < 0 || first + bytes > static_cast<std::int64_t>(end))
    code_.fail(where.where, "access outside the kernel's parameters, expected an offset from '" + where.text +
                                "' that leaves " + std::to_string(bytes) + " bytes in them");
}

/// Redirects an access to .param space to local memory. False: it accesses a kernel parameter in the constant bank.
bool resolver::parameter_access(hir_instruction& h, const ast_operand& where) {
  kernel_symbol s;
  if (where.what != ast_operand::kind::address || !names_.find(where.text, s)) return false;
  const bool by_register = s.what == kernel_symbol::kind::reg && (call_chain_.size() > 1 || parameters_in_memory_);
  if (!by_register && !s.parameter) return false;
  const std::uint64_t bytes = std::uint64_t{isa::size_of(h.m.type)} * h.m.vector;
  if (s.parameter && (where.offset < 0 || static_cast<std::uint64_t>(where.offset) + bytes > s.bytes))
    code_.fail(where.where, "access outside parameter '" + where.text + "'");
  h.m.space = state_space::local;
  return true;
}

}  // namespace heddle::ptx
