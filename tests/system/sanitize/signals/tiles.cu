// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_90 -std=c++17 -O3 -lineinfo -o tiles.ptx tiles.cu
// Tiles of threads that meet by themselves, in pairs as in races.cu.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "../transfers.cuh"

namespace cg = cooperative_groups;

// Tiles of two warps meet at words of shared memory that they begin by clearing each its own bit.
template <bool good>
__device__ void tile_of_two_warps(u32* out) {
  __shared__ cg::block_tile_memory<128> memory;
  __shared__ u32 s[128];
  const auto block = cg::this_thread_block(memory);
  const auto tile = cg::tiled_partition<64>(block);
  s[threadIdx.x] = cg::reduce(tile, threadIdx.x, cg::plus<u32>());
  if (good) tile.sync();
  out[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x ^ 32];
}
PAIR(tile_of_two_warps, (u32* out), (out))

// Tiles of eight lanes meet by themselves, and all lanes now and then.
__device__ u32 tile_mask(u32 lanes) { return ((1u << lanes) - 1) << (threadIdx.x % 32 & ~(lanes - 1)); }
template <bool good>
__device__ void eight_lanes(u32* out) {
  __shared__ u32 s[64];
  u32 x = threadIdx.x;
  for (u32 k = 0; k < 6; ++k) {
    s[threadIdx.x] = x;
    __syncwarp(tile_mask(8));
    x += s[threadIdx.x ^ 7] + s[threadIdx.x & ~7u];
    __syncwarp(tile_mask(8));
    if (k != 3) continue;
    __syncwarp();
    x += s[threadIdx.x ^ 8];
    if (good) __syncwarp();
  }
  out[blockIdx.x * 64 + threadIdx.x] = x;
}
PAIR(eight_lanes, (u32* out), (out))

template <bool good>
__device__ void eight_or_sixteen_lanes(u32* out) {
  __shared__ u32 s[64];
  u32 x = threadIdx.x;
  for (u32 k = 0; k < 4; ++k) {
    s[threadIdx.x] = x;
    __syncwarp(tile_mask(8));
    x += s[threadIdx.x ^ 7];
    __syncwarp(tile_mask(good ? 16 : 8));
    x += s[threadIdx.x ^ 15];
    __syncwarp(tile_mask(16));
  }
  out[blockIdx.x * 64 + threadIdx.x] = x;
}
PAIR(eight_or_sixteen_lanes, (u32* out), (out))
