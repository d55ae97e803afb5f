// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace heddle {

/// A part of the input as a message shows it: at most 200 characters (the first and the last ones if it is longer),
/// with control characters and bytes that are not UTF-8 escaped.
std::string printable(const std::string& text);

/// A message as one line. All parts that it quotes ('...', a word, a place FILE:LINE:COLUMN) are made printable,
/// with at most 300 characters in all, and the whole is cut to 1,000.
std::string one_line(const std::string& message);

/// Length of the UTF-8 sequence that begins at `at`, or 0 if there is none (RFC 3629: no surrogates, no overlong
/// forms).
std::size_t utf8_sequence(const std::string& text, std::size_t at);

}  // namespace heddle
