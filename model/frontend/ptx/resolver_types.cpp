// SPDX-License-Identifier: MIT
// Types of register operands (PTX ISA, "Operand size exceeding instruction-type size" and "Type checking of instructions").
#include "frontend/ptx/resolver.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

enum class kind : std::uint8_t { untyped, integer, floating, predicate };

kind kind_of(dtype t) {
  switch (t) {
    case dtype::pred: return kind::predicate;
    case dtype::f16:
    case dtype::f32:
    case dtype::f64: return kind::floating;
    case dtype::u8:
    case dtype::s8:
    case dtype::u16:
    case dtype::s16:
    case dtype::u32:
    case dtype::s32:
    case dtype::u64:
    case dtype::s64: return kind::integer;
    default: return kind::untyped;   // bits; packed halves and the other formats without registers of their own
  }
}

/// May a register declared as `reg` stand where an operand of type `t` is expected? `wider`: a register of more bits may, too.
bool agrees(dtype t, dtype reg, bool wider) {
  const kind is = kind_of(reg), wanted = kind_of(t);
  if ((is == kind::predicate) != (wanted == kind::predicate)) return false;
  if (is == kind::predicate) return true;
  const unsigned bytes = isa::size_of(reg), needed = isa::size_of(t);
  if (bytes < needed || (bytes > needed && !wider)) return false;
  if (is == kind::untyped || wanted == kind::untyped || bytes == 2) return true;   // halves live in .u16, too, in older programs
  return is == wanted && (is == kind::integer || bytes == needed);
}

dtype widened(dtype t) {
  switch (t) {
    case dtype::u16: return dtype::u32;
    case dtype::s16: return dtype::s32;
    case dtype::u32: return dtype::u64;
    case dtype::s32: return dtype::s64;
    default: return dtype::none;
  }
}

/// What operation `h` expects of its k-th source or destination; none: it is looked at elsewhere.
dtype wanted_source(const hir_instruction& h, std::size_t k) {
  const dtype t = h.m.type;
  switch (h.op) {
    case ptx_op::add:
    case ptx_op::addc:
    case ptx_op::sub:
    case ptx_op::subc:
    case ptx_op::mul:
    case ptx_op::div:
    case ptx_op::rem:
    case ptx_op::abs:
    case ptx_op::neg:
    case ptx_op::min:
    case ptx_op::max:
    case ptx_op::fma:
    case ptx_op::sqrt:
    case ptx_op::rcp:
    case ptx_op::rsqrt:
    case ptx_op::sin:
    case ptx_op::cos:
    case ptx_op::lg2:
    case ptx_op::ex2:
    case ptx_op::and_:
    case ptx_op::or_:
    case ptx_op::xor_:
    case ptx_op::not_:
    case ptx_op::popc:
    case ptx_op::clz:
    case ptx_op::brev: return h.m.types == 1 ? t : dtype::none;
    case ptx_op::lop3: return k < 3 ? t : k == 4 ? dtype::pred : dtype::none;
    case ptx_op::mad: return k < 2 || h.m.part != modifiers::part_kind::wide ? t : widened(t);
    case ptx_op::bfe: return k == 0 ? t : dtype::u32;
    case ptx_op::bfi: return k < 2 ? t : dtype::u32;
    case ptx_op::prmt: return t;
    case ptx_op::slct: return k < 2 ? t : h.m.type2;
    case ptx_op::set: return k < 2 ? h.m.type2 : dtype::none;
    case ptx_op::shfl: return k == 0 ? dtype::b32 : dtype::none;
    case ptx_op::shl:
    case ptx_op::shr: return k == 0 ? t : dtype::u32;
    case ptx_op::selp: return k < 2 ? t : dtype::pred;
    case ptx_op::setp: return k < 2 ? t : dtype::none;
    case ptx_op::mov: return t;
    case ptx_op::cvt: return h.m.types == 2 ? h.m.type2 : dtype::none;
    default: return dtype::none;
  }
}

dtype wanted_destination(const hir_instruction& h, std::size_t k) {
  switch (h.op) {
    case ptx_op::shfl: return k == 0 ? dtype::b32 : dtype::pred;
    case ptx_op::set: return h.m.type;
    case ptx_op::setp: return dtype::pred;
    case ptx_op::lop3: return k == 0 ? h.m.type : dtype::pred;
    case ptx_op::popc:
    case ptx_op::clz: return dtype::u32;
    case ptx_op::mad:
    case ptx_op::mul: return h.m.part == modifiers::part_kind::wide ? widened(h.m.type) : wanted_source(h, 0);
    case ptx_op::cvt: return h.m.types == 2 ? h.m.type : dtype::none;
    default: return wanted_source(h, 0);
  }
}

}  // namespace

void resolver::check_type(const value& v, dtype wanted, bool wider, const location& where) const {
  if (!v.is_reg() || wanted == dtype::none) return;
  const dtype declared = out_.registers[v.reg].type;
  if (declared == dtype::none || agrees(wanted, declared, wider)) return;
  fail(where, "operand of '" + current_->mnemonic() + "' is a ." + isa::name_of(declared) + " register, expected one for ." + isa::name_of(wanted));
}

void resolver::check_types(const hir_instruction& h, const ast_instruction& i) const {
  const bool converts = h.op == ptx_op::cvt;
  if (h.op == ptx_op::setp && h.dst.size() > 1 && (h.m.type == dtype::f16 || h.m.type == dtype::bf16))
    fail(i.operands[0].where, "'" + i.mnemonic() + "' has one predicate");
  const std::size_t first = i.operands.size() - h.src.size();   // destinations may be written as one pair
  for (std::size_t k = 0; k < h.dst.size(); ++k) check_type(h.dst[k], wanted_destination(h, k), converts, i.operands[0].where);
  for (std::size_t k = 0; k < h.src.size(); ++k) check_type(h.src[k], wanted_source(h, k), converts, i.operands[first + k].where);
}

void resolver::check_element_types(const std::vector<value>& elements, std::size_t from, dtype wanted, bool wider, const location& where) const {
  for (std::size_t k = from; k < elements.size(); ++k) check_type(elements[k], wanted, wider, where);
}

}  // namespace heddle::ptx
