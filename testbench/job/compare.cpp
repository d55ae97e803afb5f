// SPDX-License-Identifier: MIT
#include "testbench/job/compare.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace heddle::testbench {

namespace {

struct half {
  std::uint16_t bits;
};

template <class T>
T load(const std::uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

double value_of(half h) { return half_value(h.bits); }
double value_of(float f) { return f; }
double value_of(double d) { return d; }

std::string text_of(half h) { return fmt::format("{}", static_cast<float>(half_value(h.bits))); }
template <class T>
std::string text_of(T v) {
  if constexpr (sizeof(T) == 1) {
    return fmt::format("{}", static_cast<int>(v));
  } else {
    return fmt::format("{}", v);
  }
}

template <class T>
bool matches(T a, T reference, double atol, double rtol) {
  if constexpr (std::is_integral_v<T>) {
    if (a == reference) return true;
    using wide = __int128;
    const wide difference = a > reference ? static_cast<wide>(a) - reference : static_cast<wide>(reference) - a;
    const wide magnitude = reference < 0 ? -static_cast<wide>(reference) : static_cast<wide>(reference);
    return static_cast<double>(difference) <= atol + rtol * static_cast<double>(magnitude);
  } else {
    const double x = value_of(a);
    const double y = value_of(reference);
    if (std::isnan(x) || std::isnan(y)) return std::isnan(x) && std::isnan(y);
    if (x == y) return true;
    if (std::isinf(x) || std::isinf(y)) return false;
    return std::fabs(x - y) <= atol + rtol * std::fabs(y);
  }
}

template <class T>
void compare_as(const output& o, const std::vector<std::uint8_t>& got, const std::vector<std::uint8_t>& expected,
                comparison& c) {
  c.elements = got.size() / sizeof(T);
  for (std::uint64_t i = 0; i < c.elements; ++i) {
    const T a = load<T>(got.data() + i * sizeof(T));
    const T reference = load<T>(expected.data() + i * sizeof(T));
    if (matches(a, reference, o.atol, o.rtol)) continue;
    if (++c.differing <= 5) c.first.push_back(fmt::format("[{}] {}, expected {}", i, text_of(a), text_of(reference)));
  }
}

}  // namespace

comparison compare(const output& o, const std::vector<std::uint8_t>& got, const std::vector<std::uint8_t>& expected) {
  comparison c;
  c.name = o.name;
  c.expect = o.expect;
  switch (o.type) {
    case element_type::u8: compare_as<std::uint8_t>(o, got, expected, c); break;
    case element_type::s8: compare_as<std::int8_t>(o, got, expected, c); break;
    case element_type::u16: compare_as<std::uint16_t>(o, got, expected, c); break;
    case element_type::s16: compare_as<std::int16_t>(o, got, expected, c); break;
    case element_type::u32: compare_as<std::uint32_t>(o, got, expected, c); break;
    case element_type::s32: compare_as<std::int32_t>(o, got, expected, c); break;
    case element_type::u64: compare_as<std::uint64_t>(o, got, expected, c); break;
    case element_type::s64: compare_as<std::int64_t>(o, got, expected, c); break;
    case element_type::f16: compare_as<half>(o, got, expected, c); break;
    case element_type::f32: compare_as<float>(o, got, expected, c); break;
    case element_type::f64: compare_as<double>(o, got, expected, c); break;
  }
  return c;
}

double half_value(std::uint16_t bits) {
  const int exponent = (bits >> 10) & 31;
  const int fraction = bits & 1023;
  double magnitude;
  if (exponent == 31) {
    magnitude = fraction ? std::numeric_limits<double>::quiet_NaN() : std::numeric_limits<double>::infinity();
  } else if (exponent == 0) {
    magnitude = std::ldexp(fraction, -24);
  } else {
    magnitude = std::ldexp(1024 + fraction, exponent - 25);
  }
  return bits & 0x8000 ? -magnitude : magnitude;
}

}  // namespace heddle::testbench
