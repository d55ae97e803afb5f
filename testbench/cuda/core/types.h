// SPDX-License-Identifier: MIT
// The binary interface of CUDA's runtime against which programs are compiled: plain structures, derived from its
// documentation. Enumerations are ints. Where NVIDIA's headers are available, a test checks sizes and offsets against
// them (tests/system/cuda_layout_test.cpp).
#pragma once

#include <cstddef>
#include <cstdint>

namespace heddle::cuda {

using error_t = int;
using stream_t = void*;
using event_t = void*;
using array_t = struct array_record*;
using function_t = const void*;

struct dim3_t {
  unsigned x, y, z;
};

enum copy_kind : int { host_to_host, host_to_device, device_to_host, device_to_device, by_pointers };
enum memory_type : int { unregistered, host, device, managed };

struct extent_t {
  std::size_t width, height, depth;
};
struct position_t {
  std::size_t x, y, z;
};
struct pitched_pointer {
  void* pointer;
  std::size_t pitch, width, height;
};
struct copy_3d {
  array_t source_array;
  position_t source_position;
  pitched_pointer source;
  array_t destination_array;
  position_t destination_position;
  pitched_pointer destination;
  extent_t extent;
  int kind;
};

struct channel_format {
  int x, y, z, w;
  int kind;  // 0 signed, 1 unsigned, 2 float
};

struct pointer_attributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
};

struct function_attributes {
  std::size_t shared_bytes, constant_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version;
  int cache_mode_ca, max_dynamic_shared_bytes, carveout;
  int cluster_must_be_set;  // padding before CUDA 12
};
/// cudaFuncAttributes from CUDA 12 on.
struct function_attributes_12 : function_attributes {
  int required_cluster[3], cluster_policy, non_portable_cluster, reserved[16];
};

struct launch_attribute {
  int id;
  char pad[4];
  union {
    char bytes[64];
    int number;
    unsigned triple[3];
    event_t event;
  } value;
};
struct launch_config {
  dim3_t grid, block;
  std::size_t dynamic_shared_bytes;
  stream_t stream;
  launch_attribute* attributes;
  unsigned attribute_count;
};

/// cudaDeviceProp up to CUDA 11; CUDA 12 appends to it.
struct device_properties_11 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  std::size_t total_memory, shared_per_block;
  int registers_per_block, warp_size;
  std::size_t pitch;
  int max_threads_per_block, max_threads_dim[3], max_grid[3];
  int clock_khz;
  std::size_t constant_bytes;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int device_overlap, sms, timeout, integrated, can_map_host_memory, compute_mode;
  int texture_1d, texture_1d_mipmap, texture_1d_linear, texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3],
      texture_2d_gather[2];
  int texture_3d[3], texture_3d_alternate[3], texture_cube, texture_1d_layers[2], texture_2d_layers[3],
      texture_cube_layers[2];
  int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layers[2], surface_2d_layers[3], surface_cube,
      surface_cube_layers[2];
  std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, copy_engines, unified_addressing, memory_clock_khz,
      memory_bus_bits, l2_bytes;
  int persisting_l2, max_threads_per_sm, stream_priorities, global_l1, local_l1;
  std::size_t shared_per_sm;
  int registers_per_sm, managed_memory, multi_gpu_board, multi_gpu_group, host_atomics, single_to_double,
      pageable_access, concurrent_managed;
  int preemption, host_pointer_for_registered, cooperative_launch, cooperative_multi_device;
  std::size_t shared_per_block_optin;
  int pageable_by_host_tables, direct_managed, max_blocks_per_sm, access_window;
  std::size_t reserved_shared_per_block;
};

struct device_properties_12 : device_properties_11 {
  int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools, rdma;
  unsigned rdma_flush;
  int rdma_order;
  unsigned pool_handles;
  int deferred_mapping, ipc_events, cluster_launch, unified_function_pointers, reserved[63];
};

struct device_properties_13 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_node_mask;
  std::size_t total_memory, shared_per_block;
  int registers_per_block, warp_size;
  std::size_t pitch;
  int max_threads_per_block, max_threads_dim[3], max_grid[3];
  std::size_t constant_bytes;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int sms, integrated, can_map_host_memory;
  int texture_1d, texture_1d_mipmap, texture_2d[2], texture_2d_mipmap[2], texture_2d_linear[3], texture_2d_gather[2];
  int texture_3d[3], texture_3d_alternate[3], texture_cube, texture_1d_layers[2], texture_2d_layers[3],
      texture_cube_layers[2];
  int surface_1d, surface_2d[2], surface_3d[3], surface_1d_layers[2], surface_2d_layers[3], surface_cube,
      surface_cube_layers[2];
  std::size_t surface_alignment;
  int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, copy_engines, unified_addressing, memory_bus_bits,
      l2_bytes;
  int persisting_l2, max_threads_per_sm, stream_priorities, global_l1, local_l1;
  std::size_t shared_per_sm;
  int registers_per_sm, managed_memory, multi_gpu_board, multi_gpu_group, host_atomics, pageable_access,
      concurrent_managed;
  int preemption, host_pointer_for_registered, cooperative_launch;
  std::size_t shared_per_block_optin;
  int pageable_by_host_tables, direct_managed, max_blocks_per_sm, access_window;
  std::size_t reserved_shared_per_block;
  int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, memory_pools, rdma;
  unsigned rdma_flush;
  int rdma_order;
  unsigned pool_handles;
  int deferred_mapping, ipc_events, cluster_launch, unified_function_pointers, numa_config, numa_id, mps, host_numa;
  unsigned pci_device_id, pci_subsystem_id;
  int numa_ipc, reserved[56];
};

namespace error {
constexpr error_t none = 0, invalid_value = 1, out_of_memory = 2, initialization = 3, invalid_configuration = 9,
                  invalid_pitch = 12, invalid_symbol = 13, invalid_copy_direction = 21, missing_configuration = 52,
                  invalid_function = 98, no_device = 100, invalid_device = 101, no_kernel_image = 209,
                  peer_unsupported = 217, invalid_handle = 400, illegal_state = 401, not_found = 500, not_ready = 600,
                  out_of_resources = 701, already_registered = 712, not_registered = 713, not_permitted = 800,
                  not_supported = 801, capture_unsupported = 900, invalid_cluster_size = 912, unknown = 999;
}

}  // namespace heddle::cuda
