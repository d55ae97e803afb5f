// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/operand_form.h"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace heddle::ptx {

namespace {

using isa::dtype;

enum class value_kind : std::uint8_t { bits, packed, integer, floating, predicate };

value_kind kind_of(dtype t) {
  switch (t) {
    case dtype::pred: return value_kind::predicate;
    case dtype::f16:
    case dtype::f32:
    case dtype::f64: return value_kind::floating;
    case dtype::u8:
    case dtype::s8:
    case dtype::u16:
    case dtype::s16:
    case dtype::u32:
    case dtype::s32:
    case dtype::u64:
    case dtype::s64: return value_kind::integer;
    case dtype::b8:
    case dtype::b16:
    case dtype::b32:
    case dtype::b64:
    case dtype::b128: return value_kind::bits;
    default: return value_kind::packed;  // formats stored in untyped registers
  }
}

void set_type(std::string_view name, operand_form& o) {
  using from = operand_form::type_of;
  if (name == "t") o.type = from::first;
  else if (name == "d") o.type = from::result;
  else if (name == "s") o.type = from::second;
  else if (name == "w") o.type = from::widened;
  else if (name == "a") o.type = from::address;
  else o.type = from::fixed, o.fixed = type_named(std::string(name));
}

/// Parses the suffixes after the type.
void take_marks(std::string_view& word, operand_form& o) {
  for (;; word.remove_suffix(1)) {
    switch (word.back()) {
      case '+': o.wider = true; break;
      case '&': o.combined = true; break;
      case '^': o.hinted = true; break;
      case '*': o.moves = true; break;
      case '~': o.names = true; break;
      case '%': o.special = true; break;
      case '!': o.registers_only = true; break;
      case '_': o.discards = true; break;
      case '?': o.optional = true; break;
      default: return;
    }
  }
}

operand_form parse_operand_form(std::string_view word) {
  using kind = operand_form::kind;
  operand_form o;
  if (word.front() == '=') o.destination = true, word.remove_prefix(1);
  if (const std::size_t bar = word.find('|'); bar != std::string_view::npos) {
    const std::string_view second = word.substr(bar + 1);
    o.pair_optional = second.back() == '?';
    o.pair = type_named(std::string(second.substr(0, second.size() - o.pair_optional)));
    word = word.substr(0, bar);
  }
  take_marks(word, o);
  if (word == "[]") o.what = kind::address;
  else if (word == "#") o.what = kind::literal;
  else if (word == "label") o.what = kind::label;
  else if (word == "list") o.what = kind::target_list;
  else if (word.front() == '{') o.what = kind::elements, set_type(word.substr(1, word.find('}') - 1), o);
  else set_type(word, o);
  return o;
}

}  // namespace

dtype type_named(const std::string& w) {
  static const std::unordered_map<std::string, dtype> table = {
      {"pred", dtype::pred},   {"u8", dtype::u8},         {"s8", dtype::s8},         {"u16", dtype::u16},
      {"s16", dtype::s16},     {"u32", dtype::u32},       {"s32", dtype::s32},       {"u64", dtype::u64},
      {"s64", dtype::s64},     {"f16", dtype::f16},       {"f32", dtype::f32},       {"f64", dtype::f64},
      {"f16x2", dtype::f16x2}, {"bf16", dtype::bf16},     {"bf16x2", dtype::bf16x2}, {"b8", dtype::b8},
      {"b16", dtype::b16},     {"b32", dtype::b32},       {"b64", dtype::b64},       {"b128", dtype::b128},
      {"f32x2", dtype::f32x2}, {"e4m3x2", dtype::e4m3x2}, {"e5m2x2", dtype::e5m2x2}};
  const auto it = table.find(w);
  return it == table.end() ? dtype::none : it->second;
}

bool register_fits(dtype t, dtype reg, bool wider) {
  const value_kind is = kind_of(reg), wanted = kind_of(t);
  if (is == value_kind::predicate || wanted == value_kind::predicate) return is == wanted;
  const unsigned bytes = isa::size_of(reg), needed = isa::size_of(t);
  if (bytes < needed || (bytes > needed && !wider)) return false;
  switch (wanted) {
    case value_kind::bits: return true;
    case value_kind::packed: return reg == t || is == value_kind::bits;
    case value_kind::integer: return is == value_kind::integer || is == value_kind::bits;
    default: return reg == t || is == value_kind::bits;
  }
}

dtype twice_as_wide(dtype t) {
  switch (t) {
    case dtype::u16: return dtype::u32;
    case dtype::s16: return dtype::s32;
    case dtype::u32: return dtype::u64;
    case dtype::s32: return dtype::s64;
    default: return dtype::none;
  }
}

operand_column parse_operand_column(std::string_view text) {
  operand_column column;
  if (text == "...") {
    column.checked = false;
    return column;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (end > at) column.operands.push_back(parse_operand_form(text.substr(at, end - at)));
    at = end + 1;
  }
  return column;
}

}  // namespace heddle::ptx
