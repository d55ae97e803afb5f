// SPDX-License-Identifier: MIT
#pragma once

#include "testbench/cuda/core/graph.h"

namespace heddle::cuda {

/// Converts the program's description of work; returns an error if it is invalid.
error_t work_of(const kernel_node_params& p, kernel_work& w);
error_t work_of(const fill_node_params& p, fill_work& w);
error_t work_of(const any_node_params& p, node_work& w);
/// Work that runs new graphs, which the description gets.
error_t conditional_of(graph& g, any_node_params& p, node_work& w);
/// If `to` is null, copies from `from` to the symbol; otherwise from the symbol to `to`.
error_t symbol_copy(const void* symbol, std::size_t offset, void* to, const void* from, std::size_t bytes, int kind,
                    copy_work& w);

}  // namespace heddle::cuda
