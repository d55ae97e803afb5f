// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace bench {

/// Kernels as a tracer would have recorded them on a V100, by hand: half memory operations as in a tiled matrix
/// product, a streaming addition of two vectors, one whose lanes part again and again, and a transposition through a
/// padded tile in shared memory. 640 blocks of each fill an 80-SM chip.
enum class trace_kind { tiled_product, streaming, divergent, transpose };

const char* name_of(trace_kind kind);

/// Writes kernelslist.g and the trace into the folder, which exists; returns the list's path. Throws std::runtime_error
/// when a file cannot be written.
std::string write_trace(trace_kind kind, const std::string& folder, unsigned blocks = 640);

}  // namespace bench
