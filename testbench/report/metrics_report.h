// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

struct named_metrics {
  std::string name;  // that the reader knows it by
  std::string text;  // a metrics file
};

/// Throws input_error with the place: no metrics file ("heddle.metrics/1"), or one in which something is not what it
/// should be.
void check_metrics(const named_metrics& metrics);

/// What the page shows of one run, or of several side by side, as JSON: the metrics, and beside them what the rules say
/// of each kernel (`judged`), the parameters of the shipped GPU of that name, and what the parameters mean. The texts
/// have been checked, or come from to_json().
std::string report_of_metrics(const std::vector<named_metrics>& metrics);

}  // namespace heddle::testbench
