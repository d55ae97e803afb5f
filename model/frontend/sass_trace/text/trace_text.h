// SPDX-License-Identifier: MIT
// Text helpers shared by the readers of trace files.
#pragma once

#include <string>
#include <string_view>

#include "heddle/config/message.h"

namespace heddle::sass_trace {

inline bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }
inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// `text` without leading and trailing blanks.
inline std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

/// The first characters of a text of the file as a message quotes them, with all others than plain text escaped.
inline std::string shown(std::string_view text) {
  constexpr std::size_t most = 40;
  return printable(std::string(text.substr(0, most)));
}

}  // namespace heddle::sass_trace
