// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

/// The words of a line as a shell has them that replaces nothing: quotes of both kinds, and backslashes. Throws
/// input_error ("WHO: ...") at a quote without an end.
std::vector<std::string> shell_words(const std::string& line, const std::string& who);
/// A word that a shell takes as it is.
std::string shell_quoted(const std::string& word);

}  // namespace heddle::testbench
