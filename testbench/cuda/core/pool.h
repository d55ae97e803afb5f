// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::cuda {

/// Memory of a pool is given back: it counts no longer.
void leave_pool(const void* p);

}  // namespace heddle::cuda
