// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/address_translator.h"

#include <utility>

#include "heddle/frontend/ptx/resolve/expansion.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

void address_translator::translate(hir_instruction h, const ast_instruction& i) {
  if (h.op == ptx_op::mapa || h.op == ptx_op::getctarank) return cluster_address(std::move(h), i);
  if (h.m.space == state_space::constant) return constant_address(std::move(h), i);
  if (h.m.space == state_space::param) return parameter_address(std::move(h), i);
  generic_.translate(std::move(h), i);
}

/// Generic addresses of constants refer to the constant image in device memory.
void address_translator::constant_address(hir_instruction h, const ast_instruction& i) {
  const bool tests = h.op == ptx_op::isspacep, narrow = !tests && isa::size_of(h.m.type) == 4;
  if (i.operands.size() != 2 || (narrow && module_.constant_base >> 32 != 0))
    code_.fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "'");
  if (module_.constant_base == 0) code_.fail(i.where, "'" + i.mnemonic() + "' in a module without constant variables");
  const value base = immediate_value(module_.constant_base);
  const value d = in_.destination(i.operands[0], i.where),
              a = tests ? in_.wide_address(in_.operand(i.operands[1], isa::dtype::u64, i.where))
                        : in_.operand(i.operands[1], isa::dtype::u64, i.where);
  const bool adds = !tests && !h.m.to;
  h.op = adds ? ptx_op::add : ptx_op::sub;
  h.m = {};
  h.m.type = narrow ? isa::dtype::u32 : isa::dtype::u64;
  h.m.types = 1;
  h.dst = {tests ? register_value(code_.new_register(2, 64)) : d};
  h.src = {a, base};
  if (!tests) return code_.append(std::move(h));
  hir_instruction inside = h;
  h.guard = {};
  inside.op = ptx_op::setp;
  inside.m.cmp = isa::compare::lt;
  inside.dst = {d};
  inside.src = {h.dst[0], immediate_value(module_.constant_image.size())};
  code_.append(std::move(h));
  code_.append(std::move(inside));
}

/// cvta.param and isspacep.param. Parameters whose generic address is needed have a copy in local memory.
void address_translator::parameter_address(hir_instruction h, const ast_instruction& i) {
  const bool tests = h.op == ptx_op::isspacep;
  if (!tests) h.m.space = state_space::local;
  const kernel_parameters::range copies = parameters_.copies();
  if (!tests || copies.begin == copies.end || i.operands.size() != 2) return generic_.translate(std::move(h), i);
  const expansion steps(code_, h);
  const value d = in_.destination(i.operands[0], i.where),
              a = in_.wide_address(in_.operand(i.operands[1], isa::dtype::u64, i.where));
  const value distance =
      steps.make(ptx_op::sub, isa::dtype::u64, {a, immediate_value(isa::local_window_base + copies.begin)});
  hir_instruction inside =
      in_place_of(h, ptx_op::setp, isa::dtype::u64, {d}, {distance, immediate_value(copies.end - copies.begin)});
  inside.m.cmp = isa::compare::lt;
  inside.guard = h.guard;
  code_.append(std::move(inside));
}

/// mapa and getctarank. An address names another block of the cluster by its rank plus one, which stands above the
/// offset in the block (isa::cluster_offset_bits), in the window of generic addresses, too. 0 is the block itself.
void address_translator::cluster_address(hir_instruction h, const ast_instruction& i) {
  using isa::dtype;
  const bool maps = h.op == ptx_op::mapa;
  const unsigned size = isa::size_of(h.m.type);
  if (i.operands.size() != (maps ? 3u : 2u) || (size != 4 && size != 8))
    code_.fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "'");
  const dtype type = size == 4 ? dtype::u32 : dtype::u64;
  const value d = in_.destination(i.operands[0], i.where);
  const value address = in_.operand(i.operands[1], type, i.where);
  const expansion steps(code_, h);
  constexpr std::uint64_t places = std::uint64_t{isa::cluster_rank_mask} << isa::cluster_offset_bits;
  const value shift = immediate_value(isa::cluster_offset_bits);
  value own;
  special_.special_register("%cluster_ctarank", own);
  if (!maps) {
    value low = address;
    if (size == 8) {
      low = steps.word();
      steps.put(ptx_op::unpack, dtype::b64, {low, steps.word()}, {address});
    }
    const value place =
        steps.make(ptx_op::and_, dtype::b32,
                   {steps.make(ptx_op::shr, dtype::u32, {low, shift}), immediate_value(isa::cluster_rank_mask)});
    const value other = steps.make(ptx_op::sub, dtype::u32, {place, immediate_value(1)});
    const value here = steps.test(isa::compare::eq, dtype::u32, place, immediate_value(0));
    return steps.finish(ptx_op::selp, dtype::u32, d, {own, other, here});
  }
  const value rank = in_.operand(i.operands[2], dtype::u32, i.where);
  const value next = steps.make(ptx_op::add, dtype::u32, {rank, immediate_value(1)});
  const value here = steps.test(isa::compare::eq, dtype::u32, rank, own);
  const value place = steps.make(ptx_op::selp, dtype::u32, {immediate_value(0), next, here});
  const value above = steps.make(ptx_op::shl, dtype::b32, {place, shift});
  if (size == 4) {
    const value offset = steps.make(ptx_op::and_, dtype::b32, {address, immediate_value(0xffffffffu & ~places)});
    return steps.finish(ptx_op::or_, dtype::b32, d, {offset, above});
  }
  const value offset = steps.make(ptx_op::and_, dtype::b64, {address, immediate_value(~places)});
  const value wide = steps.make(ptx_op::pack, dtype::b64, {above, immediate_value(0)});
  steps.finish(ptx_op::or_, dtype::b64, d, {offset, wide});
}

}  // namespace heddle::ptx
