// SPDX-License-Identifier: MIT
// PTX instructions that chips execute as several instructions: fns, atomic operations on vectors. Also instructions
// for clusters, which consist of one block each here.
#include <algorithm>

#include "heddle/frontend/ptx/resolve/translate/resolver.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

/// fns: the n-th set bit at or above `base`, or below it for a negative n; n = 0: `base` itself. The downward search
/// is an upward search in the reversed word; population counts of successively halved parts of the word locate the
/// bit.
void resolver::find_nth_set(const hir_instruction& h, const ast_instruction& i) {
  using isa::dtype;
  if (i.operands.size() != 4 || h.m.type != dtype::b32)
    code_.fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "'");
  const value d = in_.destination(i.operands[0], i.where);
  const value mask = in_.operand(i.operands[1], dtype::b32, i.where),
              base = in_.operand(i.operands[2], dtype::b32, i.where);
  const value number = in_.operand(i.operands[3], dtype::s32, i.where);
  const auto make = [&](ptx_op op, dtype type, std::vector<value> sources) {
    const value r = register_value(code_.new_register(1, 32));
    code_.append(in_place_of(h, op, type, {r}, std::move(sources)));
    return r;
  };
  const auto test = [&](isa::compare cmp, dtype type, value a, value b) {
    const value p = register_value(code_.new_register(0, 1));
    hir_instruction t = in_place_of(h, ptx_op::setp, type, {p}, {a, b});
    t.m.cmp = cmp;
    code_.append(std::move(t));
    return p;
  };
  const auto choose = [&](value p, value a, value b) { return make(ptx_op::selp, dtype::b32, {a, b, p}); };
  const value zero = immediate_value(0), one = immediate_value(1), none = immediate_value(0xffffffffu);
  const value downward = test(isa::compare::lt, dtype::s32, number, zero),
              itself = test(isa::compare::eq, dtype::s32, number, zero);
  const value reversed = make(ptx_op::brev, dtype::b32, {mask});
  const value mirrored = make(ptx_op::sub, dtype::u32, {immediate_value(31), base});
  const value start = choose(downward, mirrored, base);
  const value from = make(ptx_op::shl, dtype::b32, {none, start}), only = make(ptx_op::shl, dtype::b32, {one, start});
  value rest = make(ptx_op::and_, dtype::b32, {choose(downward, reversed, mask), choose(itself, only, from)});
  value wanted = choose(itself, one, make(ptx_op::abs, dtype::s32, {number})),
        at = make(ptx_op::mov, dtype::b32, {zero});
  const value missing = test(isa::compare::gt, dtype::u32, wanted, make(ptx_op::popc, dtype::b32, {rest}));
  for (unsigned width = 16; width != 0; width /= 2) {
    const value low = make(ptx_op::and_, dtype::b32, {rest, immediate_value((std::uint64_t{1} << width) - 1)});
    const value below = make(ptx_op::popc, dtype::b32, {low});
    const value above = test(isa::compare::gt, dtype::u32, wanted, below);
    wanted = choose(above, make(ptx_op::sub, dtype::u32, {wanted, below}), wanted);
    rest = choose(above, make(ptx_op::shr, dtype::u32, {rest, immediate_value(width)}), rest);
    at = choose(above, make(ptx_op::add, dtype::u32, {at, immediate_value(width)}), at);
  }
  const value found = choose(downward, make(ptx_op::sub, dtype::u32, {immediate_value(31), at}), at);
  hir_instruction result = in_place_of(h, ptx_op::selp, dtype::b32, {d}, {none, found, missing});
  result.guard = h.guard;
  code_.append(std::move(result));
}

