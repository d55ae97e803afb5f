// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/texture_form.h"

#include <algorithm>
#include <iterator>

#include "heddle/config/error.h"

namespace heddle::ptx {

namespace {

using isa::dtype;

template <std::size_t n>
int index_of(const std::string& w, const char* const (&names)[n]) {
  const auto found = std::find(std::begin(names), std::end(names), w);
  return found == std::end(names) ? -1 : static_cast<int>(found - names);
}

bool query_word(const std::string& w, texture_form& f) {
  const int k = index_of(w, {"width", "height", "depth", "array_size"});
  if (k < 0) return false;
  f.query = static_cast<isa::texture_query>(std::min(k, 2));  // the number of layers is returned as the depth
  return true;
}

bool type_word(const std::string& w, texture_form& f) {
  static constexpr dtype types[] = {dtype::u32, dtype::s32, dtype::f32, dtype::b8, dtype::b16, dtype::b32, dtype::b64};
  const int k = index_of(w, {"u32", "s32", "f32", "b8", "b16", "b32", "b64"});
  if (k < 0 || f.types == 2) return false;
  f.type[f.types++] = types[k];
  return true;
}

bool word(const std::string& w, ptx_op op, texture_form& f) {
  if (op == ptx_op::txq || op == ptx_op::suq) return query_word(w, f) || type_word(w, f);
  const bool surface = op == ptx_op::suld || op == ptx_op::sust;
  if (const int k = index_of(w, {"1d", "2d", "3d", "a1d", "a2d", "cube", "acube"});
      k >= 0 && (k < 5 || op == ptx_op::tex)) {
    f.shape = static_cast<isa::texture_shape>(k);
    return f.shaped = true;
  }
  if (w == "v2" || w == "v4") {
    f.vector = w == "v2" ? 2 : 4;
    return true;
  }
  if (surface) {
    if (const int k = index_of(w, {"trap", "clamp", "zero"}); k >= 0) {
      f.boundary = static_cast<std::uint8_t>(k * isa::texture::clamp);
      return true;
    }
    // Cache operators affect only replacement.
    return w == "b" || index_of(w, {"ca", "cg", "cs", "cv", "wb", "wt"}) >= 0 || type_word(w, f);
  }
  if (op == ptx_op::tld4) {
    if (const int k = index_of(w, {"r", "g", "b", "a"}); k >= 0) {
      f.component = static_cast<unsigned>(k);
      return true;
    }
  } else if (w == "level" || w == "base" || w == "grad") {
    f.level = w == "level";
    f.gradients = w == "grad";
    return true;
  }
  return type_word(w, f);
}

}  // namespace

texture_form decode_texture_form(const ast_instruction& i, const std::string& file) {
  texture_form f;
  for (const std::string& w : i.modifiers)
    if (!word(w, i.op, f))
      throw input_error(file, i.where.line, i.where.column,
                        "unsupported modifier '." + w + "' in instruction '" + i.mnemonic() + "'");
  return f;
}

}  // namespace heddle::ptx
