// SPDX-License-Identifier: MIT
// Floating point: numbers of up to 32 bits are computed in double, rounded to odd, and then rounded again, which is
// exact because a double has more than twice their precision. f64 uses the host's arithmetic in the required
// direction.
#include <cfenv>
#include <cmath>
#include <cstring>

#include "heddle/config/error.h"
#include "scalar_operation.h"

namespace heddle::conformance {

namespace {

double as_double(std::uint64_t v) {
  double d;
  std::memcpy(&d, &v, sizeof d);
  return d;
}

std::uint64_t as_bits(double d) {
  std::uint64_t v;
  std::memcpy(&v, &d, sizeof v);
  return v;
}

/// Sets the host's rounding direction for one computation; volatile operands prevent constant folding.
class rounding_scope {
 public:
  explicit rounding_scope(direction d) : before_(std::fegetround()) {
    static constexpr int modes[] = {FE_TONEAREST, FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    std::fesetround(modes[static_cast<unsigned>(d)]);
    std::feclearexcept(FE_ALL_EXCEPT);
  }
  ~rounding_scope() { std::fesetround(before_); }
  rounding_scope(const rounding_scope&) = delete;
  rounding_scope& operator=(const rounding_scope&) = delete;

 private:
  int before_;
};

enum class formula { add, multiply, fused, divide, root, inverse_root };

double compute(formula f, double x, double y, double z, direction d, bool& inexact) {
  volatile double a = x, b = y, c = z, r = 0;
  const rounding_scope scope(d);
  switch (f) {
    case formula::add: r = a + b; break;
    case formula::multiply: r = a * b; break;
    case formula::fused: r = std::fma(a, b, c); break;
    case formula::divide: r = a / b; break;
    case formula::root: r = std::sqrt(a); break;
    case formula::inverse_root: {
      volatile double root = std::sqrt(a);
      r = 1.0 / root;
      break;
    }
  }
  inexact = std::fetestexcept(FE_INEXACT) != 0;
  return r;
}

std::uint64_t calculate(const float_format& f, formula what, std::uint64_t a, std::uint64_t b, std::uint64_t c,
                        direction d) {
  const auto value = [&](std::uint64_t v) {
    if (f.is_nan(v)) return std::nan("");
    if (f.is_infinite(v)) return f.is_negative(v) ? -HUGE_VAL : HUGE_VAL;
    return as_double(encode({64, 52}, decode(f, v), direction::zero));
  };
  bool inexact = false;
  if (f.width == 64) {
    // Sums and products pass on the first NaN, as on an H100.
    if (what == formula::add || what == formula::multiply || what == formula::fused)
      for (const std::uint64_t v : {a, b, what == formula::fused ? c : b})
        if (f.is_nan(v)) return v | std::uint64_t{1} << 51;
    const double r = compute(what, value(a), value(b), value(c), d, inexact);
    return std::isnan(r) ? f.nan() : as_bits(r);
  }
  // The sign of an exact zero depends on the rounding direction and is the same in every format.
  const double exact = compute(what, value(a), value(b), value(c), d, inexact);
  if (std::isnan(exact)) return f.nan();
  if (!inexact && (exact == 0 || std::isinf(exact)))
    return std::signbit(exact) ? f.sign_bit() | (exact == 0 ? 0 : f.infinity()) : (exact == 0 ? 0 : f.infinity());
  const double truncated_result = compute(what, value(a), value(b), value(c), direction::zero, inexact);
  exact_number n = decode_double(truncated_result);
  n.sticky = inexact;
  return encode(f, n, d);
}

std::uint64_t saturated(const float_format& f, std::uint64_t v) {
  if (f.is_nan(v) || f.is_negative(v)) return 0;
  exact_number one;
  one.magnitude = 1;
  const std::uint64_t limit = encode(f, one, direction::nearest_even);
  return v > limit ? limit : v;
}

/// A key with the order of the numbers: by sign and magnitude.
std::int64_t order_key(const float_format& f, std::uint64_t v) {
  const auto magnitude = static_cast<std::int64_t>(v & (f.sign_bit() - 1));
  return f.is_negative(v) ? -magnitude : magnitude;
}

std::uint64_t least_or_most(const scalar_operation& o, const float_format& f, std::uint64_t a, std::uint64_t b) {
  if (o.has("xorsign")) {
    scalar_operation plain = o;
    plain.words.clear();
    const std::uint64_t magnitude = f.sign_bit() - 1;
    return (least_or_most(plain, f, a & magnitude, b & magnitude) & magnitude) | ((a ^ b) & f.sign_bit());
  }
  const bool na = f.is_nan(a), nb = f.is_nan(b);
  if ((na && nb) || (o.nan && (na || nb))) return f.nan();
  if (na) return b;
  if (nb) return a;
  const std::int64_t x = order_key(f, a), y = order_key(f, b);
  // -0 is less than +0 here.
  const bool a_less = x < y || (x == y && f.is_negative(a));
  return (o.name == "min") == a_less ? a : b;
}

double transcendental(const word& name, double x) {
  if (name == "sin") return std::sin(x);
  if (name == "cos") return std::cos(x);
  if (name == "ex2") return std::exp2(x);
  if (name == "lg2") return std::log2(x);
  return std::tanh(x);
}

bool test(const scalar_operation& o, const float_format& f, std::uint64_t a) {
  const bool nan = f.is_nan(a), infinite = f.is_infinite(a);
  if (o.has("finite")) return !nan && !infinite;
  if (o.has("infinite")) return infinite;
  if (o.has("number")) return !nan;
  if (o.has("notanumber")) return nan;
  const bool subnormal = f.is_subnormal(a);
  if (o.has("subnormal")) return subnormal;
  return !nan && !infinite && !subnormal;  // zero is normal
}

bool signs(const scalar_operation& o, const float_format& f, const std::uint64_t* s, std::uint64_t& r) {
  if (o.name == "copysign") return r = (s[1] & ~f.sign_bit()) | (s[0] & f.sign_bit()), true;
  if (o.name != "neg" && o.name != "abs") return false;
  // The ISA leaves the NaN open here; the model and an H100 return that of arithmetic.
  if (f.is_nan(s[0])) return r = f.width == 64 ? s[0] | std::uint64_t{1} << 51 : f.nan(), true;
  r = o.name == "neg" ? s[0] ^ f.sign_bit() : s[0] & ~f.sign_bit();
  if (o.ftz) r = f.flushed(r);
  return true;
}

}  // namespace

bool evaluate_comparison(const scalar_operation& o, isa::dtype t, std::uint64_t a, std::uint64_t b) {
  const word& c = o.compare;
  std::int64_t x, y;
  if (isa::is_float(t)) {
    const float_format f = format_of(t);
    a = truncated(t, a);
    b = truncated(t, b);
    if (o.ftz) a = f.flushed(a), b = f.flushed(b);
    const bool unordered = f.is_nan(a) || f.is_nan(b);
    if (c == "num") return !unordered;
    if (c == "nan") return unordered;
    if (unordered) return c.size() == 3;  // equ neu ltu leu gtu geu
    x = order_key(f, a);
    y = order_key(f, b);
  } else {
    const bool as_unsigned = c == "lo" || c == "ls" || c == "hi" || c == "hs";
    x = static_cast<std::int64_t>(as_unsigned ? truncated(t, a) : extended(t, a));
    y = static_cast<std::int64_t>(as_unsigned ? truncated(t, b) : extended(t, b));
    if (!isa::is_signed(t) || as_unsigned) x ^= INT64_MIN, y ^= INT64_MIN;
  }
  const word base = c.view().substr(0, 2);
  if (base == "eq") return x == y;
  if (base == "ne") return x != y;
  if (base == "lt" || base == "lo") return x < y;
  if (base == "le" || base == "ls") return x <= y;
  if (base == "gt" || base == "hi") return x > y;
  if (base == "ge" || base == "hs") return x >= y;
  throw reference_limit(o.text);
}

bool evaluate_float(const scalar_operation& o, const std::uint64_t* s, unsigned count, std::uint64_t& r) {
  const float_format f = format_of(o.type);
  std::uint64_t v[3] = {};
  for (unsigned k = 0; k < count && k < 3; ++k) {
    v[k] = truncated(o.type, s[k]);
    if (o.ftz) v[k] = f.flushed(v[k]);
  }
  exact_number one_number;
  one_number.magnitude = 1;
  const std::uint64_t one = encode(f, one_number, direction::nearest_even);
  if (o.name == "testp") return r = test(o, f, v[0]), true;
  if (signs(o, f, v, r)) return true;
  if (o.name == "min" || o.name == "max") r = least_or_most(o, f, v[0], v[1]);
  else if (o.name == "add") r = calculate(f, formula::add, v[0], v[1], 0, o.round);
  else if (o.name == "sub")
    r = calculate(f, formula::add, v[0], f.is_nan(v[1]) ? v[1] : v[1] ^ f.sign_bit(), 0, o.round);
  else if (o.name == "mul") r = calculate(f, formula::multiply, v[0], v[1], 0, o.round);
  else if (o.name == "fma" || o.name == "mad") r = calculate(f, formula::fused, v[0], v[1], v[2], o.round);
  else if (o.name == "div") r = calculate(f, formula::divide, v[0], v[1], 0, o.round);
  else if (o.name == "rcp") r = calculate(f, formula::divide, one, v[0], 0, o.round);
  else if (o.name == "sqrt") r = calculate(f, formula::root, v[0], 0, 0, o.round);
  else if (o.name == "rsqrt") r = calculate(f, formula::inverse_root, v[0], 0, 0, o.round);
  else if (o.approx && f.width == 32) {
    float x;
    const auto low = static_cast<std::uint32_t>(v[0]);
    std::memcpy(&x, &low, sizeof x);
    const auto y = static_cast<float>(transcendental(o.name, static_cast<double>(x)));
    std::uint32_t bits;
    std::memcpy(&bits, &y, sizeof bits);
    r = std::isnan(y) ? f.nan() : bits;
  } else if (o.approx && f.width == 16 && (o.name == "ex2" || o.name == "tanh")) {
    if (f.is_nan(v[0])) return r = f.nan(), true;
    double x = f.is_negative(v[0]) ? -HUGE_VAL : HUGE_VAL;
    if (!f.is_infinite(v[0])) x = as_double(encode({64, 52}, decode(f, v[0]), direction::zero));
    const double y = transcendental(o.name, x);
    r = std::isinf(y) ? f.infinity()
        : y == 0      ? v[0] & f.sign_bit() & (o.name == "tanh" ? ~0ull : 0ull)
                      : encode(f, decode_double(y), direction::nearest_even);
  } else {
    return false;
  }
  if (o.relu && !f.is_nan(r) && f.is_negative(r)) r = 0;
  if (o.ftz) r = f.flushed(r);
  if (o.sat) r = saturated(f, r);
  return true;
}

}  // namespace heddle::conformance
