// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -std=c++17 -O3 -lineinfo -o grids.ptx grids.cu
// Cooperative launches and memory of malloc that lives across launches, for host_program.c, in pairs as in races.cu.
#include <cooperative_groups.h>

#include <cstdlib>

#define PAIR(name, parameters, arguments)                                          \
  extern "C" __global__ void race_##name parameters { name<false> arguments; }   \
  extern "C" __global__ void free_##name parameters { name<true> arguments; }

namespace cg = cooperative_groups;

// Each step reads what other blocks have written in the one before.
template <bool good>
__device__ void grid_steps(unsigned* a, unsigned* b) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  a[i] = i;
  for (unsigned k = 0; k < 3; ++k) {
    grid.sync();
    b[i] = a[127 - i] + 1;
    if (good) grid.sync();
    a[i] = b[(i + 77) % 128];
  }
}
PAIR(grid_steps, (unsigned* a, unsigned* b), (a, b))

// What a thread does between its arrival and its wait is not released by the arrival.
template <bool good>
__device__ void grid_arrival(unsigned* a, unsigned* b) {
  cg::grid_group grid = cg::this_grid();
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  if (good) a[i] = i;
  auto token = grid.barrier_arrive();
  if (!good) a[i] = i;
  grid.barrier_wait(std::move(token));
  b[i] = a[127 - i];
}
PAIR(grid_arrival, (unsigned* a, unsigned* b), (a, b))

extern "C" __global__ void make_lists(unsigned** lists, unsigned*) {
  if (blockIdx.x == 0) *(lists[threadIdx.x] = static_cast<unsigned*>(malloc(16))) = threadIdx.x;
}
template <bool good>
__device__ void free_lists(unsigned** lists, unsigned* out) {
  if (blockIdx.x != 0) return;
  out[threadIdx.x] = *lists[63 - threadIdx.x];
  if (good || threadIdx.x > 2) free(lists[63 - threadIdx.x]);
}
PAIR(free_lists, (unsigned** lists, unsigned* out), (lists, out))

// Each step replaces in place what other blocks may not have read yet.
template <bool good>
__device__ void grid_in_place(unsigned* a, unsigned* b) {
  const cg::grid_group grid = cg::this_grid();
  const unsigned i = blockIdx.x * 64 + threadIdx.x;
  a[i] = i;
  for (unsigned k = 0; k < 3; ++k) {
    grid.sync();
    const unsigned sum = a[(i + 64) % 128] + k;
    if (good) grid.sync();
    a[i] = sum;
  }
  b[i] = a[i];
}
PAIR(grid_in_place, (unsigned* a, unsigned* b), (a, b))
