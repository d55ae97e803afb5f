// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>

namespace heddle {

/// The heap that malloc in a kernel takes from: first fit, lowest address first, in the order of the calls. It knows
/// addresses only.
class device_heap {
 public:
  /// Gives the heap its memory; what was allocated before is forgotten.
  void place(std::uint64_t base, std::uint64_t bytes);
  /// 16-byte aligned; 0 if `bytes` is 0 or no gap is large enough.
  std::uint64_t allocate(std::uint64_t bytes);
  /// False: `address` is not that of an allocation.
  bool free(std::uint64_t address);

 private:
  std::map<std::uint64_t, std::uint64_t> gaps_;  // begin, bytes
  std::map<std::uint64_t, std::uint64_t> taken_;
};

}  // namespace heddle
