// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/code/machine_operand.h"

namespace heddle::ptx {

using isa::dtype;

unsigned words_of(isa::dtype t) {
  const unsigned bytes = isa::size_of(t);
  return bytes <= 4 ? 1 : bytes / 4;
}

virtual_operand immediate(std::uint64_t bits, unsigned words) {
  virtual_operand o;
  o.kind = isa::operand_kind::immediate;
  o.value = words == 1 ? bits & 0xffffffffu : bits;
  o.count = static_cast<std::uint8_t>(words);
  return o;
}

virtual_operand zero() {
  virtual_operand o;
  o.kind = isa::operand_kind::reg;
  return o;
}

virtual_operand word(const virtual_operand& o, unsigned k) {
  virtual_operand w = o;
  w.count = 1;
  if (o.is_immediate()) {
    w.value = o.value >> (32 * k) & 0xffffffffu;
    if (w.value == 0) return zero();
  } else if (o.is_constant()) {
    w.value = o.value + 4 * k;
  } else if (o.is_reg()) {
    w.part = static_cast<std::uint8_t>(o.part + k);
  }
  return w;
}

bool is_half(dtype t) { return t == dtype::f16 || t == dtype::f16x2 || t == dtype::bf16 || t == dtype::bf16x2; }

virtual_operand minus(virtual_operand o) {
  o.negate = !o.negate;
  return o;
}

}  // namespace heddle::ptx
