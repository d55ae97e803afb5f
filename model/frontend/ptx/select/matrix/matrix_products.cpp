// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/matrix/matrix_products.h"

#include "heddle/isa/matrix.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

using isa::matrix_shape;

machine_instruction& matrix_products::multiply(opcode op, std::uint8_t sub, dtype type, dtype inputs, register_part d,
                                               virtual_operand a, virtual_operand b, virtual_operand c) {
  machine_instruction& i = out_.put(op, d, {a, b, c, immediate(whole_warp)});
  i.base.sub = sub;
  i.base.type = type;
  i.base.src_type = inputs;
  if (op == opcode::hmma) chip_.set_sums(i.base);
  out_.guard(i);
  return i;
}

/// Splits the product into blocks of eight rows and, within them, steps of four along k.
void matrix_products::multiply_doubles(const matrix_form& form, unsigned a_count, unsigned b_count) {
  const unsigned blocks = form.m / 8;
  register_part d[2];
  for (unsigned block = 0; block < blocks; ++block) {
    virtual_operand sum = runs_.gather(a_count + b_count + 2 * block, 2, 2);
    for (unsigned step = 0; step < b_count; ++step) {
      d[block] = out_.temp(4);
      multiply(opcode::dmma, static_cast<std::uint8_t>(matrix_shape::m8n8k4), dtype::f64, dtype::f64, d[block],
               runs_.gather(step * blocks + block, 1, 2), runs_.gather(a_count + step, 1, 2), sum)
          .base.round = form.round;
      sum = d[block];
    }
  }
  for (unsigned block = 0; block < blocks; ++block) runs_.spread(d[block], 2 * block, 2);
}

}  // namespace heddle::ptx
