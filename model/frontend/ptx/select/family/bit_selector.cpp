// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/family/bit_selector.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

void bit_selector::count_bits() {
  const bool brev = in_.now().op == ptx_op::brev;
  if (isa::size_of(in_.now().m.type) == 4) {
    out_.put(brev ? opcode::brev : opcode::popc, brev ? in_.dst() : register_part{in_.dst().reg, 0, 1}, {in_.src(0)});
    return;
  }
  const wide_value a = in_.wide(0);
  if (brev) {
    const register_part r = out_.begin();
    out_.put(opcode::brev, {r.reg, r.part, 1}, {a.hi});
    out_.put(opcode::brev, {r.reg, static_cast<std::uint8_t>(r.part + 1), 1}, {a.lo});
    return out_.end(r);
  }
  const register_part low = out_.temp(), high = out_.temp();
  out_.put(opcode::popc, low, {a.lo});
  out_.put(opcode::popc, high, {a.hi});
  out_.put(opcode::iadd3, in_.dst(), {low, high, zero()});
}

void bit_selector::find_leading() {
  const bool clz = in_.now().op == ptx_op::clz, distance = in_.now().m.shift_amount;
  const dtype t = in_.now().m.type;
  const register_part d = in_.dst();
  if (isa::size_of(t) == 4) {
    if (!clz) {
      machine_instruction& i = out_.put(opcode::flo, d, {in_.src(0)});
      i.base.type = isa::is_signed(t) ? dtype::s32 : dtype::u32;
      i.base.sub = distance ? 1 : 0;
      return;
    }
    const register_part at = out_.temp();
    out_.put(opcode::flo, at, {in_.src(0)}).base.type = dtype::u32;
    virtual_operand minus = at;
    minus.negate = true;
    out_.put(opcode::iadd3, d, {immediate(31), minus, zero()});
    return;
  }
  wide_value a = in_.wide(0);
  if (isa::is_signed(t)) {
    const register_part m = out_.temp(), x = out_.temp(2);
    out_.put(opcode::shr, m, {a.hi, immediate(31)}).base.type = dtype::s32;
    out_.put(opcode::lop3, {x.reg, 0, 1}, {a.lo, m, zero()}).base.sub = 0x3c;
    out_.put(opcode::lop3, {x.reg, 1, 1}, {a.hi, m, zero()}).base.sub = 0x3c;
    a = {word(x, 0), word(x, 1)};
  }
  const std::uint32_t in_high = out_.temp_predicate();
  const register_part high = out_.temp(), low = out_.temp(), moved = out_.temp();
  out_.put_predicate(opcode::isetp, in_high, {a.hi, zero()}).base.cmp = isa::compare::ne;
  machine_instruction& find_high = out_.put(opcode::flo, high, {a.hi});
  find_high.base.type = dtype::u32;
  find_high.base.sub = distance ? 1 : 0;
  machine_instruction& find_low = out_.put(opcode::flo, low, {a.lo});
  find_low.base.type = dtype::u32;
  find_low.base.sub = distance ? 1 : 0;
  if (distance) {  // distance from the top: 31 - p, or 63 - p if the bit is in the low word; all ones if there is none
    const std::uint32_t in_low = out_.temp_predicate();
    const register_part some = out_.temp();
    out_.put_predicate(opcode::isetp, in_low, {a.lo, zero()}).base.cmp = isa::compare::ne;
    out_.put(opcode::iadd3, moved, {low, immediate(32), zero()});
    out_.put(opcode::sel, some, {moved, immediate(0xffffffffu)}).psrc[0] = {in_low, false};
    out_.put(opcode::sel, d, {high, some}).psrc[0] = {in_high, false};
    return;
  }
  out_.put(opcode::iadd3, moved, {high, immediate(32), zero()});
  const register_part at = clz ? out_.temp() : d;
  out_.put(opcode::sel, at, {moved, low}).psrc[0] = {in_high, false};
  if (!clz) return;
  virtual_operand minus = at;
  minus.negate = true;
  out_.put(opcode::iadd3, d, {immediate(63), minus, zero()});
}

void bit_selector::permute() {
  out_.put(opcode::prmt, in_.dst(), {in_.src(0), in_.src(2), in_.src(1)}).base.sub = in_.now().m.sub;
}

void bit_selector::funnel() {
  machine_instruction& i = out_.put(opcode::shf, in_.dst(), {in_.src(0), in_.src(2), in_.src(1)});
  i.base.sub = in_.now().m.left ? 0 : 1;
  i.base.wrap = in_.now().m.wrap;
}

void bit_selector::mask_bits() {
  machine_instruction& i = out_.put(in_.now().op == ptx_op::bmsk ? opcode::bmsk : opcode::sgxt, in_.dst(),
                                    {in_.src(0), in_.src(1, dtype::b32)});
  i.base.wrap = in_.now().m.wrap;
  i.base.type = isa::is_signed(in_.now().m.type) ? dtype::s32 : dtype::u32;
}

