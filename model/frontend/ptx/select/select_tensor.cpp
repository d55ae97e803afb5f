// SPDX-License-Identifier: MIT
// mma, ldmatrix, movmatrix: operands are gathered in aligned register pairs and quads, as the machine instructions
// require.
#include <algorithm>
#include <functional>

#include "heddle/frontend/ptx/select/selector.h"
#include "heddle/isa/matrix.h"
#include "heddle/isa/program.h"

namespace heddle::ptx {

namespace {

using isa::dtype;
using isa::is_byte;
using isa::matrix_shape;
using isa::opcode;

constexpr std::uint32_t whole_warp = 0xffffffffu;

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

register_part selector::part_of_dst(std::size_t k, unsigned words) const {
  register_part r{no_register, 0, static_cast<std::uint8_t>(words)};
  const value& v = now_->dst.at(k);
  if (!v.is_reg()) return r;
  if (f_.registers[v.reg].words != words) fail("destination of '" + now_->source->mnemonic() + "' has the wrong width");
  r.reg = v.reg;
  return r;
}

/// Gathers sources from `first` on, of `words` words each, in one register, pair or quad.
selector::operand selector::gather(std::size_t first, std::size_t count, unsigned words) {
  const dtype t = words == 2 ? dtype::b64 : dtype::b32;
  if (count == 1) return src(first, t);
  const register_part all = temp(static_cast<unsigned>(count) * words);
  for (std::size_t k = 0; k < count; ++k)
    copy({all.reg, static_cast<std::uint8_t>(k * words), static_cast<std::uint8_t>(words)}, src(first + k, t));
  return all;
}

/// As gather(), for a factor, which is usually used in several products: the result is reused within a block until one
/// of the sources is written.
selector::operand selector::factor(std::size_t first, std::size_t count) {
  if (factors_block_ != block_) factors_.clear();
  factors_block_ = block_;
  std::vector<std::uint32_t> sources;
  for (std::size_t k = first; k < first + count; ++k) {
    const value& v = now_->src.at(k);
    if (definition(v) == nullptr || v.negate) return gather(first, count, 1);
    sources.push_back(v.reg);
  }
  const auto unchanged = [&](std::uint32_t reg, const hir_instruction* since) {
    const std::less<const hir_instruction*> before;
    return before(definitions_[reg], since) || !before(definitions_[reg], now_);
  };
  for (const gathered& g : factors_)
    if (g.sources == sources &&
        std::all_of(sources.begin(), sources.end(), [&](std::uint32_t r) { return unchanged(r, g.at); }))
      return g.all;
  const operand all = gather(first, count, 1);
  factors_.push_back({std::move(sources), now_, all});
  return all;
}

/// Copies the words of a register, pair or quad to the destinations from `first` on.
void selector::spread(register_part from, std::size_t first, unsigned words) {
  for (unsigned k = 0; k * words < from.count; ++k)
    copy(part_of_dst(first + k, words),
         register_part{from.reg, static_cast<std::uint8_t>(from.part + k * words), static_cast<std::uint8_t>(words)});
}

machine_instruction& selector::multiply_matrices(opcode op, std::uint8_t sub, dtype type, dtype inputs, register_part d,
                                                 operand a, operand b, operand c) {
  machine_instruction& i = put(op, d, {a, b, c, immediate(whole_warp)});
  i.base.sub = sub;
  i.base.type = type;
  i.base.src_type = inputs;
  if (now_->guard.what != value::kind::none) i.guard = {now_->guard.reg, now_->guard.negate};
  return i;
}

void selector::matrix_multiply() {
  const matrix_form form = decode_matrix_form(*now_->source, file_);
  const dtype inputs = is_byte(form.type[1]) ? dtype::s8 : form.type[1];
  const mma_row* row = nullptr;
  for (const mma_row& r : mma_rows)
    if (r.inputs == inputs && form.is_shape(r.m, r.n, r.k)) row = &r;
  const bool pairs = row && row->op == opcode::hmma && row->shape == matrix_shape::m8n8k4;
  if (!row || !types_agree(form) || form.layouts != 2 || (!pairs && (form.column_major[0] || !form.column_major[1])))
    unsupported();
  require_capability(row->major, row->minor);
  if (row->op == opcode::dmma) require_fp64();
  const unsigned words = row->op == opcode::dmma ? 2 : 1,
                 accumulators = form.type[0] == dtype::f16 ? row->c / 2 : row->c;
  if (now_->dst.size() != accumulators || now_->src.size() != row->a + row->b + accumulators)
    fail("'" + now_->source->mnemonic() + "' needs " + std::to_string(row->a) + ", " + std::to_string(row->b) +
         " and " + std::to_string(accumulators) + " registers for a, b and the accumulators");
  if (row->op == opcode::dmma) return multiply_doubles(form, row->a, row->b);
  const operand a = factor(0, row->a), b = factor(row->a, row->b);
  std::uint8_t sub = static_cast<std::uint8_t>(row->shape);
  if (row->op == opcode::imma && form.type[1] != form.type[2]) sub |= isa::matrix::b_other_sign;
  if (pairs)
    sub = static_cast<std::uint8_t>(sub | (form.column_major[0] ? isa::matrix::a_col : 0) |
                                    (form.column_major[1] ? 0 : isa::matrix::b_row));
  // Eight f32 accumulators are the results of two instructions.
  const unsigned parts = accumulators == 8 ? 2 : 1, each = accumulators / parts;
  register_part d[2];
  for (unsigned p = 0; p < parts; ++p) {
    d[p] = temp(each * words);
    const operand c = gather(row->a + row->b + p * each, each, words);
    multiply_matrices(row->op, static_cast<std::uint8_t>(p ? sub | isa::matrix::upper : sub), form.type[0],
                      form.type[1], d[p], a, b, c)
        .base.saturate = form.saturate;
  }
  for (unsigned p = 0; p < parts; ++p) spread(d[p], p * each, words);
}

/// Splits the product into blocks of eight rows and, within them, steps of four along k.
void selector::multiply_doubles(const matrix_form& form, unsigned a_count, unsigned b_count) {
  const unsigned blocks = form.m / 8;
  register_part d[2];
  for (unsigned block = 0; block < blocks; ++block) {
    operand sum = gather(a_count + b_count + 2 * block, 2, 2);
    for (unsigned step = 0; step < b_count; ++step) {
      d[block] = temp(4);
      multiply_matrices(opcode::dmma, static_cast<std::uint8_t>(matrix_shape::m8n8k4), dtype::f64, dtype::f64, d[block],
                        gather(step * blocks + block, 1, 2), gather(a_count + step, 1, 2), sum)
          .base.round = form.round;
      sum = d[block];
    }
  }
  for (unsigned block = 0; block < blocks; ++block) spread(d[block], 2 * block, 2);
}

void selector::load_matrix() {
  const matrix_form form = decode_matrix_form(*now_->source, file_);
  if (form.m != 8 || form.n != 8 || form.types != 1 || form.type[0] != dtype::b16) unsupported();
  require_capability(7, 5);
  need(1);
  if (now_->dst.size() != form.count)
    fail("'" + now_->source->mnemonic() + "' needs " + std::to_string(form.count) + " registers");
  operand address = to_operand(now_->src[0], dtype::b32);  // shared memory and its window are below 4 GiB
  if (form.space != state_space::shared) {                 // a generic address: shared memory begins at its window
    operand window;
    window.kind = isa::operand_kind::constant;
    window.value = isa::bank0::shared_window;
    window.negate = true;
    const register_part t = temp();
    put(opcode::iadd3, t, {word(address, 0), window, zero()});
    address = t;
  }
  const register_part d = temp(form.count);
  machine_instruction& i = put(opcode::ldsm, d, {address, operand(), operand(), immediate(whole_warp)});
  i.base.mem_space = isa::space::shared;
  i.base.type = dtype::b128;
  i.base.offset = now_->offset;
  i.base.sub = static_cast<std::uint8_t>(form.count | (form.transposed ? isa::matrix::transposed : 0));
  if (now_->guard.what != value::kind::none) i.guard = {now_->guard.reg, now_->guard.negate};
  spread(d, 0, 1);
}

void selector::transpose_matrix() {
  const matrix_form form = decode_matrix_form(*now_->source, file_);
  if (form.m != 8 || form.n != 8 || !form.transposed || form.types != 1 || form.type[0] != dtype::b16) unsupported();
  require_capability(7, 5);
  if (now_->dst.size() != 1 || now_->src.size() != 1) fail("'" + now_->source->mnemonic() + "' needs two registers");
  const register_part d = part_of_dst(0, 1);
  put(opcode::movm, d, {src(0, dtype::b32), operand(), operand(), immediate(whole_warp)});
}

}  // namespace heddle::ptx
