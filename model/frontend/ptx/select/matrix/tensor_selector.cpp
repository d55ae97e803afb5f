// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/select/matrix/tensor_selector.h"

#include "heddle/isa/matrix.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

using isa::dtype;
using isa::opcode;

namespace {

using isa::is_byte;
using isa::matrix_shape;

/// The forms of mma.sync, with the number of registers of each operand (f64: pairs) and the required compute
/// capability.
struct mma_row {
  dtype inputs;
  unsigned m, n, k;
  opcode op;
  matrix_shape shape;
  unsigned a, b, c;  // c: of f32, s32 or f64
  unsigned major, minor;
};
constexpr mma_row mma_rows[] = {
    {dtype::f16, 8, 8, 4, opcode::hmma, matrix_shape::m8n8k4, 2, 2, 8, 7, 0},
    {dtype::f16, 16, 8, 8, opcode::hmma, matrix_shape::m16n8k8, 2, 1, 4, 7, 5},
    {dtype::f16, 16, 8, 16, opcode::hmma, matrix_shape::m16n8k16, 4, 2, 4, 8, 0},
    {dtype::bf16, 16, 8, 8, opcode::hmma, matrix_shape::m16n8k8, 2, 1, 4, 8, 0},
    {dtype::bf16, 16, 8, 16, opcode::hmma, matrix_shape::m16n8k16, 4, 2, 4, 8, 0},
    {dtype::b32, 16, 8, 4, opcode::hmma, matrix_shape::m16n8k4, 2, 1, 4, 8, 0},
    {dtype::b32, 16, 8, 8, opcode::hmma, matrix_shape::m16n8k8, 4, 2, 4, 8, 0},
    {dtype::s8, 8, 8, 16, opcode::imma, matrix_shape::m8n8k16, 1, 1, 2, 7, 5},
    {dtype::s8, 16, 8, 16, opcode::imma, matrix_shape::m16n8k16, 2, 1, 4, 8, 0},
    {dtype::s8, 16, 8, 32, opcode::imma, matrix_shape::m16n8k32, 4, 2, 4, 8, 0},
    {dtype::f64, 8, 8, 4, opcode::dmma, matrix_shape::m8n8k4, 1, 1, 2, 8, 0},
    {dtype::f64, 16, 8, 4, opcode::dmma, matrix_shape::m8n8k4, 2, 1, 4, 9, 0},  // several of the first form
    {dtype::f64, 16, 8, 8, opcode::dmma, matrix_shape::m8n8k4, 4, 2, 4, 9, 0},
    {dtype::f64, 16, 8, 16, opcode::dmma, matrix_shape::m8n8k4, 8, 4, 4, 9, 0}};

bool types_agree(const matrix_form& f) {
  const dtype d = f.type[0], a = f.type[1], b = f.type[2], c = f.type[3];
  if (f.types != 4 || d != c || (is_byte(a) ? !is_byte(b) : a != b)) return false;
  if (is_byte(a)) return d == dtype::s32;
  if (a == dtype::f16) return d == dtype::f16 || d == dtype::f32;
  return a == dtype::f64 ? d == dtype::f64 : d == dtype::f32;
}

}  // namespace

