// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include "heddle/isa/instruction.h"
#include "heddle/simt/warp/warp_state.h"

namespace heddle {

/// Environment of the CUDA device runtime's routines (printf, malloc, free, failed assertions) outside the SM.
class program_services {
 public:
  virtual ~program_services() = default;
  /// Reads current device memory: a store is visible once it has been acknowledged. Returns false if part of the range
  /// is not mapped.
  virtual bool inspect(std::uint64_t address, void* data, unsigned bytes) = 0;
  /// Receives the text of a printf call of that launch.
  virtual void print(const simt::launch_context& launch, const std::string& text) = 0;
  /// Allocates from the device heap of the launch's process, 16-byte aligned; 0 if it is full.
  virtual std::uint64_t heap_allocate(const simt::launch_context& launch, std::uint64_t bytes) = 0;
  /// A lane has received this address, which may be 0, of `bytes` bytes.
  virtual void heap_given(std::uint64_t address, std::uint64_t bytes, const simt::warp_state& w,
                          const isa::instruction& i, unsigned lane) {
    static_cast<void>(address), static_cast<void>(bytes), static_cast<void>(w), static_cast<void>(i);
    static_cast<void>(lane);
  }
  /// A lane is about to free an address, which may not be in use.
  virtual void heap_freeing(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                            unsigned lane) {
    static_cast<void>(address), static_cast<void>(w), static_cast<void>(i), static_cast<void>(lane);
  }
  /// Frees an address that heap_allocate returned to a launch of the same process; false if it is not in use.
  virtual bool heap_free(const simt::launch_context& launch, std::uint64_t address) = 0;
  /// A lane has tried to free what is not in use. True: that was reported, and the lane goes on.
  virtual bool heap_misfreed(std::uint64_t address, const simt::warp_state& w, const isa::instruction& i,
                             unsigned lane) {
    static_cast<void>(address), static_cast<void>(w), static_cast<void>(i), static_cast<void>(lane);
    return false;
  }
};

}  // namespace heddle
