// SPDX-License-Identifier: MIT
// The runtime: attributes of the device.
#include <algorithm>

#include "testbench/cuda/core/device_facts.h"
#include "testbench/cuda/core/runtime_calls.h"

using namespace heddle;
using namespace heddle::cuda;

namespace {

/// Consecutive attributes.
struct attribute_range {
  int first;
  const int* values;
  int count = 1;
};

template <std::size_t N>
int value_in(const attribute_range (&all)[N], int attribute) {
  for (const attribute_range& r : all)
    if (attribute >= r.first && attribute < r.first + r.count) return r.values[attribute - r.first];
  return 0;  // not available on the modelled chip or in its driver
}

int limit_of(const device_properties_12& p, int attribute) {
  const int sizes[] = {static_cast<int>(p.shared_per_block),
                       static_cast<int>(p.constant_bytes),
                       static_cast<int>(p.pitch),
                       static_cast<int>(p.shared_per_sm),
                       static_cast<int>(p.shared_per_block_optin),
                       static_cast<int>(p.reserved_shared_per_block)};
  const attribute_range all[] = {{1, &p.max_threads_per_block},
                                 {2, p.max_threads_dim, 3},
                                 {5, p.max_grid, 3},
                                 {8, &sizes[0], 2},
                                 {10, &p.warp_size},
                                 {11, &sizes[2]},
                                 {12, &p.registers_per_block},
                                 {13, &p.clock_khz},
                                 {15, &p.device_overlap},
                                 {16, &p.sms},
                                 {19, &p.can_map_host_memory},
                                 {31, &p.concurrent_kernels},
                                 {33, &p.pci_bus},
                                 {36, &p.memory_clock_khz},
                                 {37, &p.memory_bus_bits},
                                 {38, &p.l2_bytes},
                                 {39, &p.max_threads_per_sm},
                                 {40, &p.copy_engines},
                                 {41, &p.unified_addressing},
                                 {75, &p.major},
                                 {76, &p.minor},
                                 {78, &p.stream_priorities},
                                 {79, &p.global_l1},
                                 {80, &p.local_l1},
                                 {81, &sizes[3]},
                                 {82, &p.registers_per_sm},
                                 {83, &p.managed_memory},
                                 {87, &p.single_to_double},
                                 {89, &p.concurrent_managed},
                                 {90, &p.preemption},
                                 {91, &p.host_pointer_for_registered},
                                 {95, &p.cooperative_launch},
                                 {97, &sizes[4]},
                                 {106, &p.max_blocks_per_sm},
                                 {108, &p.persisting_l2},
                                 {109, &p.access_window},
                                 {111, &sizes[5]}};
  return value_in(all, attribute);
}

int texture_limit_of(const device_properties_12& p, int attribute) {
  const int alignments[] = {static_cast<int>(p.texture_alignment), static_cast<int>(p.surface_alignment),
                            static_cast<int>(p.texture_pitch_alignment)};
  const attribute_range all[] = {{14, &alignments[0]},
                                 {21, &p.texture_1d},
                                 {22, p.texture_2d, 2},
                                 {24, p.texture_3d, 3},
                                 {27, p.texture_2d_layers, 3},
                                 {30, &alignments[1]},
                                 {42, p.texture_1d_layers, 2},
                                 {45, p.texture_2d_gather, 2},
                                 {47, p.texture_3d_alternate, 3},
                                 {51, &alignments[2]},
                                 {52, &p.texture_cube},
                                 {53, p.texture_cube_layers, 2},
                                 {55, &p.surface_1d},
                                 {56, p.surface_2d, 2},
                                 {58, p.surface_3d, 3},
                                 {61, p.surface_1d_layers, 2},
                                 {63, p.surface_2d_layers, 3},
                                 {66, &p.surface_cube},
                                 {67, p.surface_cube_layers, 2},
                                 {69, &p.texture_1d_linear},
                                 {70, p.texture_2d_linear, 3},
                                 {73, p.texture_2d_mipmap, 2},
                                 {77, &p.texture_1d_mipmap}};
  return value_in(all, attribute);
}

/// What Heddle's driver can do: 44 gathers of texels, 102 virtual memory, 122 and 123 words of memory in streams, 99
/// and 113 registered host memory, 112 and 121 arrays whose memory comes later, 115 memory pools, 129 pointers to
/// functions.
bool can_do(const device_properties_12& p, int attribute) {
  constexpr int all[] = {44, 99, 102, 112, 113, 115, 121, 122, 123, 129};
  constexpr int clusters = 120, tensor_maps = 127, since_hopper = 9;
  if (attribute == clusters) return p.cluster_launch != 0;
  if (attribute == tensor_maps) return p.major >= since_hopper;
  return std::find(std::begin(all), std::end(all), attribute) != std::end(all);
}

}  // namespace

/// The attributes of enum cudaDeviceAttr have the numbers of the driver's CUdevice_attribute.
HEDDLE_CUDA error_t cudaDeviceGetAttribute(int* value, int attribute, int device) {
  const wire::device_info* d = chip();
  if (d == nullptr) return noted(error::no_device);
  if (device != 0) return noted(error::invalid_device);
  constexpr int last = 147, numa_node = 131, no_node = -1;
  if (value == nullptr || attribute < 1 || attribute > last) return noted(error::invalid_value);
  const device_properties_12 p = properties_of(*d);
  const int number = limit_of(p, attribute), texture = texture_limit_of(p, attribute);
  return put_result(value, attribute == numa_node ? no_node : can_do(p, attribute) ? 1 : std::max(number, texture));
}
