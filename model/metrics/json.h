// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/metrics/json_writer.h"
#include "heddle/metrics/run_metrics.h"

namespace heddle {

/// Writes every parameter of a configuration as a member of the open object: "l1.size_bytes": 24576.
void write_parameters(json_writer& w, const gpu_config& config);

/// The metrics file: one JSON object, schema "heddle.metrics/1", members in the order of run_metrics.h.
std::string to_json(const run_metrics& m);

}  // namespace heddle
