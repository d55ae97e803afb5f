// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/bulk_translator.h"

#include <array>
#include <cstddef>
#include <utility>

#include "heddle/isa/tensor_map.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

/// The elements' types in the order in which tensormap.replace numbers them.
constexpr std::array<isa::tensor_type, 13> replaced_types = {
    isa::tensor_type::u8,      isa::tensor_type::u16, isa::tensor_type::u32,  isa::tensor_type::s32,
    isa::tensor_type::u64,     isa::tensor_type::s64, isa::tensor_type::f16,  isa::tensor_type::f32,
    isa::tensor_type::f32_ftz, isa::tensor_type::f64, isa::tensor_type::bf16, isa::tensor_type::tf32,
    isa::tensor_type::tf32_ftz};

/// The operations and types of reductions in shared memory. Source: PTX ISA, cp.reduce.async.bulk.
bool reduces_in_shared(const hir_instruction& h) {
  using op = isa::atomic_op;
  const dtype t = h.m.type;
  switch (static_cast<op>(h.m.reduces)) {
    case op::and_:
    case op::or_:
    case op::xor_: return t == dtype::b32;
    case op::add: return t == dtype::u32 || t == dtype::s32 || t == dtype::u64;
    case op::min:
    case op::max: return t == dtype::u32 || t == dtype::s32;
    case op::inc:
    case op::dec: return t == dtype::u32;
    default: return false;
  }
}

}  // namespace

void bulk_translator::translate(const hir_instruction& h, const ast_instruction& i) {
  if (h.op == ptx_op::tensormap) return i.has("cp_fenceproxy") ? copy_map(h, i) : change_map(h, i);
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

/// None: the instruction has no cache policy.
value bulk_translator::policy(const hir_instruction& h, const expansion& steps, const ast_instruction& i) {
  if (!h.m.hinted) return {};
  const value whole = in_.operand(i.operands.back(), dtype::b64, i.where);
  if (whole.is_immediate()) return immediate_value(whole.bits >> 32);
  const value upper = steps.word();
  steps.put(ptx_op::unpack, dtype::b64, {steps.word(), upper}, {whole});
  return upper;
}

void bulk_translator::append(const hir_instruction& h, opcode op, std::uint8_t sub, const descriptor& d) {
  hir_instruction c = in_place_of(h, ptx_op::cp, h.m.type, {}, {});
  c.m.sub = copy_bulk;
  c.m.bulk = op;
  c.m.bulk_sub = sub;
  c.m.reduces = h.m.reduces;
  c.m.sums = h.m.sums;
  c.guard = h.guard;
  const auto word = [&c](const value& v) { c.src.push_back(v.what == value::kind::none ? immediate_value(0) : v); };
  const bool tensor = h.m.dimensions != 0;
  for (const value& v : {d.global, d.shared, tensor ? d.policy : d.bytes, d.barrier, d.blocks}) word(v);
  if (!tensor && d.policy.what != value::kind::none) word(d.policy);
  if (tensor)
    for (const std::vector<value>* list : {&d.coordinates, &d.offsets})
      for (std::size_t k = 0; k < (list == &d.coordinates ? 5 : 3); ++k) word(k < list->size() ? (*list)[k] : value());
  code_.append(std::move(c));
}

/// Copies of contiguous bytes. The state spaces are those of the destination and of the source, in this order.
void bulk_translator::contiguous(const hir_instruction& h, const ast_instruction& i) {
  const expansion steps(code_, h);
  descriptor d;
  d.policy = policy(h, steps, i);
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
    if (!h.m.sums) refuse(i, "'.mbarrier::complete_tx::bytes'");
    if (reduces && !reduces_in_shared(h))
      refuse(i, "and, or, xor of b32, add, min, max of u32 or s32, add of u64, or inc, dec of u32");
    d.shared = shared_address(steps, i.operands[0]);
    d.blocks = shared_address(steps, i.operands[1]);
    d.barrier = shared_address(steps, i.operands[3]);
    if (reduces) return append(h, opcode::ublkred, h.m.reduces, d);
    return append(h, opcode::ublkcp, static_cast<std::uint8_t>(isa::bulk_direction::cluster), d);
  }
  if (!h.m.sums) {
    d.global = global_address(steps, i.operands[0], state_space::global);
    d.shared = shared_address(steps, i.operands[1]);
    if (reduces) return append(h, opcode::ublkred, h.m.reduces, d);
    return append(h, opcode::ublkcp, static_cast<std::uint8_t>(isa::bulk_direction::store), d);
  }
  if (reduces) refuse(i, "'.bulk_group'");
  d.shared = shared_address(steps, i.operands[0]);
  d.global = global_address(steps, i.operands[1], state_space::global);
  d.barrier = shared_address(steps, i.operands[3]);
  if (h.m.any_block) d.blocks = in_.operand(i.operands[4], dtype::u16, i.where);
  append(h, opcode::ublkcp, static_cast<std::uint8_t>(isa::bulk_direction::load), d);
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
  d.policy = policy(h, steps, i);
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
    if (h.m.im2col && !i.has("im2col_no_offs")) refuse(i, "'.im2col_no_offs'");
    map_and_coordinates(h, steps, i.operands[0], d);
    d.shared = shared_address(steps, i.operands[1]);
    return append(h, i.has("reduce") ? opcode::utmaredg : opcode::utmastg, sub, d);
  }
  if (i.has("reduce") || i.has("im2col_no_offs")) refuse(i, "'.bulk_group'");
  d.shared = shared_address(steps, i.operands[next++]);
  map_and_coordinates(h, steps, i.operands[next++], d);
  d.barrier = shared_address(steps, i.operands[next++]);
  offsets();
  if (h.m.any_block) d.blocks = in_.operand(i.operands[next], dtype::u16, i.where);
  append(h, opcode::utmaldg, sub, d);
}

