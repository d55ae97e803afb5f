// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>

namespace heddle::testbench {

/// Of a run with many launches: moves what the page shows of one kernel alone into texts of JSON that it reads when it
/// shows that kernel. So it opens fast.
/// - What a metrics file has by line and by instruction (`lines` and `code` of its kernels). `programs` of `file` have
///   what launches of one program share, and the first launch's counts: a list of columns for lines, and one for
///   instructions (names: `columns` of `file`); `counts` of each kernel are the columns that differ from these, others
///   -1.
/// - Other objects, and those of the list `judged` of `file`: `details` of each kernel, without the names of members.
///   In `details` of `file` are the names of the objects, and the `shapes`: lists of the members' names. An object is
///   a list of its shape's index and its values, and a list begins with -1.
void compact_lines(nlohmann::ordered_json& file, nlohmann::ordered_json& metrics);

}  // namespace heddle::testbench
