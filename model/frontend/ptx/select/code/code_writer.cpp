// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/code/code_writer.h"

#include "heddle/isa/matrix.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

code_writer::code_writer(const operand_reader& in, machine_function& code)
    : in_(in), code_(code), carry_(code.new_register(0)) {
  code_.registers[carry_].temporary = false;
}

void code_writer::guard(machine_instruction& i) const {
  const value& g = in_.now().guard;
  if (g.what != value::kind::none) i.guard = {g.reg, g.negate};
}

machine_instruction& code_writer::put(opcode op, register_part d, std::initializer_list<virtual_operand> sources) {
  machine_instruction i;
  i.base.op = op;
  i.base.line = in_.now().where.line;
  i.base.column = in_.now().where.column;
  i.dst = d;
  i.base.dst_count = d.count;
  std::size_t k = 0;
  for (const virtual_operand& o : sources) i.src[k++] = o;
  if (in_.now().guard.what != value::kind::none && !is_temporary(d.reg))
    i.guard = {in_.now().guard.reg, in_.now().guard.negate};
  block_->code.push_back(i);
  return block_->code.back();
}

machine_instruction& code_writer::put_predicate(opcode op, std::uint32_t p,
                                                std::initializer_list<virtual_operand> sources) {
  machine_instruction& i = put(op, {no_register, 0, 0}, sources);
  i.pdst[0] = p;
  if (is_temporary(p)) i.guard = {};
  return i;
}

void code_writer::assist(register_part d, isa::assist_function f, std::initializer_list<virtual_operand> sources,
                         virtual_predicate when) {
  machine_instruction& i = put(opcode::assist, d, sources);
  i.base.sub = static_cast<std::uint8_t>(f);
  i.base.round = in_.now().m.round;
  i.base.ftz = in_.now().m.ftz;
  if (when.reg != no_register) i.guard = when;
}

void code_writer::copy(register_part d, const virtual_operand& o) {
  if (d.reg == no_register) return;
  for (unsigned k = 0; k < d.count; ++k) {
    register_part w{d.reg, static_cast<std::uint8_t>(d.part + k), 1};
    put(opcode::mov, w, {word(o, k)});
  }
}

void code_writer::move_predicate(std::uint32_t d, virtual_predicate s) {
  machine_instruction& i = put_predicate(opcode::plop3, d, {});
  i.psrc[0] = s;
  i.base.sub = 0xf0;
}

bool code_writer::mark_last_product() {
  for (std::size_t k = block_->code.size(); k-- > 0;) {
    machine_instruction& i = block_->code[k];
    if (i.base.op == opcode::wgcommit || i.base.op == opcode::wgdepbar) return false;
    if (!isa::is_warpgroup_product(i.base.op)) continue;
    if (i.guarded() || (i.base.sub & isa::gmma::commits) != 0) return false;
    i.base.sub |= isa::gmma::commits;
    return true;
  }
  return false;
}

register_part code_writer::temp(unsigned words) {
  return {code_.new_register(words), 0, static_cast<std::uint8_t>(words)};
}

std::uint32_t code_writer::temp_predicate() { return code_.new_register(0); }

register_part code_writer::begin() {
  register_part d = in_.dst();
  bool direct = d.reg != no_register && in_.now().guard.what == value::kind::none;
  for (const value& s : in_.now().src) direct = direct && !(s.is_reg() && s.reg == d.reg);
  // A negated source may be replaced by its own source, which then counts as well.
  for (const value& s : in_.now().src)
    if (const hir_instruction* def = in_.definition(s))
      for (const value& inner : def->src) direct = direct && !(inner.is_reg() && inner.reg == d.reg);
  if (direct) return d;
  return temp(d.count);
}

void code_writer::end(register_part r) {
  const register_part d = in_.dst();
  if (d.reg != r.reg) copy(d, r);
}

void code_writer::write_extended(const value& d, virtual_operand o, dtype type) {
  if (!d.is_reg()) return;
  const unsigned words = in_.registers()[d.reg].words;
  copy({d.reg, 0, 1}, word(o, 0));
  if (words < 2) return;
  const register_part hi{d.reg, 1, 1};
  if (o.count >= 2) copy(hi, word(o, 1));
  else if (isa::is_signed(type)) put(opcode::shr, hi, {word(o, 0), immediate(31)}).base.type = dtype::s32;
  else copy(hi, zero());
}

virtual_operand code_writer::narrow(std::size_t k, dtype type) {
  const virtual_operand o = in_.src(k, type);
  return in_.known_extended(in_.now().src[k], type) ? o : extend(o, type);
}

virtual_operand code_writer::extend(virtual_operand o, dtype type) {
  const unsigned size = isa::size_of(type);
  if (size >= 4 || !(o.is_reg() || o.is_constant())) return o;  // immediates have been extended
  const register_part t = temp();
  if (isa::is_signed(type)) put(opcode::prmt, t, {o, immediate(size == 1 ? 0x8880 : 0x9910), zero()});
  else put(opcode::lop3, t, {o, immediate(size == 1 ? 0xff : 0xffff), zero()}).base.sub = 0xc0;
  return t;
}

bool code_writer::is_temporary(std::uint32_t reg) const { return reg != no_register && code_.registers[reg].temporary; }

}  // namespace heddle::ptx