void tensor_selector::multiply() {
  const matrix_form& form = in_.matrix();
  const dtype inputs = is_byte(form.type[1]) ? dtype::s8 : form.type[1];
  const mma_row* row = nullptr;
  for (const mma_row& r : mma_rows)
    if (r.inputs == inputs && form.is_shape(r.m, r.n, r.k)) row = &r;
  const bool pairs = row && row->op == opcode::hmma && row->shape == matrix_shape::m8n8k4;
  if (!row || !types_agree(form) || form.layouts != 2 || (!pairs && (form.column_major[0] || !form.column_major[1])))
    in_.unsupported();
  chip_.require_capability(row->major, row->minor);
  if (row->op == opcode::dmma) chip_.require_fp64();
  const unsigned words = row->op == opcode::dmma ? 2 : 1,
                 accumulators = form.type[0] == dtype::f16 ? row->c / 2 : row->c;
  if (in_.now().dst.size() != accumulators || in_.now().src.size() != row->a + row->b + accumulators)
    in_.fail("'" + in_.now().source->mnemonic() + "' needs " + std::to_string(row->a) + ", " + std::to_string(row->b) +
             " and " + std::to_string(accumulators) + " registers for a, b and the accumulators");
  if (row->op == opcode::dmma) return matrices_.multiply_doubles(form, row->a, row->b);
  const virtual_operand a = runs_.factor(0, row->a), b = runs_.factor(row->a, row->b);
  std::uint8_t sub = static_cast<std::uint8_t>(row->shape);
  if (row->op == opcode::imma && form.type[1] != form.type[2]) sub |= isa::matrix::b_other_sign;
  if (pairs)
    sub = static_cast<std::uint8_t>(sub | (form.column_major[0] ? isa::matrix::a_col : 0) |
                                    (form.column_major[1] ? 0 : isa::matrix::b_row));
  // Eight f32 accumulators are the results of two instructions.
  const unsigned parts = accumulators == 8 ? 2 : 1, each = accumulators / parts;
  register_part d[2];
  for (unsigned p = 0; p < parts; ++p) {
    d[p] = out_.temp(each * words);
    const virtual_operand c = runs_.gather(row->a + row->b + p * each, each, words);
    matrices_
        .multiply(row->op, static_cast<std::uint8_t>(p ? sub | isa::matrix::upper : sub), form.type[0], form.type[1],
                  d[p], a, b, c)
        .base.saturate = form.saturate;
  }
  for (unsigned p = 0; p < parts; ++p) runs_.spread(d[p], p * each, words);
}

void tensor_selector::load_matrix() {
  const matrix_form& form = in_.matrix();
  if (form.m != 8 || form.n != 8 || form.types != 1 || form.type[0] != dtype::b16) in_.unsupported();
  chip_.require_capability(7, 5);
  in_.need(1);
  if (in_.now().dst.size() != form.count)
    in_.fail("'" + in_.now().source->mnemonic() + "' needs " + std::to_string(form.count) + " registers");
  virtual_operand address =
      in_.to_operand(in_.now().src[0], dtype::b32);  // shared memory and its window are below 4 GiB
  if (form.space != state_space::shared) {           // a generic address: shared memory begins at its window
    virtual_operand window;
    window.kind = isa::operand_kind::constant;
    window.value = isa::bank0::shared_window;
    window.negate = true;
    const register_part t = out_.temp();
    out_.put(opcode::iadd3, t, {word(address, 0), window, zero()});
    address = t;
  }
  const register_part d = out_.temp(form.count);
  machine_instruction& i =
      out_.put(opcode::ldsm, d, {address, virtual_operand(), virtual_operand(), immediate(whole_warp)});
  i.base.mem_space = isa::space::shared;
  i.base.type = dtype::b128;
  i.base.offset = in_.now().offset;
  i.base.sub = static_cast<std::uint8_t>(form.count | (form.transposed ? isa::matrix::transposed : 0));
  out_.guard(i);
  runs_.spread(d, 0, 1);
}

void tensor_selector::transpose_matrix() {
  const matrix_form& form = in_.matrix();
  if (form.m != 8 || form.n != 8 || !form.transposed || form.types != 1 || form.type[0] != dtype::b16)
    in_.unsupported();
  chip_.require_capability(7, 5);
  if (in_.now().dst.size() != 1 || in_.now().src.size() != 1)
    in_.fail("'" + in_.now().source->mnemonic() + "' needs two registers");
  const register_part d = runs_.part_of_dst(0, 1);
  out_.put(opcode::movm, d, {in_.src(0, dtype::b32), virtual_operand(), virtual_operand(), immediate(whole_warp)});
}

}  // namespace heddle::ptx
