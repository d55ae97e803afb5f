// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/operand_resolver.h"

#include <algorithm>
#include <cstring>

namespace heddle::ptx {

/// Extends a 32-bit address of a module with such addresses for the device runtime.
value operand_resolver::wide_address(value v) {
  if (!v.is_reg() || code_.registers()[v.reg].words != 1) return v;
  hir_instruction join;
  join.op = ptx_op::pack;
  join.m.type = isa::dtype::b64;
  join.src = {v, immediate_value(0)};
  join.dst = {register_value(code_.new_register(2, 64))};
  const value whole = join.dst[0];
  code_.append(std::move(join));
  return whole;
}

/// An access to a named variable uses the variable's state space, even if the instruction is generic (ptxas does so
/// for .global, .shared and .local; it rejects .const and .param).
void operand_resolver::name_space(hir_instruction& h, const ast_operand& o) {
  kernel_symbol s;
  if (!names_.find(o.text, s) || s.what != kernel_symbol::kind::address) return;
  if (s.space == state_space::param) h.src.back() = s.address;  // not its copy in local memory
  const bool accesses = h.op == ptx_op::ld || h.op == ptx_op::st || h.op == ptx_op::atom || h.op == ptx_op::red;
  const bool own = s.space == state_space::shared || (s.space == state_space::local && !s.parameter);
  if (h.m.space == state_space::none && accesses && own) h.m.space = s.space;
  if (s.space != h.m.space && !(h.m.space == state_space::none && s.space == state_space::global))
    code_.fail(o.where, "'" + o.text + "' is not in the state space of '" + code_.current()->mnemonic() + "'");
}

/// Loads the handle that the host has bound to a texture, surface or sampler reference.
value operand_resolver::handle_of(const kernel_symbol& s) {
  hir_instruction load;
  load.op = ptx_op::ld;
  load.m.type = isa::dtype::b64;
  load.m.types = 1;
  load.m.space = s.space;
  load.src = {s.address};
  load.dst = {register_value(code_.new_register(2, 64))};
  const value handle = load.dst[0];
  code_.append(std::move(load));
  return handle;
}

/// register + constant as an operand: the sum, in the register's width.
value operand_resolver::sum_with(const value& v, const ast_operand& o) {
  const virtual_register& r = code_.registers()[v.reg];
  if (r.words == 0 || r.words > 2 || isa::is_float(r.type) || v.negate)
    code_.fail(o.where, "'" + o.text + "' with a constant added in '" + code_.current()->mnemonic() +
                            "', expected an integer register");
  const unsigned words = r.words, bits = r.bits;
  hir_instruction sum;
  sum.op = ptx_op::add;
  sum.m.type = bits == 64 ? isa::dtype::u64 : bits == 32 ? isa::dtype::u32 : isa::dtype::u16;
  sum.m.types = 1;
  sum.dst = {register_value(code_.new_register(words, bits))};
  sum.src = {v, immediate_value(static_cast<std::uint64_t>(o.offset))};
  const value result = sum.dst[0];
  code_.append(std::move(sum));
  return result;
}

value operand_resolver::identifier(const ast_operand& o, const location&) {
  const std::string name = o.component.empty() ? o.text : o.text + "." + std::string(o.component);
  kernel_symbol s;
  if (names_.find(o.text, s)) {
    if (s.what == kernel_symbol::kind::reg && o.component.empty()) {
      value v = register_value(s.first);
      v.negate = o.invert || o.negate;
      return o.offset == 0 ? v : sum_with(v, o);
    }
    if (s.what == kernel_symbol::kind::components && !o.component.empty()) {
      const std::size_t k = std::min(std::string("xyzw").find(o.component), std::string("rgba").find(o.component));
      if (k < s.registers.size()) return register_value(s.registers[k]);
    }
    if (s.what == kernel_symbol::kind::address && o.component.empty()) {
      if (s.opaque) return handle_of(s);
      value v = s.copy.what == value::kind::none ? s.address : s.copy;
      if (v.is_reg()) return o.offset == 0 ? v : stack_address(v, o.offset);
      v.bits += static_cast<std::uint64_t>(o.offset);
      return v;
    }
    code_.fail(o.where, "'" + name + "' cannot be used as an operand here");
  }
  value v;
  if (special_.special_register(name, v)) return v;
  if (names_.function_name(o, v)) return v;
  if (names_.is_undefined(o.text))
    code_.fail(o.where, "'" + o.text + "' is declared .extern, and no module among those loaded defines it");
  const std::string message = "unknown name '" + name + "' in instruction '" + code_.current()->mnemonic() + "'";
  if (special_registers::is_special(o)) code_.fail(o.where, message);  // one that no GPU here has
  code_.refuse(o.where, message);
}

value operand_resolver::operand(const ast_operand& o, isa::dtype type, const location& where) {
  switch (o.what) {
    case ast_operand::kind::identifier: return identifier(o, where);
    case ast_operand::kind::integer:
      if (isa::is_float(type) && type != isa::dtype::f16 && type != isa::dtype::f16x2 && type != isa::dtype::bf16 &&
          o.bits != 0)
        code_.fail(o.where, "integer literal where a floating-point operand is expected");
      return immediate_value(o.bits);
    case ast_operand::kind::f32:
      if (type == isa::dtype::f64) {
        float f;
        const std::uint32_t bits = static_cast<std::uint32_t>(o.bits);
        std::memcpy(&f, &bits, 4);
        const double d = f;
        std::uint64_t wide;
        std::memcpy(&wide, &d, 8);
        return immediate_value(wide);
      }
      return immediate_value(o.bits & 0xffffffffu);
    case ast_operand::kind::f64:
      if (type == isa::dtype::f32 || type == isa::dtype::b32) {
        double d;
        std::memcpy(&d, &o.bits, 8);
        const float f = static_cast<float>(d);
        std::uint32_t bits;
        std::memcpy(&bits, &f, 4);
        return immediate_value(bits);
      }
      return immediate_value(o.bits);
    case ast_operand::kind::sink: return value{};
    default: code_.fail(o.where, "operand form not supported in instruction '" + code_.current()->mnemonic() + "'");
  }
}

value operand_resolver::destination(const ast_operand& o, const location& where) {
  if (o.what == ast_operand::kind::sink) return value{};
  if (o.what != ast_operand::kind::identifier)
    code_.fail(o.where, "destination of '" + code_.current()->mnemonic() + "' must be a register");
  if (o.offset != 0)
    code_.fail(o.where, "destination of '" + code_.current()->mnemonic() + "' is a sum, expected a register");
  const value v = identifier(o, where);
  if (!v.is_reg() || v.negate)
    code_.fail(o.where, "destination of '" + code_.current()->mnemonic() + "' must be a register");
  return v;
}

void operand_resolver::elements(const ast_operand& o, isa::dtype type, std::vector<value>& to, bool write,
                                const location& where) {
  const std::vector<ast_operand> single{o};
  const std::vector<ast_operand>& list = o.what == ast_operand::kind::vector ? o.list : single;
  kernel_symbol s;
  if (o.what == ast_operand::kind::identifier && o.component.empty() && names_.find(o.text, s) &&
      s.what == kernel_symbol::kind::components) {
    for (std::uint32_t r : s.registers) to.push_back(register_value(r));
    return;
  }
  for (const ast_operand& e : list) to.push_back(write ? destination(e, where) : operand(e, type, where));
}

void operand_resolver::address(hir_instruction& h, const ast_operand& o) {
  if (o.what != ast_operand::kind::address) code_.fail(o.where, "expected an address [base+offset]");
  if (!o.list.empty())
    code_.fail(o.where, "addresses with several elements are not supported in '" + code_.current()->mnemonic() + "'");
  h.offset = o.offset;
  if (o.text.empty()) {
    h.src.push_back(immediate_value(0));
    return;
  }
  ast_operand base;
  base.text = o.text;
  base.component = o.component;
  base.where = o.where;
  h.src.push_back(identifier(base, h.where));
  name_space(h, o);
}

value operand_resolver::stack_address(value base, std::int64_t offset) {
  const value sum = register_value(code_.new_register(2, 64));
  code_.append(new_instruction(ptx_op::add, isa::dtype::u64, {sum},
                               {base, immediate_value(static_cast<std::uint64_t>(offset))}));
  return sum;
}

}  // namespace heddle::ptx
