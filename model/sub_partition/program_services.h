// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

namespace heddle {

/// Environment of the CUDA device runtime's routines (printf, malloc, free, failed assertions) outside the SM.
class program_services {
 public:
  virtual ~program_services() = default;
  /// Reads current device memory: a store is visible once it has been acknowledged. Returns false if part of the range
  /// is not mapped.
  virtual bool inspect(std::uint64_t address, void* data, unsigned bytes) = 0;
  /// Receives the text of a printf call.
  virtual void print(const std::string& text) = 0;
  /// Allocates from the device heap, 16-byte aligned; 0 if it is full.
  virtual std::uint64_t heap_allocate(std::uint64_t bytes) = 0;
  /// Frees an address that heap_allocate returned; false if it is not in use.
  virtual bool heap_free(std::uint64_t address) = 0;
};

}  // namespace heddle
