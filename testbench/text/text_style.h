// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

/// The style of text for people: with or without colours.
struct text_style {
  bool colour = false;

  [[nodiscard]] std::string bold(const std::string& text) const { return with("1", text); }
  [[nodiscard]] std::string red(const std::string& text) const { return with("31", text); }
  [[nodiscard]] std::string yellow(const std::string& text) const { return with("33", text); }
  [[nodiscard]] std::string with(const char* code, const std::string& text) const {
    return colour && !text.empty() ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
  }
};

/// Enables colours only if `stream` (STDOUT_FILENO, STDERR_FILENO) is a terminal that supports them and NO_COLOR is
/// not set.
text_style style_of(int stream);
text_style stdout_style();

}  // namespace heddle::testbench
