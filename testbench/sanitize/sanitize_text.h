// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle {
class sanitizer;
}

namespace heddle::testbench {

/// The bits of sanitize_kind of a list such as "races,memory"; empty: all. Throws input_error.
unsigned kinds_of_text(const std::string& list);

/// Prints what was found on stderr, a message for each place, and a line with the numbers; without findings that line
/// alone, unless `quiet`. Returns the number of places.
std::size_t print_findings(const sanitizer& s, bool quiet);

/// All findings as JSON.
std::string json_of_findings(const sanitizer& s);

}  // namespace heddle::testbench
