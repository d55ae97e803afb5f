// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// Splits a line into words as a shell does, without expansions: single and double quotes, backslashes. Throws
/// input_error ("WHO: ...") for an unterminated quote.
std::vector<std::string> shell_words(const std::string& line, const std::string& who);
/// Quotes a word so that a shell takes it literally.
std::string shell_quoted(const std::string& word);

}  // namespace heddle::testbench
