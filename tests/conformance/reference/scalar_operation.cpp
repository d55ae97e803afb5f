// SPDX-License-Identifier: MIT
#include "scalar_operation.h"

#include <algorithm>
#include <map>

namespace heddle::conformance {

namespace {

const std::map<std::string, isa::dtype>& types() {
  using isa::dtype;
  static const std::map<std::string, dtype> table = {
      {"pred", dtype::pred},     {"u8", dtype::u8},         {"s8", dtype::s8},         {"u16", dtype::u16},
      {"s16", dtype::s16},       {"u32", dtype::u32},       {"s32", dtype::s32},       {"u64", dtype::u64},
      {"s64", dtype::s64},       {"f16", dtype::f16},       {"f32", dtype::f32},       {"f64", dtype::f64},
      {"f16x2", dtype::f16x2},   {"bf16", dtype::bf16},     {"bf16x2", dtype::bf16x2}, {"f32x2", dtype::f32x2},
      {"e4m3x2", dtype::e4m3x2}, {"e5m2x2", dtype::e5m2x2}, {"b8", dtype::b8},         {"b16", dtype::b16},
      {"b32", dtype::b32},       {"b64", dtype::b64}};
  return table;
}

bool takes_comparison(const word& name) { return name == "setp" || name == "set"; }

}  // namespace

scalar_operation::scalar_operation(const ptx::ast_instruction& i)
    : name(i.opcode), text(i.mnemonic()), words(i.modifiers.begin(), i.modifiers.end()) {
  static const std::map<std::string, direction> rounding = {{"rn", direction::nearest_even},
                                                            {"rz", direction::zero},
                                                            {"rm", direction::down},
                                                            {"rp", direction::up},
                                                            {"rna", direction::nearest_away}};
  static const char* const comparisons[] = {"eq", "ne",  "lt",  "le",  "gt",  "ge",  "lo",  "ls",  "hi",
                                            "hs", "equ", "neu", "ltu", "leu", "gtu", "geu", "num", "nan"};
  for (const std::string& w : i.modifiers) {
    if (auto t = types().find(w); t != types().end()) {
      if (type == isa::dtype::none) type = t->second;
      else type2 = t->second;
      continue;
    }
    if (auto r = rounding.find(w); r != rounding.end()) round = r->second;
    if (w.size() == 3 && w[2] == 'i' && rounding.count(w.substr(0, 2)))
      round = rounding.at(w.substr(0, 2)), integral = true;
    ftz |= w == "ftz";
    sat |= w == "sat";
    relu |= w == "relu";
    finite |= w == "satfinite";
    approx |= w == "approx";
    full |= w == "full";
    cc |= w == "cc";
    nan |= w == "NaN";
    wide |= w == "wide";
    if (takes_comparison(name)) {
      if (std::find(std::begin(comparisons), std::end(comparisons), w) != std::end(comparisons)) compare = w;
      if (w == "and" || w == "or" || w == "xor") combine = w;
    } else {
      hi |= w == "hi";
      lo |= w == "lo";
    }
    if (w == "v2") vector = 2;
    if (w == "v4") vector = 4;
  }
  if (type2 == isa::dtype::none) type2 = type;
  // The words specify the packed types.
  if (has("pack") || has("u16x2") || has("s16x2")) type = type2 = isa::dtype::b32;
  if (name[0] == 'v' && name != "vote")
    for (const ptx::ast_operand& operand : i.operands) parts.push_back({operand.component, operand.negate});
}

bool scalar_operation::has_word(std::string_view text) const {
  return std::any_of(words.begin(), words.end(), [text](const word& w) { return w.view() == text; });
}

unsigned bits_of(isa::dtype t) { return t == isa::dtype::pred ? 1 : isa::size_of(t) * 8; }

std::uint64_t truncated(isa::dtype t, std::uint64_t v) {
  const unsigned n = bits_of(t);
  return n >= 64 ? v : v & ((std::uint64_t{1} << n) - 1);
}

std::uint64_t extended(isa::dtype t, std::uint64_t v) {
  v = truncated(t, v);
  const unsigned n = bits_of(t);
  if (!isa::is_signed(t) || n >= 64 || !(v >> (n - 1) & 1)) return v;
  return v | ~std::uint64_t{0} << n;
}

bool is_packed(isa::dtype t) { return t == isa::dtype::f16x2 || t == isa::dtype::bf16x2; }

isa::dtype half_of(isa::dtype t) {
  if (t == isa::dtype::f16x2) return isa::dtype::f16;
  return t == isa::dtype::bf16x2 ? isa::dtype::bf16 : t;
}

namespace {

std::uint64_t one_of(isa::dtype t) {
  switch (t) {
    case isa::dtype::f32: return 0x3f800000;
    case isa::dtype::f16: return 0x3c00;
    case isa::dtype::bf16: return 0x3f80;
    default: return truncated(t, ~std::uint64_t{0});
  }
}

bool combined(const scalar_operation& o, bool a, bool b) {
  if (o.combine == "and") return a && b;
  if (o.combine == "or") return a || b;
  return o.combine == "xor" ? a != b : a;
}

/// Evaluates each half of packed operands separately.
std::uint64_t evaluate_halves(scalar_operation o, const std::uint64_t* s, unsigned count) {
  std::uint64_t result = 0;
  o.type = half_of(o.type);
  o.type2 = half_of(o.type2);
  for (unsigned k = 0; k < 2; ++k) {
    std::uint64_t h[4] = {}, r = 0;
    for (unsigned j = 0; j < count && j < 4; ++j) h[j] = s[j] >> (16 * k) & 0xffff;
    if (!evaluate_float(o, h, count, r)) throw reference_limit(o.text);
    result |= (r & 0xffff) << (16 * k);
  }
  return result;
}

}  // namespace

scalar_result evaluate(const scalar_operation& o, const std::uint64_t* s, unsigned count, bool& carry) {
  scalar_result r;
  if (o.name == "setp") {
    const bool holds = evaluate_comparison(o, o.type, s[0], s[1]);
    const bool with = o.combine.empty() || s[2];
    r.value = o.combine.empty() ? holds : combined(o, holds, with);
    r.second = o.combine.empty() ? !holds : combined(o, !holds, with);
    return r;
  }
  if (o.has("u16x2") || o.has("s16x2")) {
    scalar_operation half = o;
    half.type = half.type2 = o.has("s16x2") ? isa::dtype::s16 : isa::dtype::u16;
    half.relu = false;
    half.words.clear();
    for (unsigned k = 0; k < 2; ++k) {
      const std::uint64_t h[2] = {extended(half.type, s[0] >> (16 * k)), extended(half.type, s[1] >> (16 * k))};
      std::uint64_t v = truncated(half.type, evaluate(half, h, 2, carry).value);
      if (o.relu && v >> 15) v = 0;
      r.value |= v << (16 * k);
    }
    return r;
  }
  if (o.name == "set" && is_packed(o.type2)) {
    scalar_operation one = o;
    one.type2 = half_of(o.type2);
    one.type = is_packed(o.type) ? half_of(o.type) : isa::dtype::b16;
    for (unsigned k = 0; k < 2; ++k) {
      const std::uint64_t h[3] = {s[0] >> (16 * k) & 0xffff, s[1] >> (16 * k) & 0xffff, count > 2 ? s[2] : 0};
      r.value |= evaluate(one, h, count, carry).value << (16 * k);
    }
    return r;
  }
  if (o.name == "lop3" && (o.has("and") || o.has("or"))) {
    scalar_operation plain = o;
    plain.words.clear();
    r.value = evaluate(plain, s, 4, carry).value;
    const bool some = truncated(o.type, r.value) != 0;
    r.second = o.has("and") ? some && s[4] : some || s[4];
    return r;
  }
  if (o.name == "set") {
    const bool holds = combined(o, evaluate_comparison(o, o.type2, s[0], s[1]), count > 2 && s[2]);
    r.value = holds ? one_of(o.type) : 0;
    return r;
  }
  if (o.name == "selp") return {s[2] ? s[0] : s[1], 0};
  if (o.name == "slct") {
    std::uint64_t c = truncated(o.type2, s[2]);
    if (o.type2 == isa::dtype::s32) return {static_cast<std::int32_t>(c) >= 0 ? s[0] : s[1], 0};
    const float_format f = format_of(o.type2);
    if (o.ftz) c = f.flushed(c);
    return {!f.is_nan(c) && (!f.is_negative(c) || f.is_zero(c)) ? s[0] : s[1], 0};
  }
  if (evaluate_video(o, s, count, r.value) || evaluate_pairs(o, s, count, r.value)) return r;
  if (o.name == "cvt") return {evaluate_conversion(o, s, count), 0};
  if (o.type == isa::dtype::pred) {
    if (o.name == "and") return {s[0] & s[1], 0};
    if (o.name == "or") return {s[0] | s[1], 0};
    if (o.name == "xor") return {s[0] ^ s[1], 0};
    if (o.name == "not") return {!s[0], 0};
    if (o.name == "mov") return {s[0], 0};
    throw reference_limit(o.text);
  }
  if (is_packed(o.type)) return {evaluate_halves(o, s, count), 0};
  const bool known = isa::is_float(o.type) && o.name != "mov"
                         ? evaluate_float(o, s, count, r.value)
                         : evaluate_integer(o, s, count, carry, r.value) || evaluate_bits(o, s, count, r.value);
  if (!known) throw reference_limit(o.text);
  return r;
}

}  // namespace heddle::conformance
