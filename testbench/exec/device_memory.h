// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <bitset>
#include <cstdint>
#include <map>
#include <utility>

#include "heddle/gpu/host/host_driver.h"
#include "heddle/memory/common/host_regions.h"
#include "heddle/sanitize/sanitizer.h"

namespace heddle::testbench {

/// The device memory that a CUDA program allocates and frees; freed memory is reused.
///
/// A GPU maps memory in pages of 2 MiB, so it does not notice an access that misses its allocation by little, and there
/// are programs that read some bytes before or behind one. Kernels may therefore access the rest of an allocation's
/// last page of 4 KiB, and before and behind these pages a sixteenth of their size, at least 4 and at most 64 KiB,
/// unless bounds are exact.
class device_memory {
 public:
  /// `checks`: is notified of allocations; may be null.
  device_memory(host_driver& driver, std::uint64_t capacity, bool exact_bounds, sanitizer* checks)
      : driver_(driver), capacity_(capacity), exact_bounds_(exact_bounds), checks_(checks) {}

  enum class use {
    device,    // counted
    migrates,  // of the program, which also writes it by itself, in whole units of host_regions; counted
    host       // the same, not counted
  };
  /// 0: not enough memory is left.
  std::uint64_t allocate(std::uint64_t bytes, use by);
  /// False: no allocation begins there. Kernels may no longer access released memory.
  bool release(std::uint64_t address);
  /// Addresses without memory; 0: there are not so many. `alignment`: a power of two.
  std::uint64_t reserve(std::uint64_t bytes, std::uint64_t alignment);
  /// Such addresses may be given again.
  void forget(std::uint64_t address);
  /// Memory of a program, which kernels will access at the program's addresses. False: another program's lies there.
  bool share(std::uint64_t address, std::uint64_t bytes);
  void unshare(std::uint64_t address) { shared_.erase(address); }
  /// Memory without addresses. False: not enough is left.
  bool take(std::uint64_t bytes);
  void give(std::uint64_t bytes) { taken_ -= bytes; }
  /// Kernels may access reserved addresses, or no longer. `written`: the memory has been used before.
  void open(std::uint64_t address, std::uint64_t bytes, bool written);
  void close(std::uint64_t address);
  /// The driver has forgotten all addresses that it has given, as after a reset of the GPU.
  void restart();
  [[nodiscard]] std::uint64_t capacity() const { return capacity_; }
  [[nodiscard]] std::uint64_t taken() const { return taken_; }

 private:
  [[nodiscard]] std::uint64_t margin(std::uint64_t size) const;

  host_driver& driver_;
  std::uint64_t capacity_;
  bool exact_bounds_;
  sanitizer* checks_;
  std::uint64_t taken_ = 0;
  struct live_allocation {
    std::uint64_t bytes = 0;
    use by = use::device;
    [[nodiscard]] bool in_place() const { return by != use::device; }
  };
  std::map<std::uint64_t, live_allocation> live_;  // by address
  std::map<std::uint64_t, std::uint64_t> shared_;  // of programs: address: bytes
  // By bytes and kind of memory: addresses.
  std::multimap<std::pair<std::uint64_t, bool>, std::uint64_t> free_;
  // Bytes and alignments of addresses that were reserved, and that can be again.
  using extent = std::pair<std::uint64_t, std::uint64_t>;
  std::map<std::uint64_t, extent> reserved_;
  std::multimap<extent, std::uint64_t> forgotten_;
};

}  // namespace heddle::testbench