void bulk_translator::store_field(const hir_instruction& h, const ast_operand& map, std::size_t offset, dtype type,
                                  const value& v) {
  hir_instruction store = in_place_of(h, ptx_op::st, type, {}, {});
  store.m.space = h.m.space;
  store.guard = h.guard;
  in_.address(store, map);
  store.offset += static_cast<std::int64_t>(offset);
  store.src.push_back(v);
  code_.append(std::move(store));
}

/// tensormap.replace: stores to the fields of isa::tensor_map.
void bulk_translator::change_map(const hir_instruction& h, const ast_instruction& i) {
  using map = isa::tensor_map;
  const expansion steps(code_, h);
  const auto field = static_cast<map_field>(h.m.sub);
  // An immediate number: of a dimension, or a choice.
  const auto number = [&](std::uint64_t count, const char* expected) {
    const std::uint64_t n = i.operands[1].bits;
    if (n >= count)
      code_.fail(i.operands[1].where, "'" + i.operands[1].text + "' in '" + i.mnemonic() + "', expected " + expected);
    return static_cast<std::size_t>(n);
  };
  const auto last = [&](std::size_t k) {  // a size is stored less one
    return steps.make(ptx_op::sub, dtype::u32, {in_.operand(i.operands[k], dtype::u32, i.where), immediate_value(1)});
  };
  const auto store = [&](std::size_t offset, dtype type, const value& v) {
    store_field(h, i.operands[0], offset, type, v);
  };
  switch (field) {
    case map_field::none: return;
    case map_field::global_address:  // may be the first field of 128 cleared bytes, which become a map
      store(offsetof(map, magic), dtype::b32, immediate_value(map::magic_number));
      return store(offsetof(map, address), dtype::b64, in_.operand(i.operands[1], dtype::b64, i.where));
    case map_field::rank:  // the operand is the rank less one
      return store(
          offsetof(map, rank), dtype::u8,
          steps.make(ptx_op::add, dtype::u32, {in_.operand(i.operands[1], dtype::u32, i.where), immediate_value(1)}));
    case map_field::box_dim: return store(offsetof(map, box) + number(5, "0 to 4"), dtype::u8, last(2));
    case map_field::global_dim: return store(offsetof(map, last) + 4 * number(5, "0 to 4"), dtype::b32, last(2));
    case map_field::global_stride: {
      value bytes = in_.operand(i.operands[2], dtype::b64, i.where);
      if (strides_without_low_bits_) bytes = steps.make(ptx_op::shl, dtype::b64, {bytes, immediate_value(4)});
      return store(offsetof(map, strides) + 8 * number(4, "0 to 3"), dtype::b64, bytes);
    }
    case map_field::element_stride:
      return store(offsetof(map, steps) + number(5, "0 to 4"), dtype::u8,
                   in_.operand(i.operands[2], dtype::u32, i.where));
    case map_field::elemtype:
      return store(offsetof(map, type), dtype::u8,
                   immediate_value(static_cast<std::uint8_t>(replaced_types[number(13, "0 to 12")])));
    case map_field::interleave_layout: number(1, "0: interleaved layouts are not supported"); return;
    case map_field::swizzle_mode: return store(offsetof(map, swizzle), dtype::u8, immediate_value(number(4, "0 to 3")));
    case map_field::fill_mode:
      return store(offsetof(map, fills_with_nan), dtype::u8, immediate_value(number(2, "0 or 1")));
  }
}

/// tensormap.cp_fenceproxy: all lanes copy the same 128 bytes from shared to global memory, then release them.
void bulk_translator::copy_map(const hir_instruction& h, const ast_instruction& i) {
  if (i.operands[2].bits != sizeof(isa::tensor_map)) refuse(i, "128 bytes");
  const expansion steps(code_, h);
  constexpr unsigned chunk = 16;
  for (unsigned at = 0; at < sizeof(isa::tensor_map); at += chunk) {
    hir_instruction load = in_place_of(h, ptx_op::ld, dtype::b32, steps.words(4), {});
    load.m.vector = 4;
    load.m.space = state_space::shared;
    load.guard = h.guard;
    in_.address(load, i.operands[1]);
    load.offset += at;
    hir_instruction store = in_place_of(h, ptx_op::st, dtype::b32, {}, {});
    store.m.vector = 4;
    store.m.space = state_space::global;
    store.guard = h.guard;
    in_.address(store, i.operands[0]);
    store.offset += at;
    store.src.insert(store.src.end(), load.dst.begin(), load.dst.end());
    code_.append(std::move(load));
    code_.append(std::move(store));
  }
  hir_instruction fence = in_place_of(h, ptx_op::fence, dtype::none, {}, {});
  fence.m.order = h.m.order;
  fence.m.scope = h.m.scope;
  fence.guard = h.guard;
  code_.append(std::move(fence));
}

}  // namespace heddle::ptx
