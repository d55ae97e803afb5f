// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>

#include "heddle/gpu/host/host_driver.h"

namespace heddle::testbench {

/// Device memory that a CUDA program has allocated: given out, taken back, given out again.
class device_memory {
 public:
  device_memory(host_driver& driver, std::uint64_t capacity) : driver_(driver), capacity_(capacity) {}

  /// 0: there is not so much left.
  std::uint64_t allocate(std::uint64_t bytes);
  /// False: nothing was allocated there. From then on kernels may not touch it.
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
