// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/code/operand_reader.h"

#include "heddle/config/error.h"

namespace heddle::ptx {

using isa::dtype;

namespace {

std::uint64_t fit_immediate(std::uint64_t bits, isa::dtype t) {
  switch (isa::size_of(t)) {
    case 1: return t == isa::dtype::s8 ? static_cast<std::uint32_t>(static_cast<std::int8_t>(bits)) : bits & 0xff;
    case 2: return t == isa::dtype::s16 ? static_cast<std::uint32_t>(static_cast<std::int16_t>(bits)) : bits & 0xffff;
    case 4: return bits & 0xffffffffu;
    default: return bits;
  }
}

}  // namespace

operand_reader::operand_reader(const hir_function& f, const std::string& file)
    : f_(f), file_(file), definitions_(f.registers.size(), nullptr) {
  for (const hir_block& b : f.blocks)
    for (const hir_instruction& h : b.code)
      for (const value& d : h.dst)
        if (d.is_reg()) definitions_[d.reg] = &h;
}

/// The number of 32-bit words of an address: 1 if the program uses 32-bit addresses.
unsigned operand_reader::address_words(const value& v) const {
  if (v.is_reg()) return f_.registers[v.reg].words;
  return v.what == value::kind::constant ? v.words : 2;
}

virtual_operand operand_reader::to_operand(const value& v, dtype type) const {
  const unsigned words = words_of(type);
  switch (v.what) {
    case value::kind::immediate: {
      const std::uint64_t bits = fit_immediate(v.bits, type);
      virtual_operand o = bits == 0 ? zero() : immediate(bits, words);
      o.count = static_cast<std::uint8_t>(words);
      return o;
    }
    case value::kind::constant: {
      if (v.words < words) fail("constant too narrow for the type of '" + now_->source->mnemonic() + "'");
      virtual_operand o;
      o.kind = isa::operand_kind::constant;
      o.bank = v.bank;
      o.value = v.bits;
      o.count = static_cast<std::uint8_t>(words);
      o.negate = v.negate;
      return o;
    }
    case value::kind::reg: {
      const unsigned have = f_.registers[v.reg].words;
      if (have == 0) fail("predicate register where '" + now_->source->mnemonic() + "' needs a value");
      if (have < words) fail("register too narrow for the type of '" + now_->source->mnemonic() + "'");
      if (v.negate && !isa::is_float(type)) fail("sign or '!' before a register in '" + now_->source->mnemonic() + "'");
      virtual_operand o(register_part{v.reg, 0, static_cast<std::uint8_t>(words)});
      o.negate = v.negate;
      return o;
    }
    default: fail("'_' is not a source of '" + now_->source->mnemonic() + "'");
  }
}

void operand_reader::need(std::size_t sources) const {
  if (now_->src.size() < sources) fail("'" + now_->source->mnemonic() + "' with too few operands");
}

void operand_reader::fail(const std::string& what) const {
  throw input_error(file_, now_->where.line, now_->where.column, what);
}

void operand_reader::unsupported() const {
  fail("unsupported type or form of instruction '" + now_->source->mnemonic() + "'");
}

virtual_operand operand_reader::src(std::size_t k) const { return src(k, now_->m.type); }

virtual_operand operand_reader::src(std::size_t k, dtype type) const {
  need(k + 1);
  return to_operand(now_->src[k], type);
}

const hir_instruction* operand_reader::definition(const value& v) const {
  return v.is_reg() && f_.registers[v.reg].single ? definitions_[v.reg] : nullptr;
}

virtual_operand operand_reader::float_src(std::size_t k, bool ftz) const {
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
  virtual_operand o = to_operand(v, now_->m.type);
  o.absolute = absolute;
  o.negate = o.negate != negate;
  return o;
}

bool operand_reader::known_extended(const value& v, dtype type) const {
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

wide_value operand_reader::wide(std::size_t k, dtype type) const {
  const virtual_operand o = src(k, type);
  return {word(o, 0), word(o, 1)};
}

virtual_predicate operand_reader::predicate(const value& v) const {
  if (v.is_immediate()) return {no_register, v.bits == 0};
  if (!v.is_reg() || f_.registers[v.reg].words != 0)
    fail("'" + now_->source->mnemonic() + "' needs a predicate register");
  return {v.reg, v.negate};
}

register_part operand_reader::dst(std::size_t k) const {
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

std::uint32_t operand_reader::predicate_dst(std::size_t k) const {
  if (k >= now_->dst.size() || !now_->dst[k].is_reg()) return no_register;
  if (f_.registers[now_->dst[k].reg].words != 0)
    fail("destination of '" + now_->source->mnemonic() + "' must be a predicate register");
  return now_->dst[k].reg;
}

}  // namespace heddle::ptx
