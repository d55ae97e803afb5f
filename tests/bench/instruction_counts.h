// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace bench {

/// Counts the host's instructions of short runs and compares them with those of a file; prints a line for each. Returns
/// a test's exit code: 0, 1 when one differs by more than 5 %, 77 (skipped) when there is no valgrind, or when the file
/// was written by a build with another compiler or SystemC, whose counts differ for that alone. Throws
/// std::runtime_error when the file cannot be read or a run fails.
int check_counts(const std::string& file, const std::string& folder);

/// Writes the file: one line for the build, one for each run. Returns 0, or 77 as above.
int renew_counts(const std::string& file, const std::string& folder);

}  // namespace bench
