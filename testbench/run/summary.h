// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "testbench/text/text_style.h"

namespace heddle::testbench {

struct run_outcome;

/// What a run came to, for people: at most 80 columns.
std::string summary_text(const run_outcome& outcome, const text_style& style);

}  // namespace heddle::testbench
