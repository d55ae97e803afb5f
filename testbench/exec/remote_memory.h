// SPDX-License-Identifier: MIT
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::testbench {

/// The memory of a CUDA program: another process, which runs meanwhile, and may be wrong about what it names.
class remote_memory {
 public:
  explicit remote_memory(pid_t process = 0) : process_(process) {}

  /// False: the program has nothing there, or has ended.
  bool read(std::uint64_t address, void* data, std::size_t bytes) const;
  bool write(std::uint64_t address, const void* data, std::size_t bytes) const;
  /// Why the system does not let this process read another one's memory at an address that is there; empty: it does.
  std::string refusal(std::uint64_t address) const;

 private:
  pid_t process_;
};

}  // namespace heddle::testbench
