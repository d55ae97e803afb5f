// SPDX-License-Identifier: MIT
// Integers; floating-point numbers are in pair_operation_floats.cpp.
#include "pair_operation.h"

namespace heddle::conformance {

namespace {

using u32 = std::uint32_t;

template <bool is_signed>
std::int32_t number(u32 v) {
  return is_signed && (v & 0x8000) ? static_cast<std::int32_t>(v) - 0x10000 : static_cast<std::int32_t>(v);
}

u32 low(std::int32_t v) { return static_cast<u32>(v) & 0xffff; }

template <bool is_signed>
std::unique_ptr<pair_operation> arithmetic(const scalar_operation& o) {
  const auto of = number<is_signed>;
  const auto product = [of](u32 a, u32 b) { return static_cast<u32>(of(a)) * static_cast<u32>(of(b)); };
  if (o.name == "add") return rows_of_pairs([](u32 a, u32 b) { return (a + b) & 0xffff; });
  if (o.name == "sub") return rows_of_pairs([](u32 a, u32 b) { return (a - b) & 0xffff; });
  if (o.name == "mul" && o.wide) return rows_of_pairs(product);
  if (o.name == "mul" && o.hi) return rows_of_pairs([product](u32 a, u32 b) { return product(a, b) >> 16; });
  if (o.name == "mul" && o.lo) return rows_of_pairs([product](u32 a, u32 b) { return product(a, b) & 0xffff; });
  if (o.name == "div") return rows_of_pairs([of](u32 a, u32 b) { return b == 0 ? 0 : low(of(a) / of(b)); });
  if (o.name == "rem") return rows_of_pairs([of](u32 a, u32 b) { return b == 0 ? 0 : low(of(a) % of(b)); });
  const bool relu = o.relu || o.has("relu");
  const auto at_least_zero = [relu](u32 v) { return relu && (v & 0x8000) ? 0 : v; };
  if (o.name == "min")
    return rows_of_pairs([of, at_least_zero](u32 a, u32 b) { return at_least_zero(of(a) < of(b) ? a : b); });
  if (o.name == "max")
    return rows_of_pairs([of, at_least_zero](u32 a, u32 b) { return at_least_zero(of(a) > of(b) ? a : b); });
  return nullptr;
}

std::unique_ptr<pair_operation> shift(const scalar_operation& o) {
  if (o.name == "shl") return rows_of_pairs([](u32 a, u32 by) { return by > 15 ? 0 : a << by & 0xffff; });
  if (!isa::is_signed(o.type)) return rows_of_pairs([](u32 a, u32 by) { return by > 15 ? 0 : a >> by; });
  return rows_of_pairs([](u32 a, u32 by) {
    const unsigned n = by > 15 ? 15 : by;
    const u32 sign = a & 0x8000 ? 0xffffu << (16 - n) & 0xffff : 0;
    return a >> n | sign;
  });
}

template <class Holds>
std::unique_ptr<pair_operation> predicate(u32 yes, Holds holds) {
  return rows_of_pairs([yes, holds](u32 a, u32 b) { return holds(a, b) ? yes : 0; });
}

template <bool is_signed>
std::unique_ptr<pair_operation> comparison(const std::string_view c, u32 yes) {
  const auto of = number<is_signed>;
  if (c == "eq") return predicate(yes, [](u32 a, u32 b) { return a == b; });
  if (c == "ne") return predicate(yes, [](u32 a, u32 b) { return a != b; });
  if (c == "lt" || c == "lo") return predicate(yes, [of](u32 a, u32 b) { return of(a) < of(b); });
  if (c == "le" || c == "ls") return predicate(yes, [of](u32 a, u32 b) { return of(a) <= of(b); });
  if (c == "gt" || c == "hi") return predicate(yes, [of](u32 a, u32 b) { return of(a) > of(b); });
  if (c == "ge" || c == "hs") return predicate(yes, [of](u32 a, u32 b) { return of(a) >= of(b); });
  return nullptr;
}

/// The result of set for a true comparison: 1.0 for a floating-point type, else all ones.
u32 true_of(isa::dtype t, bool packed_operands) {
  switch (t) {
    case isa::dtype::f32: return 0x3f800000;
    case isa::dtype::f16:
    case isa::dtype::f16x2: return 0x3c00;
    case isa::dtype::bf16:
    case isa::dtype::bf16x2: return 0x3f80;
    default: return packed_operands ? 0xffff : 0xffffffffu;
  }
}

}  // namespace

std::unique_ptr<pair_operation> resolve_pair(const scalar_operation& o) {
  if (o.name == "setp" || o.name == "set") {
    const isa::dtype of = o.name == "set" ? o.type2 : o.type;
    const u32 yes = o.name == "setp" ? 1 : true_of(o.type, is_packed(of));
    if (isa::is_float(half_of(of))) return resolve_float_comparison(o, half_of(of), yes);
    return isa::is_signed(of) ? comparison<true>(o.compare.view(), yes) : comparison<false>(o.compare.view(), yes);
  }
  if (o.name == "and") return rows_of_pairs([](u32 a, u32 b) { return a & b; });
  if (o.name == "or") return rows_of_pairs([](u32 a, u32 b) { return a | b; });
  if (o.name == "xor") return rows_of_pairs([](u32 a, u32 b) { return a ^ b; });
  if (o.name == "shl" || o.name == "shr") return shift(o);
  if (o.has("u16x2") || o.has("s16x2")) return o.has("s16x2") ? arithmetic<true>(o) : arithmetic<false>(o);
  if (isa::is_float(half_of(o.type))) return resolve_float_pair(o, half_of(o.type));
  return isa::is_signed(o.type) ? arithmetic<true>(o) : arithmetic<false>(o);
}

}  // namespace heddle::conformance
