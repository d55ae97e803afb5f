// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/matrix/wmma_selector.h"

#include "heddle/isa/matrix.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

using isa::is_byte;
using isa::matrix_shape;

}  // namespace

void wmma_selector::select() {
  const matrix_form& form = in_.matrix();
  const bool multiplies = form.what == matrix_form::action::multiply;
  const dtype t = multiplies ? (form.types == 2 ? dtype::f16 : form.type[1]) : form.type[0];
  const bool small = form.is_shape(8, 8, 4), shallow = form.is_shape(16, 16, 8);
  const bool deep = form.is_shape(16, 16, 16) || form.is_shape(32, 8, 16) || form.is_shape(8, 32, 16);
  const bool accumulator = !multiplies && (form.which == 'c' || form.which == 'd');
  const bool fits = small     ? t == dtype::f64
                    : shallow ? t == (accumulator ? dtype::f32 : dtype::b32)
                              : deep && (accumulator ? t == dtype::f16 || t == dtype::f32 || t == dtype::s32
                                                     : t == dtype::f16 || t == dtype::bf16 || is_byte(t));
  if (!fits) in_.unsupported();
  if (small || shallow || t == dtype::bf16) chip_.require_capability(8);
  else if (is_byte(t) || t == dtype::s32) chip_.require_capability(7, 2);
  else chip_.require_capability(7);
  if (t == dtype::f64) chip_.require_fp64();
  multiplies ? wmma_multiply(form) : fragments_.access(form);
}

/// An accumulator of four f32 from source `first` on, unpacked from halves if `halves`.
virtual_operand wmma_selector::accumulators(std::size_t first, bool halves) {
  if (!halves) return runs_.gather(first, 4, 1);
  const register_part all = out_.temp(4);
  for (unsigned e = 0; e < 4; ++e) {
    virtual_operand half = in_.src(first + e / 2, dtype::b32);
    if (e % 2) {
      const register_part high = out_.temp();
      out_.put(opcode::prmt, high, {half, immediate(0x4432), zero()});
      half = high;
    }
    machine_instruction& i = out_.put(opcode::f2f, {all.reg, static_cast<std::uint8_t>(e), 1}, {half});
    i.base.type = dtype::f32;
    i.base.src_type = dtype::f16;
  }
  return all;
}

/// One product of 16 rows and 8 columns into d; in two steps on chips before 8.0.
void wmma_selector::wmma_block(const block_product& p, register_part d) {
  using isa::matrix::b_other_sign;
  const bool newer = chip_.has_capability(8, 0);
  const std::uint8_t sign = p.other_sign ? b_other_sign : 0;
  const auto at = [](const virtual_operand& o, unsigned first, unsigned count) {
    virtual_operand part = o;
    part.part = static_cast<std::uint8_t>(o.part + first);
    part.count = static_cast<std::uint8_t>(count);
    return part;
  };
  const auto sub = [&](matrix_shape s) { return static_cast<std::uint8_t>(static_cast<std::uint8_t>(s) | sign); };
  if (is_byte(p.inputs)) {
    if (newer) {
      matrices_.multiply(opcode::imma, sub(matrix_shape::m16n8k16), p.type, p.inputs, d, p.a, p.b, p.c).base.saturate =
          p.saturate;
      return;
    }
    for (unsigned h = 0; h < 2; ++h)  // rows 0 to 7 and 8 to 15
      matrices_
          .multiply(opcode::imma, sub(matrix_shape::m8n8k16), p.type, p.inputs,
                    {d.reg, static_cast<std::uint8_t>(2 * h), 2}, at(p.a, h, 1), p.b, at(p.c, 2 * h, 2))
          .base.saturate = p.saturate;
    return;
  }
  if (p.inputs == dtype::b32 || newer) {
    const matrix_shape shape = p.inputs == dtype::b32 ? matrix_shape::m16n8k8 : matrix_shape::m16n8k16;
    matrices_.multiply(opcode::hmma, sub(shape), p.type, p.inputs, d, p.a, p.b, p.c);
    return;
  }
  const register_part half = out_.temp(d.count);
  matrices_.multiply(opcode::hmma, sub(matrix_shape::m16n8k8), p.type, p.inputs, half, at(p.a, 0, 2), at(p.b, 0, 1),
                     p.c);
  matrices_.multiply(opcode::hmma, sub(matrix_shape::m16n8k8), p.type, p.inputs, d, at(p.a, 2, 2), at(p.b, 1, 1), half);
}

