// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/integer_translator.h"

namespace heddle::ptx {

/// fns: the n-th set bit at or above `base`, or below it for a negative n; n = 0: `base` itself. The downward search
/// is an upward search in the reversed word; population counts of successively halved parts of the word locate the
/// bit.
void integer_translator::find_nth_set(const hir_instruction& h, const ast_instruction& i) {
  using isa::dtype;
  if (i.operands.size() != 4 || h.m.type != dtype::b32)
    code_.fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "'");
  const value d = in_.destination(i.operands[0], i.where);
  const value mask = in_.operand(i.operands[1], dtype::b32, i.where),
              base = in_.operand(i.operands[2], dtype::b32, i.where);
  const value number = in_.operand(i.operands[3], dtype::s32, i.where);
  const expansion steps(code_, h);
  const auto choose = [&](value p, value a, value b) { return steps.make(ptx_op::selp, dtype::b32, {a, b, p}); };
  const value zero = immediate_value(0), one = immediate_value(1), none = immediate_value(0xffffffffu);
  const value downward = steps.test(isa::compare::lt, dtype::s32, number, zero),
              itself = steps.test(isa::compare::eq, dtype::s32, number, zero);
  const value reversed = steps.make(ptx_op::brev, dtype::b32, {mask});
  const value mirrored = steps.make(ptx_op::sub, dtype::u32, {immediate_value(31), base});
  const value start = choose(downward, mirrored, base);
  const value from = steps.make(ptx_op::shl, dtype::b32, {none, start}),
              only = steps.make(ptx_op::shl, dtype::b32, {one, start});
  value rest = steps.make(ptx_op::and_, dtype::b32, {choose(downward, reversed, mask), choose(itself, only, from)});
  value wanted = choose(itself, one, steps.make(ptx_op::abs, dtype::s32, {number})),
        at = steps.make(ptx_op::mov, dtype::b32, {zero});
  const value missing = steps.test(isa::compare::gt, dtype::u32, wanted, steps.make(ptx_op::popc, dtype::b32, {rest}));
  for (unsigned width = 16; width != 0; width /= 2) {
    const value low = steps.make(ptx_op::and_, dtype::b32, {rest, immediate_value((std::uint64_t{1} << width) - 1)});
    const value below = steps.make(ptx_op::popc, dtype::b32, {low});
    const value above = steps.test(isa::compare::gt, dtype::u32, wanted, below);
    wanted = choose(above, steps.make(ptx_op::sub, dtype::u32, {wanted, below}), wanted);
    rest = choose(above, steps.make(ptx_op::shr, dtype::u32, {rest, immediate_value(width)}), rest);
    at = choose(above, steps.make(ptx_op::add, dtype::u32, {at, immediate_value(width)}), at);
  }
  const value found = choose(downward, steps.make(ptx_op::sub, dtype::u32, {immediate_value(31), at}), at);
  steps.finish(ptx_op::selp, dtype::b32, d, {none, found, missing});
}

/// cvt.pack: both sources are saturated to the narrow type and packed; the low part of the third source is placed
/// above them.
void integer_translator::pack_saturated(const hir_instruction& h, const ast_instruction& i) {
  using isa::dtype;
  const bool is_signed = h.m.packed_signed;
  const unsigned bits = h.m.packed_bits;
  if (i.operands.size() != (bits == 16 ? 3u : 4u))
    code_.fail(i.where, "'" + i.mnemonic() + "' with the wrong number of operands");
  const value d = in_.destination(i.operands[0], i.where);
  checker_.check_type(d, dtype::b32, false, i.operands[0].where);
  const expansion steps(code_, h);
  const std::int64_t top = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1, bottom = is_signed ? -top - 1 : 0;
  value part[2];
  for (unsigned k = 0; k < 2; ++k) {
    const value whole = in_.operand(i.operands[1 + k], dtype::s32, i.where);
    checker_.check_type(whole, dtype::s32, false, i.operands[1 + k].where);
    const value least =
        steps.make(ptx_op::max, dtype::s32, {whole, immediate_value(static_cast<std::uint32_t>(bottom))});
    part[k] = steps.make(ptx_op::min, dtype::s32, {least, immediate_value(static_cast<std::uint64_t>(top))});
  }
  const value upper = bits == 16 ? immediate_value(0) : in_.operand(i.operands[3], dtype::b32, i.where);
  checker_.check_type(upper, dtype::b32, false, i.operands.back().where);
  const value width = immediate_value(bits);
  const value above = bits == 16 ? upper : steps.make(ptx_op::shl, dtype::b32, {upper, immediate_value(2 * bits)});
  const value middle = steps.make(ptx_op::bfi, dtype::b32, {part[0], above, width, width});
  steps.finish(ptx_op::bfi, dtype::b32, d, {part[1], middle, immediate_value(0), width});
}

/// add, min and max of two 16-bit integers in a register.
void integer_translator::pair_of_halves(const hir_instruction& h, const ast_instruction& i) {
  using isa::dtype;
  if (i.operands.size() != 3) code_.fail(i.where, "'" + i.mnemonic() + "' with the wrong number of operands");
  value v[3];
  for (unsigned k = 0; k < 3; ++k) {
    v[k] = k == 0 ? in_.destination(i.operands[0], i.where) : in_.operand(i.operands[k], dtype::b32, i.where);
    checker_.check_type(v[k], dtype::b32, false, i.operands[k].where);
  }
  const expansion steps(code_, h);
  const value half = immediate_value(16), zero = immediate_value(0);
  value low, high;
  if (h.op == ptx_op::add) {  // a half that is 0 produces no carry
    low = steps.make(ptx_op::add, dtype::u32, {v[1], v[2]});
    high = steps.make(ptx_op::add, dtype::u32,
                      {steps.make(ptx_op::and_, dtype::b32, {v[1], immediate_value(0xffff0000u)}), v[2]});
    high = steps.make(ptx_op::shr, dtype::u32, {high, half});
  } else {
    const dtype t = h.m.packed_signed ? dtype::s32 : dtype::u32;
    low = steps.make(h.op, t,
                     {steps.make(ptx_op::bfe, t, {v[1], zero, half}), steps.make(ptx_op::bfe, t, {v[2], zero, half})});
    high = steps.make(h.op, t, {steps.make(ptx_op::shr, t, {v[1], half}), steps.make(ptx_op::shr, t, {v[2], half})});
    if (h.m.relu) {
      low = steps.make(ptx_op::max, t, {low, zero});
      high = steps.make(ptx_op::max, t, {high, zero});
    }
  }
  steps.finish(ptx_op::bfi, dtype::b32, v[0], {high, low, half, half});
}

void integer_translator::packed_integers(const hir_instruction& h, const ast_instruction& i) {
  return h.op == ptx_op::cvt ? pack_saturated(h, i) : pair_of_halves(h, i);
}

}  // namespace heddle::ptx
