// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle {
struct run_metrics;
}

namespace heddle::testbench {

/// The first lines of the report of a run, about its longest kernel, with which the page opens.
struct verdict_lines {
  std::string bound;   // "Bound by latency: ...", with the kernel's name if there are several; empty: no kernel ran
  std::string advice;  // the first change as options, and its reason; empty: none
  std::string kernel;  // what to change in the kernel first; empty: none
};
verdict_lines verdict_of(const run_metrics& metrics);

}  // namespace heddle::testbench
