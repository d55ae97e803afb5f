// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::cuda {

/// Unloads the modules and libraries that a context owns.
void unload_of(const void* owner);

}  // namespace heddle::cuda
