// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle::ptx {

/// The smallest multiple of `alignment` that is at least `bytes`.
inline std::uint64_t align_up(std::uint64_t bytes, std::uint64_t alignment) {
  return (bytes + alignment - 1) / alignment * alignment;
}

}  // namespace heddle::ptx
