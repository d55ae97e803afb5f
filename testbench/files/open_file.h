// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::testbench {

constexpr std::uint64_t largest_descriptor = 0x7fffffff;
constexpr std::uint64_t largest_file_offset = 0x7fffffffffffffff;

/// Bytes from `at` on of a file that this program was started with: a file in memory, or the memory of the process that
/// has started it (/proc/self/mem, opened there).
struct open_file_part {
  int descriptor = -1;
  std::uint64_t at = 0;
  [[nodiscard]] bool is_open() const { return descriptor >= 0; }
};

/// Throws input_error ("WHO: ...") unless the descriptor is open for reading or writing, at any offset.
void check_open(const open_file_part& part, bool writes, const std::string& who);
/// Read or write `bytes` bytes from byte `offset` of the part on. Both throw input_error.
void read_part(const open_file_part& part, std::uint64_t offset, void* data, std::size_t bytes, const std::string& who);
void write_part(const open_file_part& part, std::uint64_t offset, const void* data, std::size_t bytes,
                const std::string& who);

}  // namespace heddle::testbench
