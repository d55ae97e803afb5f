// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>

#include "heddle/gpu/host/host_driver.h"

namespace heddle::testbench {

/// The device memory that a CUDA program allocates and frees; freed memory is reused.
class device_memory {
 public:
  device_memory(host_driver& driver, std::uint64_t capacity) : driver_(driver), capacity_(capacity) {}

  /// 0: not enough memory is left.
  std::uint64_t allocate(std::uint64_t bytes);
  /// False: no allocation begins there. Kernels may no longer access released memory.
  bool release(std::uint64_t address);
  std::uint64_t capacity() const { return capacity_; }
  std::uint64_t taken() const { return taken_; }

 private:
  host_driver& driver_;
  std::uint64_t capacity_;
  std::uint64_t taken_ = 0;
  std::map<std::uint64_t, std::uint64_t> live_;       // address: bytes
  std::multimap<std::uint64_t, std::uint64_t> free_;  // bytes: address
};

}  // namespace heddle::testbench
