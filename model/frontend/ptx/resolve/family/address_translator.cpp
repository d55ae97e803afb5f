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

/// mapa and getctarank: the block is the only one of its cluster.
void address_translator::cluster_address(hir_instruction h, const ast_instruction& i) {
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

}  // namespace heddle::ptx
