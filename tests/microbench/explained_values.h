// SPDX-License-Identifier: MIT
// What the model measures where it differs from a published figure for a reason: the reason stands beside the figure in
// the test, the model's value in explained_values.txt. `./dev microbench renew` writes the values down again.
#pragma once

#include <set>
#include <string>

namespace microbench {

/// Fails when the model's value is not the one that is written down, to two decimals. `row`: the test, the GPU and what
/// is measured, in words.
void expect_written(const std::string& row, double model);

/// The rows written down whose first word is `test`.
std::set<std::string> written_rows(const std::string& test);

}  // namespace microbench
