// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/bulk_translator.h"

#include <utility>

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

void bulk_translator::translate(const hir_instruction& h, const ast_instruction& i) {
  if (h.m.sub != copy_bulk) return group(h, i);
  if (i.has("tensor") != (h.m.dimensions != 0)) refuse(i, "'.tensor' with '.1d' to '.5d'");
  if (i.has("reduce") && (i.has("prefetch") || i.has("multicast::cluster"))) refuse(i, "a reduction alone");
  return h.m.dimensions != 0 ? tensor(h, i) : contiguous(h, i);
}

void bulk_translator::refuse(const ast_instruction& i, const char* expected) const {
  code_.fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "', expected " + expected);
}

void bulk_translator::group(const hir_instruction& h, const ast_instruction& i) {
  hir_instruction g = in_place_of(h, ptx_op::cp, dtype::b32, {}, {});
  g.m.sub = h.m.sub;
  g.m.sums = h.m.sums;
  g.guard = h.guard;
  if (h.m.sub == bulk_wait) g.src.push_back(in_.operand(i.operands[0], dtype::u32, i.where));
  code_.append(std::move(g));
}

/// The 32 bits of an address in shared memory.
value bulk_translator::shared_address(const expansion& steps, const ast_operand& o) {
  hir_instruction a;
  a.op = ptx_op::cp;
  a.m.space = state_space::shared;
  in_.address(a, o);
  value base = a.src[0];
  if (base.is_immediate()) return immediate_value((base.bits + static_cast<std::uint64_t>(a.offset)) & 0xffffffffu);
  if (base.is_reg() && code_.registers()[base.reg].words == 2) {
    const value low = steps.word();
    steps.put(ptx_op::unpack, dtype::b64, {low, steps.word()}, {base});
    base = low;
  }
  if (a.offset == 0) return base;
  return steps.make(ptx_op::add, dtype::u32,
                    {base, immediate_value(static_cast<std::uint64_t>(a.offset) & 0xffffffffu)});
}

/// The 64 bits of an address in global memory or of a generic one.
value bulk_translator::global_address(const expansion& steps, const ast_operand& o, state_space space) {
  ast_operand plain = o;
  plain.list.clear();
  hir_instruction a;
  a.op = ptx_op::cp;
  a.m.space = space;
  in_.address(a, plain);
  const value base = in_.wide_address(a.src[0]);
  if (base.is_immediate()) return immediate_value(base.bits + static_cast<std::uint64_t>(a.offset));
  if (a.offset == 0) return base;
  return steps.make(ptx_op::add, dtype::u64, {base, immediate_value(static_cast<std::uint64_t>(a.offset))});
}

void bulk_translator::append(const hir_instruction& h, opcode op, std::uint8_t sub, const descriptor& d) {
  hir_instruction c = in_place_of(h, ptx_op::cp, h.m.type, {}, {});
  c.m.sub = copy_bulk;
  c.m.bulk = op;
  c.m.bulk_sub = sub;
  c.m.reduces = h.m.reduces;
  c.guard = h.guard;
  const auto word = [&c](const value& v) { c.src.push_back(v.what == value::kind::none ? immediate_value(0) : v); };
  for (const value& v : {d.global, d.shared, d.bytes, d.barrier, d.blocks}) word(v);
  if (h.m.dimensions != 0)
    for (const std::vector<value>* list : {&d.coordinates, &d.offsets})
      for (std::size_t k = 0; k < (list == &d.coordinates ? 5 : 3); ++k) word(k < list->size() ? (*list)[k] : value());
  code_.append(std::move(c));
}

