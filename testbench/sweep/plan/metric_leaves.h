// SPDX-License-Identifier: MIT
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heddle::testbench {

/// Scalar values of the metrics with their paths: "kernels.0.metrics.ipc".
using metric_leaves = std::vector<std::pair<std::string, nlohmann::json>>;

/// The values of a JSON text in the order of their paths, without the members `gpu` and `schema`. False: it is no JSON
/// object.
bool read_leaves(const std::string& text, metric_leaves& leaves);

}  // namespace heddle::testbench
