// SPDX-License-Identifier: MIT
// Text helpers shared by the readers of trace files.
#pragma once

#include <string_view>

namespace heddle::sass_trace {

inline bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }
inline bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

/// `text` without leading and trailing blanks.
inline std::string_view trimmed(std::string_view text) {
  const std::size_t from = text.find_first_not_of(" \t\r");
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(" \t\r") - from + 1);
}

}  // namespace heddle::sass_trace
