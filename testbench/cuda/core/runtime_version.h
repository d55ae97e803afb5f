// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::cuda {

/// The CUDA that the program was built with, as cudaRuntimeGetVersion has it (13000): some names have another layout in
/// each.
int runtime_version();

}  // namespace heddle::cuda