/// Copies of contiguous bytes. The state spaces are those of the destination and of the source, in this order.
void bulk_translator::contiguous(const hir_instruction& h, const ast_instruction& i) {
  const expansion steps(code_, h);
  descriptor d;
  const auto number = [&](std::size_t k) { return in_.operand(i.operands[k], dtype::u32, i.where); };
  if (i.has("prefetch")) {
    d.global = global_address(steps, i.operands[0], state_space::global);
    d.bytes = number(1);
    return append(h, opcode::ublkpf, 0, d);
  }
  d.bytes = number(2);
  const bool reduces = i.has("reduce");
  if (reduces && h.m.type == dtype::none) refuse(i, "a type");
  if (!i.has("global")) {  // within the cluster
    if (!h.m.sums || reduces) refuse(i, "'.mbarrier::complete_tx::bytes', and no reduction in shared memory");
    d.shared = shared_address(steps, i.operands[0]);
    d.blocks = shared_address(steps, i.operands[1]);
    d.barrier = shared_address(steps, i.operands[3]);
    return append(h, opcode::ublkcp, static_cast<std::uint8_t>(isa::bulk_way::cluster), d);
  }
  if (!h.m.sums) {
    d.global = global_address(steps, i.operands[0], state_space::global);
    d.shared = shared_address(steps, i.operands[1]);
    if (reduces) return append(h, opcode::ublkred, h.m.reduces, d);
    return append(h, opcode::ublkcp, static_cast<std::uint8_t>(isa::bulk_way::store), d);
  }
  if (reduces) refuse(i, "'.bulk_group'");
  d.shared = shared_address(steps, i.operands[0]);
  d.global = global_address(steps, i.operands[1], state_space::global);
  d.barrier = shared_address(steps, i.operands[3]);
  if (h.m.any_block) d.blocks = in_.operand(i.operands[4], dtype::u16, i.where);
  append(h, opcode::ublkcp, static_cast<std::uint8_t>(isa::bulk_way::load), d);
}

void bulk_translator::map_and_coordinates(const hir_instruction& h, const expansion& steps, const ast_operand& o,
                                          descriptor& d) {
  d.global = global_address(steps, o, state_space::none);
  const std::vector<ast_operand>* list = &o.list;
  if (list->size() == 1 && list->front().what == ast_operand::kind::vector) list = &list->front().list;
  if (list->size() != h.m.dimensions)
    code_.fail(o.where, std::to_string(list->size()) + " coordinates in '" + code_.current()->mnemonic() +
                            "', expected " + std::to_string(h.m.dimensions));
  for (const ast_operand& c : *list) d.coordinates.push_back(in_.operand(c, dtype::s32, o.where));
}

/// Copies of boxes of tensors.
void bulk_translator::tensor(const hir_instruction& h, const ast_instruction& i) {
  const expansion steps(code_, h);
  descriptor d;
  const auto sub = static_cast<std::uint8_t>(h.m.dimensions | (h.m.im2col ? isa::im2col : 0));
  std::size_t next = 0;
  const auto offsets = [&] {
    if (!h.m.im2col || next >= i.operands.size()) return;
    const ast_operand& o = i.operands[next++];
    if (o.list.size() + 2 != h.m.dimensions) refuse(i, "as many offsets as dimensions, less two");
    for (const ast_operand& e : o.list) d.offsets.push_back(in_.operand(e, dtype::u16, i.where));
  };
  if (h.m.im2col && h.m.dimensions < 3) refuse(i, "'.3d' to '.5d' with '.im2col'");
  if (i.has("prefetch")) {
    map_and_coordinates(h, steps, i.operands[next++], d);
    offsets();
    return append(h, opcode::utmapf, sub, d);
  }
  if (!h.m.sums) {
    if (h.m.im2col) refuse(i, "'.tile': stores in im2col mode are not supported");
    map_and_coordinates(h, steps, i.operands[0], d);
    d.shared = shared_address(steps, i.operands[1]);
    return append(h, i.has("reduce") ? opcode::utmaredg : opcode::utmastg, sub, d);
  }
  if (i.has("reduce")) refuse(i, "'.bulk_group'");
  d.shared = shared_address(steps, i.operands[next++]);
  map_and_coordinates(h, steps, i.operands[next++], d);
  d.barrier = shared_address(steps, i.operands[next++]);
  offsets();
  if (h.m.any_block) d.blocks = in_.operand(i.operands[next], dtype::u16, i.where);
  append(h, opcode::utmaldg, sub, d);
}

}  // namespace heddle::ptx
