// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/stack_translator.h"

#include <utility>

namespace heddle::ptx {

void stack_translator::check(const hir_instruction& h, const ast_instruction& i) const {
  if (i.operands.size() < (h.op == ptx_op::alloca_ ? 2u : 1u) || h.guard.what != value::kind::none)
    code_.fail(i.where, "unsupported form of instruction '" + i.mnemonic() + "'");
  if (h.op == ptx_op::alloca_ && i.operands.size() > 2) {
    const std::uint64_t align = i.operands[2].bits;
    if (align == 0 || (align & (align - 1)) != 0 || align >> 31 != 0)
      code_.fail(i.operands[2].where,
                 "alignment " + i.operands[2].text + " in '" + i.mnemonic() + "', expected a power of two");
  }
}

void stack_translator::restore(const hir_instruction& h, const ast_instruction& i, const value& top) {
  hir_instruction narrow = h;
  narrow.op = ptx_op::cvt;
  narrow.m.type2 = h.m.type;
  narrow.m.type = isa::dtype::u32;
  narrow.m.types = 2;
  narrow.dst = {top};
  narrow.src = {in_.operand(i.operands[0], isa::dtype::u64, i.where)};
  code_.append(std::move(narrow));
}

void stack_translator::translate(const hir_instruction& h, const ast_instruction& i) {
  check(h, i);
  const value top = stack_.pointer();
  if (h.op == ptx_op::stackrestore) return restore(h, i, top);
  const value d = in_.destination(i.operands[0], i.where);
  hir_instruction read =
      new_instruction(ptx_op::cvt, isa::size_of(h.m.type) == 8 ? isa::dtype::u64 : isa::dtype::u32, {d}, {top});
  read.m.type2 = isa::dtype::u32;
  read.m.types = 2;
  if (h.op == ptx_op::stacksave) return code_.append(std::move(read));
  allocate(h, i, top, std::move(read));
}

/// alloca. `read` reads the address of the memory, the top of the stack before.
void stack_translator::allocate(const hir_instruction& h, const ast_instruction& i, const value& top,
                                hir_instruction read) {
  const value size = in_.operand(i.operands[1], isa::dtype::u64, i.where);
  const value bytes = register_value(code_.new_register(1, 32)), room = register_value(code_.new_register(1, 32));
  const value full = register_value(code_.new_register(0, 1));
  // A size beyond any stack is limited to an impossible size; sizes are rounded up to 16 bytes.
  hir_instruction least = new_instruction(
      ptx_op::min, isa::size_of(h.m.type) == 8 ? isa::dtype::u64 : isa::dtype::u32,
      {register_value(code_.new_register(isa::size_of(h.m.type) == 8 ? 2 : 1, isa::size_of(h.m.type) * 8))},
      {size, immediate_value(1u << 20)});
  hir_instruction cut = new_instruction(ptx_op::cvt, isa::dtype::u32, {bytes}, {least.dst[0]});
  cut.m.type2 = least.m.type;
  cut.m.types = 2;
  code_.append(std::move(least));
  code_.append(std::move(cut));
  code_.append(new_instruction(ptx_op::add, isa::dtype::u32, {bytes}, {bytes, immediate_value(15)}));
  code_.append(new_instruction(ptx_op::and_, isa::dtype::b32, {bytes}, {bytes, immediate_value(0xfffffff0u)}));
  code_.append(new_instruction(ptx_op::sub, isa::dtype::u32, {room}, {stack_.limit(), top}));
  hir_instruction test = new_instruction(ptx_op::setp, isa::dtype::u32, {full}, {bytes, room});
  test.m.cmp = isa::compare::gt;
  code_.append(std::move(test));
  hir_instruction trap = new_instruction(ptx_op::trap, isa::dtype::none, {}, {});
  trap.m.sub = isa::trap_stack_overflow;
  trap.guard = full;
  code_.append(std::move(trap));
  code_.append(std::move(read));
  code_.append(new_instruction(ptx_op::add, isa::dtype::u32, {top}, {top, bytes}));
}

}  // namespace heddle::ptx
