// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/family/warpgroup_translator.h"

#include <utility>

namespace heddle::ptx {

using isa::dtype;

void warpgroup_translator::need(const ast_instruction& i, std::size_t operands) const {
  if (i.operands.size() < operands) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  if (i.operands.size() > operands)
    code_.fail(i.operands[operands].where, "'" + i.mnemonic() + "' with too many operands");
}

std::uint64_t warpgroup_translator::literal(const ast_instruction& i, std::size_t k) const {
  const ast_operand& o = i.operands[k];
  if (o.what != ast_operand::kind::integer)
    code_.fail(o.where, "'" + o.text + "' in '" + i.mnemonic() + "', expected a literal");
  return o.bits;
}

/// A source of `words` 32-bit words in a register.
void warpgroup_translator::read(hir_instruction& h, const ast_instruction& i, const ast_operand& o, unsigned words) {
  const value v = in_.operand(o, words == 2 ? dtype::b64 : dtype::b32, i.where);
  if (!v.is_reg() || v.negate || code_.registers()[v.reg].words != words)
    code_.fail(o.where, "'" + o.text + "' in '" + i.mnemonic() + "', expected a register of " +
                            std::to_string(32 * words) + " bits");
  h.src.push_back(v);
}

void warpgroup_translator::accumulators(hir_instruction& h, const ast_instruction& i, const warpgroup_form& form) {
  const ast_operand& o = i.operands[0];
  if (o.what != ast_operand::kind::vector || o.list.size() != form.accumulators())
    code_.fail(o.where, "'" + i.mnemonic() + "' needs " + std::to_string(form.accumulators()) +
                            " registers for the accumulators, in {…}");
  in_.elements(o, dtype::b32, h.dst, true, i.where);
  for (const value& d : h.dst) {
    if (!d.is_reg() || code_.registers()[d.reg].words != 1)
      code_.fail(o.where, "accumulators of '" + i.mnemonic() + "' are registers of 32 bits");
    h.src.push_back(d);
  }
}

/// a: four registers, or a descriptor.
void warpgroup_translator::factor(hir_instruction& h, const ast_instruction& i, const ast_operand& o) {
  if (o.what != ast_operand::kind::vector) return read(h, i, o, 2);
  if (o.list.size() != 4) code_.fail(o.where, "'" + i.mnemonic() + "' needs four registers for a");
  for (const ast_operand& e : o.list) read(h, i, e, 1);
}

/// Signs, then whether a and b in shared memory are transposed.
void warpgroup_translator::immediates(const ast_instruction& i, std::size_t first, warpgroup_form& form) {
  const unsigned count = form.immediates();
  const auto sign = [&](std::size_t k) {
    const std::uint64_t v = literal(i, k);
    if (v != 1 && v != ~std::uint64_t{0} && v != 0xffffffffu)
      code_.fail(i.operands[k].where, "'" + i.operands[k].text + "' in '" + i.mnemonic() + "', expected 1 or -1");
    return v != 1;
  };
  const auto flag = [&](std::size_t k) {
    const std::uint64_t v = literal(i, k);
    if (v > 1)
      code_.fail(i.operands[k].where, "'" + i.operands[k].text + "' in '" + i.mnemonic() + "', expected 0 or 1");
    return v == 1;
  };
  if (count >= 2) form.a_negated = sign(first), form.b_negated = sign(first + 1);
  if (count == 4) form.a_transposed = flag(first + 2);
  if (count >= 3) form.b_transposed = flag(first + count - 1);
}

void warpgroup_translator::multiply(hir_instruction& h, const ast_instruction& i, warpgroup_form& form) {
  if (i.operands.size() < 4) code_.fail(i.where, "'" + i.mnemonic() + "' with too few operands");
  form.a_shared = i.operands[1].what != ast_operand::kind::vector;
  const std::size_t scale = form.sparse ? 5 : 3;
  need(i, scale + 1 + form.immediates());
  factor(h, i, i.operands[1]);
  if (form.sparse) {
    read(h, i, i.operands[3], 1);
    const std::uint64_t selector = literal(i, 4);
    if (selector > 3) code_.fail(i.operands[4].where, "'" + i.operands[4].text + "', expected 0 to 3");
    form.selector = static_cast<unsigned>(selector);
  }
  read(h, i, i.operands[2], 2);
  const value adds = in_.operand(i.operands[scale], dtype::pred, i.where);
  const bool predicate = adds.is_reg() && code_.registers()[adds.reg].words == 0;
  if (!predicate && !adds.is_immediate())
    code_.fail(i.operands[scale].where,
               "'" + i.operands[scale].text + "' in '" + i.mnemonic() + "', expected a predicate");
  h.src.push_back(adds);
  immediates(i, scale + 1, form);
  accumulators(h, i, form);
}

void warpgroup_translator::translate(hir_instruction h, const ast_instruction& i) {
  warpgroup_form form = decode_warpgroup_form(i, file_);
  switch (form.what) {
    case warpgroup_action::multiply: multiply(h, i, form); break;
    case warpgroup_action::fence:
    case warpgroup_action::commit: need(i, 0); break;
    case warpgroup_action::wait:
    case warpgroup_action::increase:
    case warpgroup_action::decrease: {
      need(i, 1);
      const std::uint64_t v = literal(i, 0);
      const bool registers = form.what != warpgroup_action::wait;
      if (registers && (v < 24 || v > 256 || v % 8 != 0))
        code_.fail(i.operands[0].where,
                   "'" + i.operands[0].text + "' in '" + i.mnemonic() + "', expected a multiple of 8 from 24 to 256");
      form.number = static_cast<unsigned>(std::min<std::uint64_t>(v, registers ? 256 : 255));
      break;
    }
  }
  h.form = static_cast<std::uint32_t>(out_.warpgroup_forms.size());
  out_.warpgroup_forms.push_back(form);
  code_.append(std::move(h));
}

}  // namespace heddle::ptx
