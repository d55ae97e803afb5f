// SPDX-License-Identifier: MIT
#include "heddle/isa/imad_form.h"

namespace heddle::isa {

namespace {

bool is_zero_register(const operand& o) { return o.kind == operand_kind::reg && o.reg == rz; }

bool is_power_of_two(const operand& o) {
  const auto value = static_cast<std::uint32_t>(o.value);
  return o.kind == operand_kind::immediate && value != 0 && (value & (value - 1)) == 0;
}

}  // namespace

imad_form form_of(const instruction& i) {
  if (i.op != opcode::imad || i.wide || i.high || i.extended || i.pdst[0] != pt) return imad_form::multiply;
  if (is_zero_register(i.src[0]) && is_zero_register(i.src[1])) return imad_form::move;
  if (!is_power_of_two(i.src[1])) return imad_form::multiply;
  if (static_cast<std::uint32_t>(i.src[1].value) == 1) return imad_form::sum;
  return is_zero_register(i.src[2]) ? imad_form::shift : imad_form::multiply;
}

const operand* copied_by(const instruction& i) {
  if (i.op == opcode::mov) return &i.src[0];
  return form_of(i) == imad_form::move ? &i.src[2] : nullptr;
}

}  // namespace heddle::isa