virtual_operand bit_selector::packed_field(std::size_t position, std::size_t length) {
  const virtual_operand p = in_.src(position, dtype::u32), n = in_.src(length, dtype::u32);
  if (!p.is_reg() && !n.is_reg() && !p.is_constant() && !n.is_constant())
    return immediate((p.value & 0xff) | (n.value & 0xff) << 8);
  const register_part t = out_.temp();
  out_.put(opcode::prmt, t, {p, immediate(0x4040), n});
  return t;
}

void bit_selector::bit_field_extract() {
  const dtype t = in_.now().m.type;
  if (isa::size_of(t) == 8) return field_extract_wide();
  const virtual_operand field = packed_field(1, 2);
  const virtual_operand a = in_.now().src[0].is_reg() && in_.registers()[in_.now().src[0].reg].words == 1
                                ? in_.src(0, dtype::b32)
                                : in_.src(0);
  out_.put(opcode::bfe, in_.dst(), {a, field}).base.type = isa::is_signed(t) ? dtype::s32 : dtype::u32;
}

void bit_selector::field_extract_wide() {
  const bool is_signed = isa::is_signed(in_.now().m.type);
  const virtual_operand length = in_.src(2, dtype::u32), position = in_.src(1, dtype::u32);
  const register_part down = out_.temp(2), left = out_.temp(), keep = out_.temp(2), up = out_.temp(2), r = out_.begin(),
                      p8 = out_.temp(), n8 = out_.temp();
  out_.put(opcode::lop3, p8, {position, immediate(0xff), zero()}).base.sub = 0xc0;
  out_.put(opcode::lop3, n8, {length, immediate(0xff), zero()}).base.sub = 0xc0;
  wide_.shift_right(down, in_.wide(0), p8, is_signed);
  // Shift left so that the field's top bit becomes the word's top bit, and back; a length of 64 or more keeps all
  // bits.
  machine_instruction& m = out_.put(opcode::imnmx, left, {n8, immediate(64)});
  m.base.type = dtype::u32;
  virtual_operand minus = left;
  minus.negate = true;
  const register_part distance = out_.temp();
  out_.put(opcode::iadd3, distance, {immediate(64), minus, zero()});
  wide_.shift_left(up, {word(down, 0), word(down, 1)}, distance);
  wide_.shift_right(keep, {word(up, 0), word(up, 1)}, distance, is_signed);
  out_.copy(r, keep);
  out_.end(r);
}

void bit_selector::bit_field_insert() {
  if (isa::size_of(in_.now().m.type) == 8) return field_insert_wide();
  const virtual_operand field = packed_field(2, 3);
  out_.put(opcode::bfi, in_.dst(), {in_.src(0, dtype::b32), field, in_.src(1, dtype::b32)});
}

void bit_selector::field_insert_wide() {
  const virtual_operand position = in_.src(2, dtype::u32), length = in_.src(3, dtype::u32);
  const wide_value a = in_.wide(0), c = in_.wide(1);
  const register_part r = out_.begin();
  wide_value mask;
  const bool known = !position.is_reg() && !length.is_reg() && !position.is_constant() && !length.is_constant();
  const register_part moved = out_.temp(2);
  if (known) {
    const unsigned p = position.value & 0xff, n = length.value & 0xff;
    const std::uint64_t ones = n >= 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << n) - 1;
    const virtual_operand m = immediate(p >= 64 ? 0 : ones << p, 2);
    mask = {word(m, 0), word(m, 1)};
    wide_.shift_left(moved, a, immediate(p));
  } else {
    const register_part p8 = out_.temp(), n8 = out_.temp(), ones = out_.temp(2), low = out_.temp(2), m = out_.temp(2);
    out_.put(opcode::lop3, p8, {position, immediate(0xff), zero()}).base.sub = 0xc0;
    out_.put(opcode::lop3, n8, {length, immediate(0xff), zero()}).base.sub = 0xc0;
    wide_.shift_left(low, {immediate(0xffffffffu), immediate(0xffffffffu)}, n8);
    for (unsigned k = 0; k < 2; ++k)
      out_.put(opcode::lop3, {ones.reg, static_cast<std::uint8_t>(k), 1}, {word(low, k), zero(), zero()}).base.sub =
          0x0f;
    wide_.shift_left(m, {word(ones, 0), word(ones, 1)}, p8);
    wide_.shift_left(moved, a, p8);
    mask = {word(m, 0), word(m, 1)};
  }
  for (unsigned k = 0; k < 2; ++k) {
    const virtual_operand& m = k == 0 ? mask.lo : mask.hi;
    const virtual_operand& old = k == 0 ? c.lo : c.hi;
    const register_part w{r.reg, static_cast<std::uint8_t>(r.part + k), 1};
    if (m.is_zero_register()) out_.copy(w, old);
    else if (m.is_immediate() && m.value == 0xffffffffu) out_.copy(w, word(moved, k));
    else out_.put(opcode::lop3, w, {word(moved, k), m, old}).base.sub = 0xe2;  // mask ? moved : old
  }
  out_.end(r);
}

}  // namespace heddle::ptx
