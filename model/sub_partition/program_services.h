// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

/// What the routines of the CUDA device runtime (printf, malloc, free, a failed assertion) reach outside the SM.
class program_services {
 public:
  virtual ~program_services() = default;
  /// Reads device memory as it is now: a store counts once it has been answered. False: not all of it is mapped.
  virtual bool inspect(std::uint64_t address, void* data, unsigned bytes) = 0;
  /// Takes the text that a call of printf made.
  virtual void print(const std::string& text) = 0;
  /// Memory of the device heap, 16-byte aligned; 0: none left.
  virtual std::uint64_t heap_allocate(std::uint64_t bytes) = 0;
  /// False: not an address that heap_allocate gave and that is still in use.
  virtual bool heap_free(std::uint64_t address) = 0;
};

}  // namespace heddle
