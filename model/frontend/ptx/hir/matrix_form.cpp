// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/matrix_form.h"

#include <charconv>

#include "heddle/config/error.h"

namespace heddle::ptx {

namespace {

/// Parses a letter and a number, as in m16n8k16.
bool take_extent(const char*& at, const char* end, char letter, unsigned& value) {
  if (at == end || *at != letter) return false;
  const auto r = std::from_chars(at + 1, end, value);
  at = r.ptr;
  return r.ec == std::errc() && value > 0 && value <= 256;
}

bool shape_word(const std::string& w, matrix_form& f) {
  const char* at = w.data();
  const char* const end = at + w.size();
  if (!take_extent(at, end, 'm', f.m) || !take_extent(at, end, 'n', f.n)) return false;
  return at == end || (take_extent(at, end, 'k', f.k) && at == end);
}

bool type_word(const std::string& w, ptx_op op, matrix_form& f) {
  using isa::dtype;
  struct row {
    const char* word;
    dtype type;
  };
  static constexpr row table[] = {
      {"f16", dtype::f16},     {"f32", dtype::f32}, {"f64", dtype::f64}, {"bf16", dtype::bf16}, {"tf32", dtype::b32},
      {"s8", dtype::s8},       {"u8", dtype::u8},   {"s32", dtype::s32}, {"b16", dtype::b16},   {"e4m3", dtype::e4m3x2},
      {"e5m2", dtype::e5m2x2}, {"s4", dtype::s4},   {"u4", dtype::u4},   {"b1", dtype::b1}};
  for (const row& r : table) {
    if (w != r.word || f.types == 4) continue;
    if (op != ptx_op::mma && r.type >= dtype::e4m3x2) continue;  // types of mma alone
    f.type[f.types++] = r.type;
    return true;
  }
  return false;
}

bool rounding_word(const std::string& w, matrix_form& f) {
  using isa::rounding;
  // The rounding is before the types in the ISA, and after them in nvcc's output.
  if (f.what != matrix_form::action::multiply || f.rounded || (f.types != 0 && f.types != 4) || f.layouts != 2 ||
      f.k == 0)
    return false;
  if (w == "rn") f.round = rounding::rn;
  else if (w == "rz") f.round = rounding::rz;
  else if (w == "rm") f.round = rounding::rm;
  else if (w == "rp") f.round = rounding::rp;
  else return false;
  return f.rounded = true;
}

bool word(const std::string& w, ptx_op op, matrix_form& f) {
  using action = matrix_form::action;
  if (w == "sync" || w == "aligned") return true;
  if (w == "load") f.what = action::load;
  else if (w == "store") f.what = action::store;
  else if (w == "mma") f.what = action::multiply;
  else if (w.size() == 1 && w[0] >= 'a' && w[0] <= 'd') f.which = w[0];
  else if ((w == "row" || w == "col") && f.layouts < 2) f.column_major[f.layouts++] = w == "col";
  else if (w == "global") f.space = state_space::global;
  else if (w == "shared" || w == "shared::cta") f.space = state_space::shared;
  else if (w == "satfinite") f.saturate = true;
  else if (w == "trans") f.transposed = true;
  else if (w == "x1" || w == "x2" || w == "x4") f.count = static_cast<unsigned>(w[1] - '0');
  else if (op == ptx_op::mma && (w == "sp" || w == "sp::ordered_metadata")) f.sparse = true;
  else if (op == ptx_op::mma && (w == "and" || w == "xor")) f.differ = w == "xor";
  else if (op == ptx_op::mma && w == "popc") f.counts_bits = true;
  else return shape_word(w, f) || type_word(w, op, f) || rounding_word(w, f);
  return true;
}

}  // namespace

matrix_form decode_matrix_form(const ast_instruction& i, const std::string& file) {
  matrix_form f;
  for (const std::string& w : i.modifiers)
    if (!word(w, i.op, f))
      throw input_error(file, i.where.line, i.where.column,
                        "unsupported modifier '." + w + "' in instruction '" + i.mnemonic() + "'");
  if (f.saturate && f.type[0] != isa::dtype::s32)
    throw input_error(file, i.where.line, i.where.column,
                      "only integers saturate in instruction '" + i.mnemonic() + "'");
  if (f.rounded && f.type[0] != isa::dtype::f64)
    throw input_error(file, i.where.line, i.where.column,
                      "only f64 has a rounding in instruction '" + i.mnemonic() + "'");
  return f;
}

}  // namespace heddle::ptx
