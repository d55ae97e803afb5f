// SPDX-License-Identifier: MIT
#include "heddle/config/error.h"
#include "heddle/frontend/ptx/select/selector.h"

namespace heddle::ptx {

namespace {

unsigned words_of(isa::dtype t) {
  const unsigned bytes = isa::size_of(t);
  return bytes <= 4 ? 1 : bytes / 4;
}

std::uint64_t fit_immediate(std::uint64_t bits, isa::dtype t) {
  switch (isa::size_of(t)) {
    case 1: return t == isa::dtype::s8 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(bits)) : bits & 0xff;
    case 2: return t == isa::dtype::s16 ? static_cast<std::uint32_t>(static_cast<std::int16_t>(bits)) : bits & 0xffff;
    case 4: return bits & 0xffffffffu;
    default: return bits;
  }
}

}  // namespace

selector::operand selector::immediate(std::uint64_t bits, unsigned words) {
  operand o;
  o.kind = isa::operand_kind::immediate;
  o.value = words == 1 ? bits & 0xffffffffu : bits;
  o.count = static_cast<std::uint8_t>(words);
  return o;
}

selector::operand selector::zero() {
  operand o;
  o.kind = isa::operand_kind::reg;
  return o;
}

selector::operand selector::word(const operand& o, unsigned k) {
  operand w = o;
  w.count = 1;
  if (o.is_immediate()) {
    w.value = o.value >> (32 * k) & 0xffffffffu;
    if (w.value == 0) return zero();
  } else if (o.is_constant()) {
    w.value = o.value + 4 * k;
  } else if (o.is_reg()) {
    w.part = static_cast<std::uint8_t>(o.part + k);
  }
  return w;
}

/// The number of 32-bit words of an address: 1 if the program uses 32-bit addresses.
unsigned selector::address_words(const value& v) const {
  if (v.is_reg()) return f_.registers[v.reg].words;
  return v.what == value::kind::constant ? v.words : 2;
}

selector::operand selector::to_operand(const value& v, dtype type) const {
  const unsigned words = words_of(type);
  switch (v.what) {
    case value::kind::immediate: {
      const std::uint64_t bits = fit_immediate(v.bits, type);
      operand o = bits == 0 ? zero() : immediate(bits, words);
      o.count = static_cast<std::uint8_t>(words);
      return o;
    }
    case value::kind::constant: {
      if (v.words < words) fail("constant too narrow for the type of '" + now_->source->mnemonic() + "'");
      operand o;
      o.kind = isa::operand_kind::constant;
      o.bank = v.bank;
      o.value = v.bits;
      o.count = static_cast<std::uint8_t>(words);
      return o;
    }
    case value::kind::reg: {
      const unsigned have = f_.registers[v.reg].words;
      if (have == 0) fail("predicate register where '" + now_->source->mnemonic() + "' needs a value");
      if (have < words) fail("register too narrow for the type of '" + now_->source->mnemonic() + "'");
      if (v.negate && !isa::is_float(type)) fail("sign or '!' before a register in '" + now_->source->mnemonic() + "'");
      operand o(register_part{v.reg, 0, static_cast<std::uint8_t>(words)});
      o.negate = v.negate;
      return o;
    }
    default: fail("'_' is not a source of '" + now_->source->mnemonic() + "'");
  }
}

void selector::need(std::size_t sources) const {
  if (now_->src.size() < sources) fail("'" + now_->source->mnemonic() + "' with too few operands");
}

selector::operand selector::src(std::size_t k) const { return src(k, now_->m.type); }

selector::operand selector::src(std::size_t k, dtype type) const {
  need(k + 1);
  return to_operand(now_->src[k], type);
}

const hir_instruction* selector::definition(const value& v) const {
  return v.is_reg() && f_.registers[v.reg].single ? definitions_[v.reg] : nullptr;
}

selector::operand selector::float_src(std::size_t k, bool ftz) const {
  need(k + 1);
  value v = now_->src[k];
  bool negate = false, absolute = false;
  for (const hir_instruction* d = definition(v); d; d = definition(v)) {
    const bool sign = d->op == ptx_op::neg || d->op == ptx_op::abs;
    if (!sign || d->m.type != now_->m.type || (d->m.ftz && !ftz) || d->src.size() != 1 || !d->src[0].is_reg()) break;
    if (!f_.registers[d->src[0].reg].single) break;
    if (d->op == ptx_op::neg && !absolute) negate = !negate;
    if (d->op == ptx_op::abs) absolute = true;
    v = d->src[0];
  }
  operand o = to_operand(v, now_->m.type);
  o.absolute = absolute;
  o.negate = o.negate != negate;
  return o;
}

