// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace heddle::testbench {

struct run_outcome;

/// How text for people may look.
struct text_style {
  bool colour = false;
};

/// Colours only on a terminal, and not where NO_COLOR asks for none.
text_style stdout_style();

/// What a run came to, for people: at most 80 columns.
std::string summary_text(const run_outcome& outcome, const text_style& style);

}  // namespace heddle::testbench