/// cvt.pack: both sources are saturated to the narrow type and packed; the low part of the third source is placed
/// above them.
void resolver::pack_saturated(const hir_instruction& h, const ast_instruction& i) {
  using isa::dtype;
  const std::string& type = *std::find_if(i.modifiers.begin(), i.modifiers.end(),
                                          [](const std::string& w) { return w != "pack" && w != "sat"; });
  const bool is_signed = type[0] == 's';
  const unsigned bits = static_cast<unsigned>(std::stoul(type.substr(1)));
  if (i.operands.size() != (bits == 16 ? 3u : 4u))
    code_.fail(i.where, "'" + i.mnemonic() + "' with the wrong number of operands");
  const value d = in_.destination(i.operands[0], i.where);
  checker_.check_type(d, dtype::b32, false, i.operands[0].where);
  const auto make = [&](ptx_op op, dtype t, std::vector<value> sources) {
    const value r = register_value(code_.new_register(1, 32));
    code_.append(in_place_of(h, op, t, {r}, std::move(sources)));
    return r;
  };
  const std::int64_t top = (std::int64_t{1} << (is_signed ? bits - 1 : bits)) - 1, bottom = is_signed ? -top - 1 : 0;
  value part[2];
  for (unsigned k = 0; k < 2; ++k) {
    const value whole = in_.operand(i.operands[1 + k], dtype::s32, i.where);
    checker_.check_type(whole, dtype::s32, false, i.operands[1 + k].where);
    const value least = make(ptx_op::max, dtype::s32, {whole, immediate_value(static_cast<std::uint32_t>(bottom))});
    part[k] = make(ptx_op::min, dtype::s32, {least, immediate_value(static_cast<std::uint64_t>(top))});
  }
  const value upper = bits == 16 ? immediate_value(0) : in_.operand(i.operands[3], dtype::b32, i.where);
  checker_.check_type(upper, dtype::b32, false, i.operands.back().where);
  const value width = immediate_value(bits);
  const value above = bits == 16 ? upper : make(ptx_op::shl, dtype::b32, {upper, immediate_value(2 * bits)});
  const value middle = make(ptx_op::bfi, dtype::b32, {part[0], above, width, width});
  hir_instruction last = in_place_of(h, ptx_op::bfi, dtype::b32, {d}, {part[1], middle, immediate_value(0), width});
  last.guard = h.guard;
  code_.append(std::move(last));
}

/// add, min and max of two 16-bit integers in a register.
void resolver::pair_of_halves(const hir_instruction& h, const ast_instruction& i) {
  using isa::dtype;
  if (i.operands.size() != 3) code_.fail(i.where, "'" + i.mnemonic() + "' with the wrong number of operands");
  value v[3];
  for (unsigned k = 0; k < 3; ++k) {
    v[k] = k == 0 ? in_.destination(i.operands[0], i.where) : in_.operand(i.operands[k], dtype::b32, i.where);
    checker_.check_type(v[k], dtype::b32, false, i.operands[k].where);
  }
  const auto make = [&](ptx_op op, dtype t, std::vector<value> sources) {
    const value r = register_value(code_.new_register(1, 32));
    code_.append(in_place_of(h, op, t, {r}, std::move(sources)));
    return r;
  };
  const value half = immediate_value(16), zero = immediate_value(0);
  value low, high;
  if (h.op == ptx_op::add) {  // a half that is 0 produces no carry
    low = make(ptx_op::add, dtype::u32, {v[1], v[2]});
    high = make(ptx_op::add, dtype::u32, {make(ptx_op::and_, dtype::b32, {v[1], immediate_value(0xffff0000u)}), v[2]});
    high = make(ptx_op::shr, dtype::u32, {high, half});
  } else {
    const dtype t = i.has("s16x2") ? dtype::s32 : dtype::u32;
    low = make(h.op, t, {make(ptx_op::bfe, t, {v[1], zero, half}), make(ptx_op::bfe, t, {v[2], zero, half})});
    high = make(h.op, t, {make(ptx_op::shr, t, {v[1], half}), make(ptx_op::shr, t, {v[2], half})});
    if (i.has("relu")) {
      low = make(ptx_op::max, t, {low, zero});
      high = make(ptx_op::max, t, {high, zero});
    }
  }
  hir_instruction last = in_place_of(h, ptx_op::bfi, dtype::b32, {v[0]}, {high, low, half, half});
  last.guard = h.guard;
  code_.append(std::move(last));
}

void resolver::packed_integers(const hir_instruction& h, const ast_instruction& i) {
  return h.op == ptx_op::cvt ? pack_saturated(h, i) : pair_of_halves(h, i);
}

