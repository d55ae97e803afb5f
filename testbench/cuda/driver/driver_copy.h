// SPDX-License-Identifier: MIT
// The driver's description of copies.
#pragma once

#include "testbench/cuda/core/array.h"
#include "testbench/cuda/driver/driver.h"

namespace heddle::cuda {

enum place : int { in_host = 1, in_device, in_array, by_pointer };  // CUmemorytype

/// One side of CUDA_MEMCPY3D.
struct side_3d {
  std::size_t x_bytes, y, z, level;
  int where;
  const void* host;
  address_t device;
  array_t array;
  void* reserved;
  std::size_t pitch, height;
};
struct driver_copy_3d {
  side_3d from, to;
  std::size_t width_bytes, height, depth;
};

/// The runtime's direction of a copy between two places.
inline int direction(int from, int to) {
  if (from == by_pointer || to == by_pointer) return by_pointers;
  return from == in_host ? (to == in_host ? host_to_host : host_to_device)
         : to == in_host ? device_to_host
                         : device_to_device;
}

}  // namespace heddle::cuda
