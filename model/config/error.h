// SPDX-License-Identifier: MIT
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace heddle {

/// Bad input: the caller's file, option or launch. `what()` is one line, "FILE:LINE:COL: what, and what was expected"
/// (the place only if a file is at fault). Exit code 2 of the program.
class input_error : public std::runtime_error {
 public:
  explicit input_error(const std::string& message) : std::runtime_error(message) {}
  input_error(const std::string& file, std::uint32_t line, std::uint32_t column, const std::string& message)
      : std::runtime_error(file + ":" + std::to_string(line) + ":" + std::to_string(column) + ": " + message) {}
};

/// The simulated program failed (illegal address, deadlock, trap). Exit code 1. `what()` may have several lines.
class program_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A broken invariant of the model itself. Exit code 3.
class internal_error : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

/// Converts `value` to T. Throws internal_error if T cannot represent it, for instance 65,536 in 16 bits or 0.5 as an
/// integer. Values are never truncated silently.
template <class T, class F>
T narrow(F value) {
  static_assert(std::is_integral<T>::value && std::is_arithmetic<F>::value, "narrow makes a whole number");
  constexpr auto least = std::numeric_limits<T>::lowest(), largest = std::numeric_limits<T>::max();
  bool holds = false;
  if constexpr (std::is_floating_point<F>::value)
    holds = value >= static_cast<F>(least) && value < std::ldexp(F{1}, std::numeric_limits<T>::digits) &&
            std::trunc(value) == value;
  else holds = static_cast<F>(static_cast<T>(value)) == value && (value < F{}) == (static_cast<T>(value) < T{});
  if (__builtin_expect(!holds, 0))
    throw internal_error("the value " + std::to_string(value) + " does not fit where the model holds it, expected " +
                         std::to_string(least) + " to " + std::to_string(largest));
  return static_cast<T>(value);
}

/// Throws internal_error with `message` if `holds` is false, in release builds, too.
inline void invariant(bool holds, const char* message) {
  if (__builtin_expect(!holds, 0)) throw internal_error(message);
}

}  // namespace heddle
