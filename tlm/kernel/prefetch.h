// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>

namespace heddle {

/// Asks the host for the cache lines of `bytes` bytes from `address` on, without waiting for them. Any address will do;
/// nothing changes but time.
inline void host_prefetch(const void* address, std::size_t bytes) {
  const char* const first = static_cast<const char*>(address);
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(first + at);
}

}  // namespace heddle
