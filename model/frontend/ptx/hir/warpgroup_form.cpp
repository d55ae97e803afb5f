// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/warpgroup_form.h"

#include <cstdio>

#include "heddle/config/error.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

bool shape_word(const std::string& w, warpgroup_form& f) {
  int length = 0;
  return f.k == 0 && std::sscanf(w.c_str(), "m64n%3uk%3u%n", &f.n, &f.k, &length) == 2 &&
         static_cast<std::size_t>(length) == w.size();
}

bool type_word(const std::string& w, warpgroup_form& f) {
  struct row {
    const char* word;
    dtype type;
  };
  static constexpr row table[] = {{"f16", dtype::f16},  {"f32", dtype::f32},     {"bf16", dtype::bf16},
                                  {"tf32", dtype::b32}, {"e4m3", dtype::e4m3x2}, {"e5m2", dtype::e5m2x2},
                                  {"s8", dtype::s8},    {"u8", dtype::u8},       {"s32", dtype::s32},
                                  {"b1", dtype::b1}};
  for (const row& r : table) {
    if (w != r.word || f.types == 3) continue;
    f.type[f.types++] = r.type;
    return true;
  }
  return false;
}

bool word(const std::string& w, ptx_op op, warpgroup_form& f) {
  if (w == "sync" || w == "aligned") return true;
  if (op == ptx_op::setmaxnreg) {
    if (w == "inc") f.what = warpgroup_action::increase;
    else if (w == "dec") f.what = warpgroup_action::decrease;
    else return w == "u32";
    return true;
  }
  if (w == "mma_async") f.what = warpgroup_action::multiply;
  else if (w == "fence") f.what = warpgroup_action::fence;
  else if (w == "commit_group") f.what = warpgroup_action::commit;
  else if (w == "wait_group") f.what = warpgroup_action::wait;
  else if (w == "sp") f.sparse = true;
  else if (w == "satfinite") f.saturate = true;
  else if (w == "and" || w == "popc") f.counts_bits = true;
  else return shape_word(w, f) || type_word(w, f);
  return true;
}

/// The depth of a product of elements of `t`, and whether accumulators of type `d` go with them; 0: they do not.
unsigned depth_of(dtype d, dtype a, dtype b) {
  const auto eighths = [](dtype t) { return t == dtype::e4m3x2 || t == dtype::e5m2x2; };
  const auto byte = [](dtype t) { return t == dtype::s8 || t == dtype::u8; };
  if (a == dtype::f16) return b == a && (d == dtype::f16 || d == dtype::f32) ? 16 : 0;
  if (a == dtype::bf16) return b == a && d == dtype::f32 ? 16 : 0;
  if (a == dtype::b32) return b == a && d == dtype::f32 ? 8 : 0;
  if (eighths(a)) return eighths(b) && (d == dtype::f16 || d == dtype::f32) ? 32 : 0;
  if (byte(a)) return byte(b) && d == dtype::s32 ? 32 : 0;
  return a == dtype::b1 && b == a && d == dtype::s32 ? 256 : 0;
}

/// Columns: multiples of 8 up to 256; of integers above 32, and of single bits, multiples of 16.
bool has_columns(const warpgroup_form& f) {
  const bool integer = f.type[0] == dtype::s32;
  if (f.n < 8 || f.n > 256 || f.n % 8 != 0) return false;
  return !integer || f.n % 16 == 0 || f.n == 8 || f.n == 24;
}

std::string problem(const warpgroup_form& f) {
  if (f.what != warpgroup_action::multiply) return "";
  if (f.types != 3 || f.k == 0) return "a shape m64nNkK and three types were expected";
  const unsigned depth = depth_of(f.type[0], f.type[1], f.type[2]);
  if (depth == 0) return "these types do not go together";
  if (f.k != depth * (f.sparse ? 2 : 1))
    return "depth k" + std::to_string(f.k) + ", expected k" + std::to_string(depth * (f.sparse ? 2 : 1));
  if (!has_columns(f)) return "n" + std::to_string(f.n) + " is no number of columns that it has";
  const bool bits = f.type[1] == dtype::b1;
  if (bits != f.counts_bits) return "'.and.popc' is for single bits, which need it";
  if (bits && f.sparse) return "single bits cannot be sparse";
  if (f.saturate && (f.type[0] != dtype::s32 || bits)) return "only integers saturate";
  return "";
}

}  // namespace

unsigned warpgroup_form::immediates() const {
  if (type[0] == dtype::s32) return 0;
  return type[1] != dtype::f16 && type[1] != dtype::bf16 ? 2 : a_shared ? 4 : 3;
}

warpgroup_form decode_warpgroup_form(const ast_instruction& i, const std::string& file) {
  warpgroup_form f;
  for (const std::string& w : i.modifiers)
    if (!word(w, i.op, f))
      throw input_error(file, i.where.line, i.where.column,
                        "unsupported modifier '." + w + "' in instruction '" + i.mnemonic() + "'");
  for (const char* needed : {"sync", "aligned"})
    if (!i.has(needed))
      throw input_error(file, i.where.line, i.where.column,
                        "'" + i.mnemonic() + "' without a word that it needs, expected '." + needed + "'");
  const std::string wrong = problem(f);
  if (!wrong.empty())
    throw input_error(file, i.where.line, i.where.column, "instruction '" + i.mnemonic() + "': " + wrong);
  return f;
}

}  // namespace heddle::ptx
