// SPDX-License-Identifier: MIT
#pragma once

namespace heddle::cuda {

/// Removes freed memory from the statistics of its pool.
void leave_pool(const void* p);

}  // namespace heddle::cuda
