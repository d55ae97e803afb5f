// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle {
struct run_metrics;
}

namespace heddle::testbench {

/// What the report says first of a run: of its longest kernel, which the page opens with.
struct verdict_lines {
  std::string bound;   // "Bound by latency: ...", the kernel named where there are several; empty: no kernel ran
  std::string advice;  // the first change, as options, and why; empty: none
};
verdict_lines verdict_of(const run_metrics& metrics);

}  // namespace heddle::testbench
