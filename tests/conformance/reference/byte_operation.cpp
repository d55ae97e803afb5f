// SPDX-License-Identifier: MIT
#include "byte_operation.h"

#include <map>
#include <utility>

namespace heddle::conformance {

byte_operation::byte_operation(const scalar_operation& o) : sat_(o.sat), sums_(o.has("add")), wraps_(o.has("wrap")) {
  static const std::map<std::string_view, formula> names = {
      {"vadd", formula::add},   {"vsub", formula::sub},  {"vabsdiff", formula::absolute_difference},
      {"vmin", formula::least}, {"vmax", formula::most}, {"vavrg", formula::average},
      {"vshl", formula::left},  {"vshr", formula::right}};
  static const std::pair<const char*, formula> comparisons[] = {{"eq", formula::equal},   {"ne", formula::unequal},
                                                                {"lt", formula::less},    {"le", formula::not_greater},
                                                                {"gt", formula::greater}, {"ge", formula::not_less}};
  std::string_view name = o.name.view();
  four_ = name.back() == '4';
  if (four_) name.remove_suffix(1);
  if (name == "vset") {
    for (const auto& [word, f] : comparisons)
      if (o.has_word(word)) what_ = f;
  } else {
    if (names.count(name) == 0) throw reference_limit(o.text);
    what_ = names.at(name);
  }
  std::vector<bool> is_signed;
  if (name == "vset") is_signed.push_back(false);
  for (const word& w : o.words)
    if (w == "u32" || w == "s32") is_signed.push_back(w == "s32");
  signed_d_ = is_signed.at(0);
  signed_a_ = is_signed.at(1);
  signed_b_ = is_signed.at(2);
  const auto place = [&](std::size_t k) {
    return k < o.parts.size() && o.parts[k].places.size() == 2 ? o.parts[k].places[1] - '0' : -1;
  };
  if (four_) return;
  into_ = place(0);
  if (place(1) < 0 || place(2) < 0) throw reference_limit(o.text);
  a_ = static_cast<unsigned>(place(1));
  b_ = static_cast<unsigned>(place(2));
}

std::int64_t byte_operation::compute(int a, int b) const {
  switch (what_) {
    case formula::add: return a + b;
    case formula::sub: return a - b;
    case formula::absolute_difference: return a > b ? a - b : b - a;
    case formula::least: return a < b ? a : b;
    case formula::most: return a > b ? a : b;
    case formula::average: {  // half of the sum, rounded away from zero
      const int sum = a + b, odd = sum & 1;
      return sum >= 0 ? (sum + odd) / 2 : (sum - odd) / 2;
    }
    case formula::equal: return a == b;
    case formula::unequal: return a != b;
    case formula::less: return a < b;
    case formula::not_greater: return a <= b;
    case formula::greater: return a > b;
    case formula::not_less: return a >= b;
    default: break;
  }
  const int by = wraps_ ? b % 32 : b > 32 ? 32 : b;
  std::int64_t r = a;
  for (int k = 0; k < by; ++k) r = what_ == formula::left ? r * 2 : (r - (r & 1)) / 2;  // rounded down
  return r;
}

std::int64_t byte_operation::clamped(std::int64_t v, unsigned bits) const {
  if (!sat_) return v;
  const std::int64_t most = (std::int64_t{1} << (signed_d_ ? bits - 1 : bits)) - 1, least = signed_d_ ? -most - 1 : 0;
  return v > most ? most : v < least ? least : v;
}

std::uint32_t byte_operation::operator()(std::uint32_t a, std::uint32_t b, std::uint32_t c) const {
  if (!four_) {
    const auto r = static_cast<std::uint32_t>(
        clamped(compute(part(a, a_, signed_a_), part(b, b_, signed_b_)), into_ < 0 ? 32 : 8));
    return into_ < 0 ? r : (c & ~(0xffu << (8 * into_))) | (r & 0xff) << (8 * into_);
  }
  std::uint32_t sum = c, bytes = 0;
  for (unsigned k = 0; k < 4; ++k) {
    const auto r = static_cast<std::uint32_t>(clamped(compute(part(a, k, signed_a_), part(b, k, signed_b_)), 8));
    sum += r;
    bytes |= (r & 0xff) << (8 * k);
  }
  return sums_ ? sum : bytes;
}

}  // namespace heddle::conformance
