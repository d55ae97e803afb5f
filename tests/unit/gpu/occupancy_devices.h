// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "heddle/config/parameter_table.h"

namespace heddle::test {

/// The limits of a compute capability: NVIDIA CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability"; for 1.x and 2.x NVIDIA's occupancy spreadsheet.
struct device_row {
  std::string compute_capability;
  unsigned max_threads_per_block, max_threads, max_blocks;
  unsigned registers, registers_per_block, registers_per_thread, register_unit;
  std::string register_allocation;
  unsigned warp_granularity, sub_partitions;
  unsigned shared_kb, per_block_kb, opt_in_kb, reserved_bytes, shared_unit;
  std::string carveouts_kb;
  unsigned barriers;
};

inline const std::vector<device_row>& device_rows() {
  static const std::vector<device_row> rows = {
      {"1.0", 512, 768, 8, 8192, 8192, 124, 256, "block", 2, 1, 16, 16, 16, 0, 512, "16", 0},
      {"1.1", 512, 768, 8, 8192, 8192, 124, 256, "block", 2, 1, 16, 16, 16, 0, 512, "16", 0},
      {"1.2", 512, 1024, 8, 16384, 16384, 124, 512, "block", 2, 1, 16, 16, 16, 0, 512, "16", 0},
      {"1.3", 512, 1024, 8, 16384, 16384, 124, 512, "block", 2, 1, 16, 16, 16, 0, 512, "16", 0},
      {"2.0", 1024, 1536, 8, 32768, 32768, 63, 64, "warp", 2, 2, 48, 48, 48, 0, 128, "16,48", 0},
      {"2.1", 1024, 1536, 8, 32768, 32768, 63, 64, "warp", 2, 2, 48, 48, 48, 0, 128, "16,48", 0},
      {"3.0", 1024, 2048, 16, 65536, 65536, 63, 256, "warp", 4, 4, 48, 48, 48, 0, 256, "16,32,48", 0},
      {"3.5", 1024, 2048, 16, 65536, 65536, 255, 256, "warp", 4, 4, 48, 48, 48, 0, 256, "16,32,48", 0},
      {"3.7", 1024, 2048, 16, 131072, 65536, 255, 256, "warp", 4, 4, 112, 48, 48, 0, 256, "80,96,112", 0},
      {"5.0", 1024, 2048, 32, 65536, 65536, 255, 256, "warp", 4, 4, 64, 48, 48, 0, 256, "64", 0},
      {"5.2", 1024, 2048, 32, 65536, 65536, 255, 256, "warp", 4, 4, 96, 48, 48, 0, 256, "96", 0},
      {"5.3", 1024, 2048, 32, 65536, 32768, 255, 256, "warp", 4, 4, 64, 48, 48, 0, 256, "64", 0},
      {"6.0", 1024, 2048, 32, 65536, 65536, 255, 256, "warp", 2, 2, 64, 48, 48, 0, 256, "64", 0},
      {"6.1", 1024, 2048, 32, 65536, 65536, 255, 256, "warp", 4, 4, 96, 48, 48, 0, 256, "96", 0},
      {"6.2", 1024, 2048, 32, 65536, 32768, 255, 256, "warp", 4, 4, 64, 48, 48, 0, 256, "64", 0},
      {"7.0", 1024, 2048, 32, 65536, 65536, 255, 256, "warp", 4, 4, 96, 48, 96, 0, 256, "0,8,16,32,64,96", 0},
      {"7.5", 1024, 1024, 16, 65536, 65536, 255, 256, "warp", 4, 4, 64, 48, 64, 0, 256, "32,64", 0},
      {"8.0", 1024, 2048, 32, 65536, 65536, 255, 256, "warp", 4, 4, 164, 48, 163, 1024, 128, "0,8,16,32,64,100,132,164",
       0},
      {"8.6", 1024, 1536, 16, 65536, 65536, 255, 256, "warp", 4, 4, 100, 48, 99, 1024, 128, "0,8,16,32,64,100", 0},
      {"8.7", 1024, 1536, 16, 65536, 65536, 255, 256, "warp", 4, 4, 164, 48, 163, 1024, 128, "0,8,16,32,64,100,132,164",
       0},
      {"8.9", 1024, 1536, 24, 65536, 65536, 255, 256, "warp", 4, 4, 100, 48, 99, 1024, 128, "0,8,16,32,64,100", 0},
      {"9.0", 1024, 2048, 32, 65536, 65536, 255, 256, "warp", 4, 4, 228, 48, 227, 1024, 128,
       "0,8,16,32,64,100,132,164,196,228", 64},
      {"10.0", 1024, 2048, 32, 65536, 65536, 255, 256, "warp", 4, 4, 228, 48, 227, 1024, 128,
       "0,8,16,32,64,100,132,164,196,228", 64},
      {"12.0", 1024, 1536, 24, 65536, 65536, 255, 256, "warp", 4, 4, 100, 48, 99, 1024, 128, "0,8,16,32,64,100", 24},
  };
  return rows;
}

/// A configuration with the limits of a row; all other parameters have defaults.
inline gpu_config config_of(const device_row& row) {
  gpu_config config;
  config.gpu.compute_capability = choice::named<choice::compute_capability>(row.compute_capability);
  config.sm.sub_partitions = row.sub_partitions;
  config.sm.max_threads = row.max_threads;
  config.sm.max_warps = row.max_threads / 32;
  config.sm.max_blocks = row.max_blocks;
  config.sm.max_threads_per_block = row.max_threads_per_block;
  config.sm.registers = row.registers;
  config.sm.registers_per_block = row.registers_per_block;
  config.sm.registers_per_thread = row.registers_per_thread;
  config.sm.register_allocation_unit = row.register_unit;
  config.sm.register_allocation =
      row.register_allocation == "block" ? choice::register_allocation::block : choice::register_allocation::warp;
  config.sm.warp_allocation_granularity = row.warp_granularity;
  config.sm.barriers = row.barriers;
  config.shared_memory.size_bytes = row.shared_kb * 1024;
  config.shared_memory.max_per_block_bytes = row.per_block_kb * 1024;
  config.shared_memory.opt_in_per_block_bytes = row.opt_in_kb * 1024;
  config.shared_memory.reserved_per_block_bytes = row.reserved_bytes;
  config.shared_memory.allocation_unit_bytes = row.shared_unit;
  set_text(config, *find_parameter("shared_memory.carveouts_kb"), row.carveouts_kb);
  return config;
}

/// The configuration of a compute capability among the rows.
inline gpu_config config_of(const std::string& compute_capability) {
  for (const device_row& row : device_rows())
    if (row.compute_capability == compute_capability) return config_of(row);
  return {};
}

}  // namespace heddle::test
