// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace heddle::testbench {

/// The largest lengths of lists in the metrics of a sweep, by path with '*' for indices: "kernels",
/// "sms.*.sub_partitions". Lists without an entry may have any length.
using list_lengths = std::map<std::string, std::uint64_t>;

/// The error in a path into the metrics, such as "kernels.0.metrics.ipc"; empty: the path is valid.
std::string wrong_metric_path(const std::string& path, const list_lengths& most);

}  // namespace heddle::testbench
