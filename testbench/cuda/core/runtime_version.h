// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::cuda {

/// The CUDA version the program was compiled for, in the form of cudaRuntimeGetVersion (13000): some functions have
/// another signature in each version.
int runtime_version();

/// Ends the program with a message if `caller` is code of a CUDA runtime within the program whose functions were not
/// found: without a symbol table, nothing else tells that there is one. If it is within a library, which the program
/// may not need, a message names the library; true: it was written.
bool refuse_hidden_runtime(const void* caller);

}  // namespace heddle::cuda