bool selector::known_extended(const value& v, dtype type) const {
  const hir_instruction* d = definition(v);
  if (!d || d->guard.what != value::kind::none) return false;
  const dtype t = d->m.type;
  const bool extends = (d->op == ptx_op::ld && d->m.vector == 1 && isa::size_of(t) <= 2) ||
                       (d->op == ptx_op::cvt && isa::size_of(t) <= 2 && !isa::is_float(t) && d->m.saturate);
  if (extends) {
    if (isa::is_signed(type))
      return isa::is_signed(t) ? isa::size_of(t) <= isa::size_of(type) : isa::size_of(t) < isa::size_of(type);
    return !isa::is_signed(t) && isa::size_of(t) <= isa::size_of(type);
  }
  if (d->op == ptx_op::and_ && d->src.size() == 2)
    for (const value& s : d->src)
      if (s.is_immediate() && s.bits < (std::uint64_t{1} << (isa::size_of(type) * 8 - 1))) return true;
  if (d->op == ptx_op::selp && d->src.size() == 3 && d->src[0].is_immediate() && d->src[1].is_immediate())
    return (d->src[0].bits | d->src[1].bits) < (std::uint64_t{1} << (isa::size_of(type) * 8 - 1));
  return false;
}

selector::operand selector::extend(operand o, dtype type) {
  const unsigned size = isa::size_of(type);
  if (size >= 4 || !o.is_reg()) return o;
  const register_part t = temp();
  if (isa::is_signed(type)) put(opcode::prmt, t, {o, immediate(size == 1 ? 0x8880 : 0x9910), zero()});
  else put(opcode::lop3, t, {o, immediate(size == 1 ? 0xff : 0xffff), zero()}).base.sub = 0xc0;
  return t;
}

selector::operand selector::narrow(std::size_t k, dtype type) {
  const operand o = src(k, type);
  if (!o.is_reg() || isa::size_of(type) >= 4 || known_extended(now_->src[k], type)) return o;
  return extend(o, type);
}

selector::wide_value selector::wide(std::size_t k, dtype type) const {
  const operand o = src(k, type);
  return {word(o, 0), word(o, 1)};
}

virtual_predicate selector::predicate(const value& v) const {
  if (v.is_immediate()) return {no_register, v.bits == 0};
  if (!v.is_reg() || f_.registers[v.reg].words != 0)
    fail("'" + now_->source->mnemonic() + "' needs a predicate register");
  return {v.reg, v.negate};
}

register_part selector::dst(std::size_t k) const {
  if (k >= now_->dst.size()) fail("'" + now_->source->mnemonic() + "' with too few operands");
  const value& v = now_->dst[k];
  register_part r;
  r.count = static_cast<std::uint8_t>(words_of(now_->m.type));
  if (!v.is_reg()) return r;
  if (f_.registers[v.reg].words == 0) fail("destination of '" + now_->source->mnemonic() + "' is a predicate register");
  r.reg = v.reg;
  r.count = f_.registers[v.reg].words;
  return r;
}

std::uint32_t selector::predicate_dst(std::size_t k) const {
  if (k >= now_->dst.size() || !now_->dst[k].is_reg()) return no_register;
  if (f_.registers[now_->dst[k].reg].words != 0)
    fail("destination of '" + now_->source->mnemonic() + "' must be a predicate register");
  return now_->dst[k].reg;
}

register_part selector::begin() {
  register_part d = dst();
  bool direct = d.reg != no_register && now_->guard.what == value::kind::none;
  for (const value& s : now_->src) direct = direct && !(s.is_reg() && s.reg == d.reg);
  // A negated source may be replaced by its own source, which then counts as well.
  for (const value& s : now_->src)
    if (const hir_instruction* def = definition(s))
      for (const value& inner : def->src) direct = direct && !(inner.is_reg() && inner.reg == d.reg);
  if (direct) return d;
  return temp(d.count);
}

void selector::end(register_part r) {
  const register_part d = dst();
  if (d.reg != r.reg) copy(d, r);
}

void selector::copy(register_part d, const operand& o) {
  if (d.reg == no_register) return;
  for (unsigned k = 0; k < d.count; ++k) {
    register_part w{d.reg, static_cast<std::uint8_t>(d.part + k), 1};
    put(opcode::mov, w, {word(o, k)});
  }
}

}  // namespace heddle::ptx
