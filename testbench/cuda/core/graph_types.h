// SPDX-License-Identifier: MIT
// The binary interface of graphs and memory pools, from CUDA's documentation. Enumerations are ints.
#pragma once

#include "testbench/cuda/core/types.h"

namespace heddle::cuda {

struct kernel_node_params {
  const void* function;
  dim3_t grid, block;
  unsigned shared_bytes;
  void** arguments;
  void** extra;
};
struct fill_node_params {
  void* to;
  std::size_t pitch;
  unsigned value, element_bytes;
  std::size_t width, height;  // width in elements
};
struct host_node_params {
  void (*function)(void*);
  void* data;
};
struct pool_properties {
  int allocation_type, handle_types;
  int location_type, location;
  void* security;
  std::size_t most_bytes;
  unsigned char reserved[56];
};
struct allocation_node_params {
  pool_properties properties;
  const void* access;
  std::size_t access_count;
  std::size_t bytes;
  void* pointer;
};
struct any_node_params {
  int type;
  int reserved[3];
  union {
    long long all[29];
    kernel_node_params kernel;
    struct {
      int flags, reserved[3];
      copy_3d box;
    } copy;
    fill_node_params fill;
    host_node_params host;
    void* child;
    event_t event;
    allocation_node_params allocation;
    void* freed;
    struct {
      unsigned long long handle;
      int type;
      unsigned size;
      void* bodies;
    } conditional;
  } of;
  long long reserved_end;
};
struct edge_data {
  unsigned char from_port, to_port, type, reserved[5];
};
struct instantiate_params {
  unsigned long long flags;
  stream_t upload_stream;
  void* bad_node;
  int result;
};
struct update_result {
  int result;
  void* bad_node;
  void* bad_from;
};

}  // namespace heddle::cuda
