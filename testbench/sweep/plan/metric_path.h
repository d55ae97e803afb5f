// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace heddle::testbench {

/// The most elements that lists of the metrics can have in a sweep, by their paths with '*' for numbers: "kernels",
/// "sms.*.sub_partitions". Lists that are not named may have any number.
using list_lengths = std::map<std::string, std::uint64_t>;

/// What is wrong with a path into the metrics, such as "kernels.0.metrics.ipc"; empty: nothing.
std::string wrong_metric_path(const std::string& path, const list_lengths& most);

}  // namespace heddle::testbench
