// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <string>

namespace heddle {

/// A part of the input as a message shows it: at most 200 characters of it, the first and the last ones where it is
/// longer, with control characters and bytes that are not UTF-8 escaped.
std::string printable(const std::string& text);

/// A message as one line. Whatever it quotes ('...', a word, a place FILE:LINE:COLUMN) is made printable, and so is the
/// whole, of which at most 1,000 characters stay.
std::string one_line(const std::string& message);

/// Length of the UTF-8 sequence that begins at `at`, 0 if there is none (RFC 3629: no surrogates, nothing longer than
/// needed).
std::size_t utf8_sequence(const std::string& text, std::size_t at);

}  // namespace heddle
