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
    {dtype::e4m3x2, 16, 8, 16, opcode::hmma, matrix_shape::m16n8k16, 2, 1, 4, 8, 9},
    {dtype::e4m3x2, 16, 8, 32, opcode::hmma, matrix_shape::m16n8k32, 4, 2, 4, 8, 9},
    {dtype::s4, 8, 8, 32, opcode::imma, matrix_shape::m8n8k16, 1, 1, 2, 7, 5},
    {dtype::s4, 16, 8, 32, opcode::imma, matrix_shape::m16n8k16, 2, 1, 4, 8, 0},
    {dtype::s4, 16, 8, 64, opcode::imma, matrix_shape::m16n8k32, 4, 2, 4, 8, 0},
    {dtype::b1, 8, 8, 128, opcode::bmma, matrix_shape::m8n8k16, 1, 1, 2, 7, 5},
    {dtype::b1, 16, 8, 128, opcode::bmma, matrix_shape::m16n8k16, 2, 1, 4, 8, 0},
    {dtype::b1, 16, 8, 256, opcode::bmma, matrix_shape::m16n8k32, 4, 2, 4, 8, 0},
    {dtype::f64, 8, 8, 4, opcode::dmma, matrix_shape::m8n8k4, 1, 1, 2, 8, 0},
    {dtype::f64, 16, 8, 4, opcode::dmma, matrix_shape::m8n8k4, 2, 1, 4, 9, 0},  // several of the first form
    {dtype::f64, 16, 8, 8, opcode::dmma, matrix_shape::m8n8k4, 4, 2, 4, 9, 0},
    {dtype::f64, 16, 8, 16, opcode::dmma, matrix_shape::m8n8k4, 8, 4, 4, 9, 0}};

/// Those of mma.sp.
constexpr mma_row sparse_rows[] = {{dtype::f16, 16, 8, 16, opcode::hmma, matrix_shape::m16n8k8, 2, 2, 4, 8, 0},
                                   {dtype::f16, 16, 8, 32, opcode::hmma, matrix_shape::m16n8k16, 4, 4, 4, 8, 0},
                                   {dtype::bf16, 16, 8, 16, opcode::hmma, matrix_shape::m16n8k8, 2, 2, 4, 8, 0},
                                   {dtype::bf16, 16, 8, 32, opcode::hmma, matrix_shape::m16n8k16, 4, 4, 4, 8, 0},
                                   {dtype::b32, 16, 8, 8, opcode::hmma, matrix_shape::m16n8k4, 2, 2, 4, 8, 0},
                                   {dtype::b32, 16, 8, 16, opcode::hmma, matrix_shape::m16n8k8, 4, 4, 4, 8, 0},
                                   {dtype::s8, 16, 8, 32, opcode::imma, matrix_shape::m16n8k16, 2, 2, 4, 8, 0},
                                   {dtype::s8, 16, 8, 64, opcode::imma, matrix_shape::m16n8k32, 4, 4, 4, 8, 0},
                                   {dtype::e4m3x2, 16, 8, 64, opcode::hmma, matrix_shape::m16n8k32, 4, 4, 4, 8, 9}};

const mma_row* row_of(const matrix_form& f, dtype inputs) {
  const auto find = [&](const auto& rows) -> const mma_row* {
    for (const mma_row& r : rows)
      if (r.inputs == inputs && f.is_shape(r.m, r.n, r.k)) return &r;
    return nullptr;
  };
  return f.sparse ? find(sparse_rows) : find(mma_rows);
}

bool is_eighths(dtype t) { return t == dtype::e4m3x2 || t == dtype::e5m2x2; }
bool is_nibble(dtype t) { return t == dtype::s4 || t == dtype::u4; }

/// The type by which the tables name a and b.
dtype inputs_of(dtype t) {
  return is_byte(t) ? dtype::s8 : is_nibble(t) ? dtype::s4 : is_eighths(t) ? dtype::e4m3x2 : t;
}

