// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/multiply_selector.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

void multiply_selector::multiply() {
  using part = modifiers::part_kind;
  const dtype t = in_.now().m.type;
  const bool is_signed = isa::is_signed(t), adds = in_.now().op == ptx_op::mad;
  const unsigned size = isa::size_of(t);
  if (in_.now().m.part == part::none) in_.fail("'" + in_.now().source->mnemonic() + "' needs .lo, .hi or .wide");
  if (in_.now().m.saturate && (t != dtype::s32 || in_.now().m.part != part::hi || !adds)) in_.unsupported();
  if (size == 8) {
    const wide_value a = in_.wide(0), b = in_.wide(1);
    const register_part r = out_.begin();
    if (in_.now().m.part == part::lo) {
      const wide_value c = adds ? in_.wide(2) : wide_value{};
      products_.low_of_wide(r, a, b, adds ? &c : nullptr);
    } else if (in_.now().m.part == part::hi) {
      const register_part h = products_.high_of_wide(a, b, is_signed);
      if (adds) wide_.add(r, {word(h, 0), word(h, 1)}, in_.wide(2), false);
      else out_.copy(r, h);
    } else {
      in_.unsupported();
    }
    return out_.end(r);
  }
  if (size == 4 && in_.now().m.part == part::wide) {
    const register_part r = out_.begin();
    if (r.count != 2) in_.unsupported();
    if (adds) products_.wide_sum(r, in_.src(0), in_.src(1), in_.wide(2), is_signed);
    else products_.wide(r, in_.src(0), in_.src(1), is_signed);
    return out_.end(r);
  }
  if (size == 4 && in_.now().m.part == part::hi) {
    const register_part h = products_.high(in_.src(0), in_.src(1), is_signed);
    if (in_.now().m.saturate) wide_.add_saturated(in_.dst(), h, in_.src(2), false);
    else if (adds) out_.put(opcode::iadd3, in_.dst(), {h, in_.src(2), zero()});
    else out_.copy(in_.dst(), h);
    return;
  }
  if (size == 4 || (size == 2 && in_.now().m.part == part::lo)) {
    const register_part r = chip_.has_imad() ? in_.dst() : out_.begin();
    products_.low(r, in_.src(0), in_.src(1), adds ? in_.src(2) : zero());
    return out_.end(r);
  }
  if (size != 2) in_.unsupported();
  const virtual_operand a = out_.narrow(0, t), b = out_.narrow(1, t);
  const register_part r = out_.begin();
  if (in_.now().m.part == part::wide) {
    products_.low(r, a, b, adds ? in_.src(2, dtype::b32) : zero());
  } else {
    const register_part whole = out_.temp();
    products_.low(whole, a, b, zero());
    const register_part high = out_.temp();
    out_.put(opcode::shr, high, {whole, immediate(16)}).base.type = is_signed ? dtype::s32 : dtype::u32;
    out_.put(opcode::iadd3, r, {high, adds ? in_.src(2) : zero(), zero()});
  }
  out_.end(r);
}

void multiply_selector::multiply_24() {
  const bool is_signed = isa::is_signed(in_.now().m.type), adds = in_.now().op == ptx_op::mad24;
  const bool high = in_.now().m.part == modifiers::part_kind::hi;
  if (isa::size_of(in_.now().m.type) != 4 || (in_.now().m.saturate && (!is_signed || !high || !adds)))
    in_.unsupported();
  const register_part a = out_.temp(), b = out_.temp();
  const dtype t = is_signed ? dtype::s32 : dtype::u32;
  out_.put(opcode::bfe, a, {in_.src(0), immediate(24 << 8)}).base.type = t;
  out_.put(opcode::bfe, b, {in_.src(1), immediate(24 << 8)}).base.type = t;
  const register_part r = out_.begin();
  if (high) {  // bits 16 to 47 of the 48-bit product
    const register_part w = out_.temp(2), middle = out_.temp();
    products_.wide(w, a, b, is_signed);
    out_.put(opcode::shf, middle, {word(w, 0), immediate(16), word(w, 1)}).base.sub = 1;
    if (in_.now().m.saturate) return wide_.add_saturated(in_.dst(), middle, in_.src(2), false);
    out_.put(opcode::iadd3, r, {middle, adds ? in_.src(2) : zero(), zero()});
  } else {
    products_.low(r, a, b, adds ? in_.src(2) : zero());
  }
  out_.end(r);
}

void multiply_selector::carry_chain_multiply() {
  const dtype t = in_.now().m.type;
  const bool takes = in_.now().op == ptx_op::madc, high = in_.now().m.part == modifiers::part_kind::hi;
  const unsigned words = isa::size_of(t) / 4;
  if (words != 1 && words != 2) in_.unsupported();
  register_part product;
  if (words == 1) {
    if (high) {
      product = products_.high(in_.src(0), in_.src(1), isa::is_signed(t));
    } else {
      product = out_.temp();
      products_.low(product, in_.src(0), in_.src(1), zero());
    }
  } else if (high) {
    product = products_.high_of_wide(in_.wide(0), in_.wide(1), isa::is_signed(t));
  } else {
    product = out_.temp(2);
    products_.low_of_wide(product, in_.wide(0), in_.wide(1), nullptr);
  }
  const virtual_operand c = in_.src(2);
  const register_part d = in_.dst();
  for (unsigned k = 0; k < words; ++k) {
    machine_instruction& i = out_.put(opcode::iadd3, {d.reg, static_cast<std::uint8_t>(d.part + k), 1},
                                      {word(product, k), word(c, k), zero()});
    i.base.extended = takes || k > 0;
    if (i.base.extended) i.psrc[0] = {out_.carry(), false};
    if (in_.now().m.carry_out || k + 1 < words) i.pdst[0] = out_.carry();
  }
}

}  // namespace heddle::ptx
