// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

namespace heddle::testbench {

/// Of a run with many launches: moves what a metrics file has by line and by instruction (`lines` and `code` of its
/// kernels) into texts of JSON that the page reads when it shows a kernel. So it opens fast. `programs` of `file` have
/// what launches of one program share, and the first launch's counts: a list of columns for lines, and one for
/// instructions (names: `columns` of `file`); `counts` of each kernel are the columns that differ from these, others
/// -1.
void compact_lines(nlohmann::ordered_json& file, nlohmann::ordered_json& metrics);

}  // namespace heddle::testbench
