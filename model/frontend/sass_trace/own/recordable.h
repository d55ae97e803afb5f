// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "heddle/isa/program.h"

namespace heddle::sass_trace {

/// What of the program the steps of its warps do not determine, so that it cannot be recorded; empty: nothing.
std::string why_not_recordable(const isa::program& program);

}  // namespace heddle::sass_trace
