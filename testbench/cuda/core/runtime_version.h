// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::cuda {

/// The CUDA version the program was compiled for, in the form of cudaRuntimeGetVersion (13000): some functions have
/// another signature in each version.
int runtime_version();

}  // namespace heddle::cuda
