// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>

#include "heddle/tlm/kernel/state_image.h"

namespace heddle {

/// The heap of malloc in kernels: first fit, lowest address first, in the order of the calls. It manages addresses
/// only.
class device_heap {
 public:
  /// Assigns memory to the heap and discards all earlier allocations.
  void place(std::uint64_t base, std::uint64_t bytes);
  /// 16-byte aligned; 0 if `bytes` is 0 or no gap is large enough.
  [[nodiscard]] std::uint64_t allocate(std::uint64_t bytes);
  /// False if `address` is not the address of an allocation.
  bool free(std::uint64_t address);
  void exchange(state_image& image) { image(gaps_, taken_); }
  /// Address and bytes (a multiple of 16) of each allocation in use.
  [[nodiscard]] const std::map<std::uint64_t, std::uint64_t>& taken() const { return taken_; }

 private:
  std::map<std::uint64_t, std::uint64_t> gaps_;  // begin, bytes
  std::map<std::uint64_t, std::uint64_t> taken_;
};

}  // namespace heddle
