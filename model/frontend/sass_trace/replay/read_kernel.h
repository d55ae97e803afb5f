// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "heddle/frontend/sass_trace/replay/trace_kernel.h"

namespace heddle::sass_trace {

/// Reads the whole file, so that errors are found before the kernel runs. `strict`: an unknown opcode is an error.
/// Blocks are kept in memory if the store has room for all of them. Throws input_error.
[[nodiscard]] std::shared_ptr<const trace_kernel> read_kernel(const std::string& file, bool strict,
                                                              const std::shared_ptr<trace_store>& store);

}  // namespace heddle::sass_trace