void wmma_selector::wmma_multiply(const matrix_form& form) {
  const bool short_form = form.types == 2, transposed = computed_transposed(form), square = form.m == 16;
  if ((form.types != 2 && form.types != 4) || form.layouts != 2) in_.unsupported();
  const dtype d_type = form.type[0], c_type = form.type[short_form ? 1 : 3];
  const dtype a_type = short_form ? dtype::f16 : form.type[1], b_type = short_form ? dtype::f16 : form.type[2];
  const auto is_half = [](dtype t) { return t == dtype::f16; };
  const dtype sum = is_byte(a_type) ? dtype::s32 : a_type == dtype::f64 ? dtype::f64 : dtype::f32;
  const auto holds = [&](dtype t) { return t == sum || (a_type == dtype::f16 && is_half(t)); };
  if (!holds(d_type) || !holds(c_type) || (is_byte(a_type) ? !is_byte(b_type) : a_type != b_type)) in_.unsupported();
  if (a_type == dtype::f64) {
    if (in_.now().dst.size() != 2 || in_.now().src.size() != 4)
      in_.fail("'" + in_.now().source->mnemonic() + "' needs 1, 1 and 2 registers");
    return matrices_.multiply_doubles(form, 1, 1);
  }
  // Numbers of registers: a block of 16 rows of the first factor, a block of 8 columns of the second, and the
  // fragments.
  const unsigned tall = is_byte(a_type) ? 2 : 4, wide = tall / 2;
  const unsigned a_registers = a_type == dtype::f16 ? 8 : transposed ? wide : square ? tall : 2 * tall;
  const unsigned b_registers = a_type == dtype::f16 ? 8 : transposed ? 2 * tall : square ? 2 * wide : wide;
  const unsigned c_each = is_half(c_type) ? 2 : 4, d_each = is_half(d_type) ? 2 : 4;
  const std::size_t c_first = a_registers + b_registers;
  if (in_.now().dst.size() != 2 * d_each || in_.now().src.size() != c_first + 2 * c_each)
    in_.fail("'" + in_.now().source->mnemonic() + "' needs " + std::to_string(a_registers) + ", " +
             std::to_string(b_registers) + ", " + std::to_string(2 * c_each) + " and " + std::to_string(2 * d_each) +
             " registers for a, b, c and d");
  const std::size_t first = transposed ? a_registers : 0, second = transposed ? 0 : a_registers;
  block_product p;
  p.inputs = transposed ? b_type : a_type;
  p.other_sign = a_type != b_type;
  p.saturate = form.saturate;
  p.type = is_half(d_type) && is_half(c_type) ? dtype::f16 : sum;
  register_part d[2];
  for (unsigned block = 0; block < 2; ++block) {
    p.a = square && block ? p.a : runs_.factor(first + (square ? 0 : block * tall), tall);
    p.b = !square && block ? p.b : runs_.factor(second + (square ? block * wide : 0), wide);
    p.c = p.type == dtype::f16 ? runs_.gather(c_first + 2 * block, 2, 1)
                               : accumulators(c_first + block * c_each, is_half(c_type));
    d[block] = out_.temp(p.type == dtype::f16 ? 2 : 4);
    wmma_block(p, d[block]);
  }
  for (unsigned block = 0; block < 2; ++block) {
    if (!is_half(d_type) || p.type == dtype::f16) {
      runs_.spread(d[block], block * d_each, 1);
      continue;
    }
    for (unsigned e = 0; e < 2; ++e) {
      machine_instruction& i = out_.put(opcode::f2f, runs_.part_of_dst(block * 2 + e, 1),
                                        {word(d[block], 2 * e + 1), word(d[block], 2 * e)});
      i.base.type = dtype::f16x2;
      i.base.src_type = dtype::f32;
    }
  }
}

}  // namespace heddle::ptx
