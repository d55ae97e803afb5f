// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace heddle::testbench {

struct named_metrics {
  std::string name;  // shown to the reader
  std::string text;  // content of a metrics file
};

/// Throws input_error with the position if the text is no metrics file ("heddle.metrics/1") or a value has the wrong
/// type.
void check_metrics(const named_metrics& metrics);

/// The content of the page for one run or several runs side by side, as JSON: the metrics, the verdict on each kernel
/// (`judged`), the parameters of the shipped GPU of that name, and the meanings of the parameters. The texts must be
/// checked or come from to_json().
std::string report_of_metrics(const std::vector<named_metrics>& metrics);

}  // namespace heddle::testbench
