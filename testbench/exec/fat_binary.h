// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::testbench {

/// One part of a fat binary: what nvcc has compiled for one architecture.
struct fat_binary_entry {
  bool is_ptx = false;        // else machine code of a chip
  unsigned architecture = 0;  // 10 * compute capability: 75, 100
  std::string text;           // of PTX
};

/// Sizes at its beginning: how many bytes of memory belong to a fat binary whose first fat_binary_head_bytes are
/// `data`. Throws input_error: it is none.
constexpr std::size_t fat_binary_head_bytes = 16;
std::uint64_t fat_binary_bytes(const std::uint8_t* data, std::size_t bytes);

/// What is in a fat binary, machine code as mere mention. PTX may be compressed (LZ4, zstd). Throws input_error with
/// what is wrong with it. Source: docs/cuda_programs.md.
std::vector<fat_binary_entry> read_fat_binary(const std::uint8_t* data, std::size_t bytes);

/// The PTX that a chip of this compute capability (10 * major + minor) would be given: the newest that it can run, else
/// the newest. Throws input_error, naming nvcc's option, where there is none.
const fat_binary_entry& choose_ptx(const std::vector<fat_binary_entry>& entries, unsigned compute_capability);

}  // namespace heddle::testbench
