// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "testbench/text/text_style.h"

namespace heddle::testbench {

struct run_outcome;

/// The summary of a run for people: at most 80 columns.
std::string summary_text(const run_outcome& outcome, const text_style& style);

}  // namespace heddle::testbench
