// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/matrix/warpgroup_selector.h"

#include "heddle/frontend/ptx/select/matrix/matrix_products.h"
#include "heddle/isa/matrix.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

constexpr register_part nothing{no_register, 0, 0};

opcode opcode_of(dtype a) {
  switch (a) {
    case dtype::e4m3x2:
    case dtype::e5m2x2: return opcode::qgmma;
    case dtype::s8:
    case dtype::u8: return opcode::igmma;
    case dtype::b1: return opcode::bgmma;
    default: return opcode::hgmma;
  }
}

std::uint8_t flags_of(const warpgroup_form& f) {
  namespace gmma = isa::gmma;
  unsigned sub = 0;
  if (f.a_shared) sub |= gmma::a_shared;
  if (f.a_transposed) sub |= gmma::a_transposed;
  if (f.b_transposed) sub |= gmma::b_transposed;
  if (f.a_negated) sub |= gmma::a_negated;
  if (f.b_negated) sub |= gmma::b_negated;
  if (f.sparse) sub |= gmma::sparse;
  if (f.type[1] != f.type[2]) sub |= gmma::b_other;
  return static_cast<std::uint8_t>(sub);
}

/// Multiply-adds of a warp; those of single bits are counted as an eighth.
std::int64_t multiply_adds_of(const warpgroup_form& f) {
  const unsigned depth = f.k / (f.sparse ? 2 : 1) / (f.type[1] == dtype::b1 ? 8 : 1);
  return std::int64_t{isa::gmma::rows} * f.n * depth;
}

}  // namespace

/// a and its metadata in consecutive registers.
virtual_operand warpgroup_selector::factor(const warpgroup_form& form) const {
  if (form.a_shared && !form.sparse) return in_.src(0, dtype::b64);
  const unsigned words = form.a_shared ? 2 : 4, all = words + (form.sparse ? 1 : 0);
  register_part a = out_.temp(all == 3 ? 4 : all == 5 ? 8 : 4);
  a.count = static_cast<std::uint8_t>(all);
  if (form.a_shared) out_.copy({a.reg, 0, 2}, in_.src(0, dtype::b64));
  else
    for (unsigned k = 0; k < 4; ++k) out_.copy({a.reg, static_cast<std::uint8_t>(k), 1}, in_.src(k, dtype::b32));
  if (form.sparse) out_.copy({a.reg, static_cast<std::uint8_t>(words), 1}, in_.src(form.a_shared ? 1 : 4, dtype::b32));
  return a;
}

void warpgroup_selector::multiply(const warpgroup_form& form) {
  const std::size_t b = (form.a_shared ? 1 : 4) + (form.sparse ? 1 : 0), adds = b + 1, first = adds + 1;
  const virtual_predicate added = in_.predicate(in_.now().src[adds]);
  const bool never_added = added.reg == no_register && added.negate;
  const virtual_operand a = factor(form), descriptor = in_.src(b, dtype::b64);
  const register_part d = out_.temp(form.accumulators());
  virtual_operand c;
  if (!never_added) {
    c = d;
    for (unsigned k = 0; k < d.count; ++k)
      out_.copy({d.reg, static_cast<std::uint8_t>(k), 1}, in_.src(first + k, dtype::b32));
  }
  machine_instruction& i = out_.put(opcode_of(form.type[1]), d, {a, descriptor, c, immediate(whole_warp)});
  i.base.sub = flags_of(form);
  i.base.type = form.type[0];
  i.base.src_type = form.type[1];
  i.base.saturate = form.saturate;
  i.base.cmp = static_cast<isa::compare>(form.selector);
  i.base.offset = multiply_adds_of(form);
  chip_.set_sums(i.base);
  i.psrc[0] = added;
  out_.guard(i);
  runs_.spread(d, 0, 1);
}

/// A mark on the last product where it is in the same block, as the chip has it; else an instruction.
void warpgroup_selector::commit() {
  if (in_.now().guard.what == value::kind::none && out_.mark_last_product()) return;
  out_.put(opcode::wgcommit, nothing, {});
}

void warpgroup_selector::select() {
  const warpgroup_form& form = in_.warpgroup();
  const bool registers = form.what == warpgroup_action::increase || form.what == warpgroup_action::decrease;
  if (registers) chip_.require_capability(9);
  else chip_.require_warpgroup_products();
  switch (form.what) {
    case warpgroup_action::multiply: return multiply(form);
    case warpgroup_action::fence: out_.put(opcode::wgarrive, nothing, {}); return;
    case warpgroup_action::commit: return commit();
    case warpgroup_action::wait:
      out_.put(opcode::wgdepbar, nothing, {}).base.sub = static_cast<std::uint8_t>(form.number);
      return;
    case warpgroup_action::increase:
    case warpgroup_action::decrease: {
      machine_instruction& i = out_.put(opcode::setmaxreg, nothing, {});
      i.base.sub = static_cast<std::uint8_t>(form.number / 8);
      i.base.high = form.what == warpgroup_action::increase;
      return;
    }
  }
}

}  // namespace heddle::ptx
