// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

namespace heddle {

/// Bad input: the caller's file, option or launch. `what()` is one line, "FILE:LINE:COL: what, and what was expected"
/// (place only where a file is at fault). Exit code 2 of the program.
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

/// Throws internal_error with `message` when `holds` is false; on in release builds.
inline void invariant(bool holds, const char* message) {
  if (__builtin_expect(!holds, 0)) throw internal_error(message);
}

}  // namespace heddle
