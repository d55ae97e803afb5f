// SPDX-License-Identifier: MIT
// Values of the model that differ from a published figure for a known reason. The reason is beside the figure in the
// test, the model's value in explained_values.txt. `./dev microbench renew` updates the values.
#pragma once

#include <set>
#include <string>

namespace microbench {

/// Fails if the model's value differs from the recorded one, to two decimals. `row` names the test, the GPU and the
/// measured quantity.
void expect_written(const std::string& row, double model);

/// The recorded rows whose first word is `test`.
std::set<std::string> written_rows(const std::string& test);

}  // namespace microbench
