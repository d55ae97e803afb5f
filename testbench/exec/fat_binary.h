// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace heddle::testbench {

/// One part of a fat binary: code for one architecture.
struct fat_binary_entry {
  bool is_ptx = false;        // otherwise machine code
  unsigned architecture = 0;  // 10 * compute capability: 75, 100
  std::string text;           // PTX only
};

/// The size in bytes of a fat binary that begins with `data`, of which fat_binary_head_bytes are needed. Throws
/// input_error if it is not a fat binary.
constexpr std::size_t fat_binary_head_bytes = 16;
std::uint64_t fat_binary_bytes(const std::uint8_t* data, std::size_t bytes);

/// The parts of a fat binary; machine code is listed without its content. PTX may be compressed (LZ4, zstd). Throws
/// input_error that describes the defect. Source: docs/use/cuda_programs.md.
std::vector<fat_binary_entry> read_fat_binary(const std::uint8_t* data, std::size_t bytes);

/// The architecture for which the PTX is: 80, 90a, 100f.
std::string ptx_target(const fat_binary_entry& entry);

/// Whether a chip runs the PTX: 90a is for that compute capability alone, 100f for its family, 80 for all later ones.
bool runs_ptx(const fat_binary_entry& entry, unsigned compute_capability);

/// The PTX for a chip of this compute capability (10 * major + minor): the newest that it can run, else the newest.
/// Throws input_error, naming nvcc's option, if there is none.
const fat_binary_entry& choose_ptx(const std::vector<fat_binary_entry>& entries, unsigned compute_capability);

}  // namespace heddle::testbench
