// SPDX-License-Identifier: MIT
// Video instructions according to the ISA's pseudocode: numbers of 128 bits, one part after the other.
#include "scalar_operation.h"

namespace heddle::conformance {

namespace {

using exact_value = __int128;

/// The signedness of result, a and b; vset has none for its result.
struct operand_signs {
  bool d = false, a = false, b = false;
};

operand_signs operand_signs_of(const scalar_operation& o) {
  std::vector<bool> is_signed;
  if (o.name.view().rfind("vset", 0) == 0) is_signed.push_back(false);
  for (const word& w : o.words)
    if (w == "u32" || w == "s32") is_signed.push_back(w == "s32");
  is_signed.resize(3);
  return {is_signed[0], is_signed[1], is_signed[2]};
}

exact_value part_of(std::uint64_t v, unsigned bits, unsigned place, bool is_signed) {
  const exact_value all = exact_value{1} << bits;
  const exact_value n = static_cast<exact_value>(v >> (bits * place)) & (all - 1);
  return is_signed && n >= all / 2 ? n - all : n;
}

exact_value clamp_to(exact_value v, unsigned bits, bool is_signed) {
  const exact_value most = is_signed ? (exact_value{1} << (bits - 1)) - 1 : (exact_value{1} << bits) - 1,
                    least = is_signed ? -most - 1 : 0;
  return v > most ? most : v < least ? least : v;
}

bool holds(const scalar_operation& o, exact_value a, exact_value b) {
  if (o.has("eq")) return a == b;
  if (o.has("ne")) return a != b;
  if (o.has("lt")) return a < b;
  if (o.has("le")) return a <= b;
  return o.has("gt") ? a > b : a >= b;
}

exact_value half_of_sum(exact_value sum) {
  if (sum >= 0) return (sum + 1) / 2;
  return sum % 2 == 0 ? sum / 2 : (sum - 1) / 2;  // rounded down, as by an arithmetic shift
}

exact_value operate(const word& what, const scalar_operation& o, exact_value a, exact_value b) {
  if (what == "vadd") return a + b;
  if (what == "vsub") return a - b;
  if (what == "vabsdiff") return a > b ? a - b : b - a;
  if (what == "vmin") return a < b ? a : b;
  if (what == "vmax") return a > b ? a : b;
  if (what == "vavrg") return half_of_sum(a + b);
  if (what == "vset") return holds(o, a, b) ? 1 : 0;
  const exact_value by = o.has("wrap") ? b % 32 : b > 32 ? 32 : b;
  exact_value r = a;
  for (exact_value k = 0; k < by; ++k) r = what == "vshl" ? r * 2 : (r >= 0 ? r / 2 : (r - 1) / 2);  // rounded down
  return r;
}

std::uint64_t merged(std::uint64_t into, exact_value v, unsigned bits, unsigned place) {
  const std::uint64_t mask = bits == 32 ? 0xffffffffu : ((std::uint64_t{1} << bits) - 1) << (bits * place);
  return (into & ~mask) | (static_cast<std::uint64_t>(v) << (bits * place) & mask);
}

std::string places_of(const scalar_operation& o, std::size_t k) {
  return k < o.parts.size() ? o.parts[k].places : std::string();
}

/// A whole operand, or its selected byte or half.
exact_value chosen(const scalar_operation& o, const std::uint64_t* s, std::size_t k, bool is_signed) {
  const std::string p = places_of(o, k + 1);
  if (p.empty()) return part_of(s[k], 32, 0, is_signed);
  return part_of(s[k], p[0] == 'b' ? 8 : 16, static_cast<unsigned>(p[1] - '0'), is_signed);
}

std::uint64_t scalar(const scalar_operation& o, const std::uint64_t* s) {
  const operand_signs is_signed = operand_signs_of(o);
  const std::string place = places_of(o, 0);
  const unsigned bits = place.empty() ? 32 : place[0] == 'b' ? 8 : 16;
  exact_value t = operate(o.name, o, chosen(o, s, 0, is_signed.a), chosen(o, s, 1, is_signed.b));
  if (o.sat) t = clamp_to(t, bits, is_signed.d);
  const std::uint64_t low = static_cast<std::uint64_t>(t) & 0xffffffffu;
  const exact_value x = part_of(low, 32, 0, is_signed.d), c = part_of(s[2], 32, 0, is_signed.d);
  if (o.has("add")) return static_cast<std::uint64_t>(x + c);
  if (o.has("min")) return static_cast<std::uint64_t>(x < c ? x : c);
  if (o.has("max")) return static_cast<std::uint64_t>(x > c ? x : c);
  return place.empty() ? low : merged(s[2], t, bits, static_cast<unsigned>(place[1] - '0'));
}

std::uint64_t multiply_add(const scalar_operation& o, const std::uint64_t* s) {
  const operand_signs is_signed = operand_signs_of(o);
  const auto negated = [&](std::size_t k) { return k < o.parts.size() && o.parts[k].negate; };
  const bool minus = negated(1) != negated(2), final_signed = is_signed.a || is_signed.b || minus || negated(3);
  exact_value t = chosen(o, s, 0, is_signed.a) * chosen(o, s, 1, is_signed.b);
  if (minus) t = -t;
  const exact_value c = part_of(s[2], 32, 0, final_signed);
  t += negated(3) ? -c : c;
  if (o.has("po")) ++t;
  if (o.has("shr7")) t >>= 7;
  if (o.has("shr15")) t >>= 15;
  return static_cast<std::uint64_t>(o.sat ? clamp_to(t, 32, final_signed) : t);
}

std::uint64_t lanes(const scalar_operation& o, const std::uint64_t* s, unsigned n) {
  const operand_signs is_signed = operand_signs_of(o);
  const unsigned bits = 32 / n;
  const word what = o.name.view().substr(0, o.name.size() - 1);
  const std::string mask = places_of(o, 0);
  const auto lane = [&](std::size_t of, unsigned k, bool sign) {
    const std::string p = places_of(o, of + 1);
    const unsigned place =
        p.empty() ? static_cast<unsigned>(of) * n + k : static_cast<unsigned>(p[p.size() - 1 - k] - '0');
    return part_of(s[place / n], bits, place % n, sign);
  };
  const bool sums = o.has("add");
  std::uint64_t d = s[2];
  for (unsigned k = 0; k < n; ++k) {
    if (!mask.empty() && mask.find(static_cast<char>('0' + k)) == std::string::npos) continue;
    exact_value t = operate(what, o, lane(0, k, is_signed.a), lane(1, k, is_signed.b));
    if (o.sat) t = clamp_to(t, bits, is_signed.d);
    d = sums ? d + static_cast<std::uint64_t>(t) : merged(d, t, bits, k);
  }
  return d;
}

}  // namespace

bool evaluate_video(const scalar_operation& o, const std::uint64_t* s, unsigned count, std::uint64_t& r) {
  if (o.name[0] != 'v' || o.name == "vote") return false;
  std::uint64_t three[3] = {};
  for (unsigned k = 0; k < count && k < 3; ++k) three[k] = s[k] & 0xffffffffu;
  if (o.name == "vmad") r = multiply_add(o, three);
  else if (o.name.back() == '2' || o.name.back() == '4')
    r = lanes(o, three, static_cast<unsigned>(o.name.back() - '0'));
  else r = scalar(o, three);
  r &= 0xffffffffu;
  return true;
}

}  // namespace heddle::conformance
