// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cmath>
#include <cstring>

#include "float_format.h"
#include "tests/conformance/families.h"

namespace heddle::conformance {

namespace {

double as_float(std::uint64_t v, isa::dtype t) {
  if (t == isa::dtype::bf16) v <<= 16;
  if (t == isa::dtype::f16) {
    const bool subnormal = (v & 0x7c00) == 0, special = (v & 0x7c00) == 0x7c00;
    const double magnitude =
        subnormal          ? std::ldexp(static_cast<double>(v & 0x3ff), -24)
        : !special         ? std::ldexp(static_cast<double>((v & 0x3ff) | 0x400), static_cast<int>(v >> 10 & 31) - 25)
        : (v & 0x3ff) != 0 ? std::nan("")
                           : HUGE_VAL;
    return v >> 15 & 1 ? -magnitude : magnitude;
  }
  const auto low = static_cast<std::uint32_t>(v);
  float f;
  std::memcpy(&f, &low, sizeof f);
  return static_cast<double>(f);
}

}  // namespace

bool agrees(const tolerance& t, std::uint64_t got, std::uint64_t expected) {
  if (got == expected) return true;
  if (t.type == isa::dtype::f64) {
    const float_format f = format_of(t.type);
    return f.is_nan(got) && f.is_nan(expected);
  }
  if (t.what == tolerance::kind::bits) return false;
  const double g = as_float(got, t.type), e = as_float(expected, t.type);
  if (std::isnan(g) || std::isnan(e)) return std::isnan(g) && std::isnan(e);
  if (std::isinf(g) || std::isinf(e)) return false;
  // One unit in the last place of subnormal numbers.
  if (t.type == isa::dtype::f16 && std::fabs(g - e) <= 0x1p-24) return true;
  if (t.type == isa::dtype::f16 || t.type == isa::dtype::bf16)
    return std::fabs(g - e) <= t.bound * std::fabs(e) * (1 + 0x1p-10);
  const double ulp = std::ldexp(1.0, std::max(std::ilogb(e == 0 ? 1e-45 : e), -126) - 23),
               error = std::fabs(g - e) - ulp / 2;
  switch (t.what) {
    case tolerance::kind::ulp: return error <= t.bound * ulp;
    case tolerance::kind::absolute: return error <= t.bound;
    case tolerance::kind::logarithm:
      return error <= t.bound * std::max(1.0, std::fabs(e));  // absolute near 1, relative elsewhere
    default: return error <= t.bound * std::fabs(e) || error <= ulp;
  }
}

}  // namespace heddle::conformance