/// atom and red on vectors: one operation for each element.
void resolver::vector_atomic(const hir_instruction& h, const ast_instruction& i) {
  const bool returns = h.op == ptx_op::atom;
  const std::size_t data = returns ? 2 : 1;
  std::vector<value> to, from;
  const bool kept = returns && i.operands[0].what != ast_operand::kind::sink;
  if (kept) in_.elements(i.operands[0], h.m.type, to, true, i.where);
  in_.elements(i.operands[data], h.m.type, from, false, i.where);
  if (from.size() != h.m.vector || (kept && to.size() != h.m.vector))
    code_.fail(i.where, "'" + i.mnemonic() + "' needs as many registers as elements");
  checker_.check_element_types(to, 0, h.m.type, false, i.where);
  checker_.check_element_types(from, 0, h.m.type, false, i.where);
  const unsigned size = isa::size_of(h.m.type);
  std::vector<hir_instruction> moves;
  for (unsigned k = 0; k < h.m.vector; ++k) {
    hir_instruction one = h;
    one.offset += std::int64_t{k} * size;
    one.src.push_back(from[k]);
    if (kept && to[k].is_reg()) {  // all sources are read before a destination is written
      const value old = register_value(code_.new_register(1, code_.registers()[to[k].reg].bits));
      one.dst.push_back(old);
      moves.push_back(in_place_of(h, ptx_op::mov, size == 2 ? isa::dtype::b16 : isa::dtype::b32, {to[k]}, {old}));
      moves.back().guard = h.guard;
    } else if (returns) {
      one.dst.push_back(value{});
    }
    code_.append(std::move(one));
  }
  for (hir_instruction& m : moves) code_.append(std::move(m));
}

/// mapa and getctarank: the block is the only one of its cluster.
void resolver::cluster_address(hir_instruction h, const ast_instruction& i) {
  const bool maps = h.op == ptx_op::mapa;
  const unsigned size = isa::size_of(h.m.type);
  if (i.operands.size() != (maps ? 3u : 2u) || (size != 4 && size != 8))
    code_.fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "'");
  h.dst.push_back(in_.destination(i.operands[0], i.where));
  const value address = in_.operand(i.operands[1], isa::dtype::u64, i.where);
  if (maps) in_.operand(i.operands[2], isa::dtype::u32, i.where);
  h.src.push_back(maps ? address : immediate_value(0));
  code_.append(std::move(h));
}

/// Splits an access of more than 16 bytes into two (PTX has accesses of 32 bytes to global memory).
void resolver::access(hir_instruction h) {
  const unsigned elements = h.m.vector, bytes = isa::size_of(h.m.type) * elements;
  if ((h.op != ptx_op::ld && h.op != ptx_op::st) || bytes <= 16) return code_.append(std::move(h));
  if (bytes > 32 || (h.m.space != state_space::global && h.m.space != state_space::none))
    code_.fail(h.where, "unsupported type or form of instruction '" + code_.current()->mnemonic() + "'");
  const bool loads = h.op == ptx_op::ld;
  const value base = h.src[0];
  if (base.is_reg() && loads) {  // the first load may overwrite the base register
    const unsigned words = code_.registers()[base.reg].words;
    h.src[0] = register_value(code_.new_register(words, 32 * words));
    code_.append(in_place_of(h, ptx_op::mov, words == 2 ? isa::dtype::b64 : isa::dtype::b32, {h.src[0]}, {base}));
  }
  hir_instruction low = h, high = std::move(h);
  std::vector<value>& first = loads ? low.dst : low.src;
  std::vector<value>& second = loads ? high.dst : high.src;
  const auto begin = static_cast<std::ptrdiff_t>(loads ? 0 : 1), half = static_cast<std::ptrdiff_t>(elements / 2);
  first.resize(static_cast<std::size_t>(begin + half));
  second.erase(second.begin() + begin, second.begin() + begin + half);
  low.m.vector = high.m.vector = elements / 2;
  high.offset += 16;
  code_.append(std::move(low));
  code_.append(std::move(high));
}

}  // namespace heddle::ptx