bool types_agree(const matrix_form& f) {
  const dtype d = f.type[0], a = f.type[1], b = f.type[2], c = f.type[3];
  if (f.types != 4 || d != c || inputs_of(a) != inputs_of(b)) return false;
  if ((a == dtype::b1) != f.counts_bits) return false;
  if (is_byte(a) || is_nibble(a) || a == dtype::b1) return d == dtype::s32;
  if (a == dtype::f16 || is_eighths(a)) return d == dtype::f16 || d == dtype::f32;
  return a == dtype::f64 ? d == dtype::f64 : d == dtype::f32;
}

}  // namespace

void tensor_selector::multiply() {
  const matrix_form& form = in_.matrix();
  const mma_row* row = row_of(form, inputs_of(form.type[1]));
  const bool pairs = row && row->op == opcode::hmma && row->shape == matrix_shape::m8n8k4;
  if (!row || !types_agree(form) || form.layouts != 2 || (!pairs && (form.column_major[0] || !form.column_major[1])))
    in_.unsupported();
  chip_.require_capability(row->major, row->minor);
  if (form.counts_bits && !form.differ) chip_.require_capability(8);
  if (row->op == opcode::dmma) chip_.require_fp64();
  const unsigned words = row->op == opcode::dmma ? 2 : 1,
                 accumulators = form.type[0] == dtype::f16 ? row->c / 2 : row->c;
  if (in_.now().dst.size() != accumulators ||
      in_.now().src.size() != row->a + row->b + accumulators + (form.sparse ? 1 : 0))
    in_.fail("'" + in_.now().source->mnemonic() + "' needs " + std::to_string(row->a) + ", " + std::to_string(row->b) +
             " and " + std::to_string(accumulators) + " registers for a, b and the accumulators");
  if (row->op == opcode::dmma) return matrices_.multiply_doubles(form, row->a, row->b);
  const virtual_operand a = form.sparse ? sparse_factor(row->a, row->a + row->b + accumulators)
                                        : runs_.factor(0, row->a),
                        b = runs_.factor(row->a, row->b);
  std::uint8_t sub = static_cast<std::uint8_t>(row->shape);
  if (form.type[1] != form.type[2]) sub |= isa::matrix::b_other_sign;
  if (form.sparse) sub |= isa::matrix::sparse;
  if (form.differ) sub |= isa::matrix::exclusive;
  if (pairs)
    sub = static_cast<std::uint8_t>(sub | (form.column_major[0] ? isa::matrix::a_col : 0) |
                                    (form.column_major[1] ? 0 : isa::matrix::b_row));
  // Eight f32 accumulators are the results of two instructions.
  const unsigned parts = accumulators == 8 ? 2 : 1, each = accumulators / parts;
  register_part d[2];
  for (unsigned p = 0; p < parts; ++p) {
    d[p] = out_.temp(each * words);
    const virtual_operand c = runs_.gather(row->a + row->b + p * each, each, words);
    machine_instruction& i = matrices_.multiply(row->op, static_cast<std::uint8_t>(p ? sub | isa::matrix::upper : sub),
                                                form.type[0], form.type[1], d[p], a, b, c);
    i.base.saturate = form.saturate;
    i.base.cmp = static_cast<isa::compare>(form.selector);
  }
  for (unsigned p = 0; p < parts; ++p) runs_.spread(d[p], p * each, words);
}

/// The registers of a sparse a, and behind them that of its metadata.
virtual_operand tensor_selector::sparse_factor(unsigned words, unsigned metadata) {
  register_part all = out_.temp(words == 2 ? 4 : 8);
  all.count = static_cast<std::uint8_t>(words + 1);
  for (unsigned k = 0; k <= words; ++k)
    out_.copy({all.reg, static_cast<std::uint8_t>(k), 1}, in_.src(k < words ? k : metadata, dtype::b32));
  return all;
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
