// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "heddle/metrics/json_code.h"
#include "heddle/metrics/json_writer.h"
#include "heddle/metrics/run_metrics.h"

namespace heddle {

/// The metrics file: one JSON object, schema "heddle.metrics/1", members in the order of run_metrics.h.
std::string to_json(const run_metrics& m);
/// The same, part by part, so that the text of many launches is never in memory as a whole.
void write_json(const run_metrics& m, const std::function<void(std::string_view)>& to);

}  // namespace heddle
