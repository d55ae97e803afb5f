// SPDX-License-Identifier: MIT
// A stencil of five points whose field stays in the shared memory of a cluster: each block holds some rows of it, and
// reads the rows beside them from its neighbours. cluster_stencil.ptx was made from it by
//   nvcc -std=c++17 -arch=sm_90 -ptx cluster_stencil.cu
// (CUDA 13.0) and is what the tests run.

extern __shared__ float field[];  // two fields of rows x width

__device__ void meet() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}
/// A word of the same place in another block of the cluster.
__device__ float word_of(const float* place, unsigned rank) {
  float v;
  asm volatile("{.reg .u32 there; mapa.shared::cluster.u32 there, %1, %2; ld.shared::cluster.f32 %0, [there];}"
               : "=f"(v)
               : "r"(static_cast<unsigned>(__cvta_generic_to_shared(place))), "r"(rank)
               : "memory");
  return v;
}

/// Each cluster has a field of its own. Outside of it all is zero. One thread for each column.
extern "C" __global__ void stencil(const float* in, float* out, unsigned rows, unsigned rounds) {
  const unsigned width = blockDim.x, x = threadIdx.x, rank = __clusterRelativeBlockRank();
  const unsigned ranks = __clusterSizeInBlocks();
  const float* const from = in + blockIdx.x * rows * width;
  for (unsigned y = 0; y < rows; ++y) field[y * width + x] = from[y * width + x];
  meet();
  for (unsigned round = 0; round < rounds; ++round) {
    const float* const old = field + round % 2 * rows * width;
    float* const now = field + (round + 1) % 2 * rows * width;
    float above = rank == 0 ? 0 : word_of(old + (rows - 1) * width + x, rank - 1);
    const float last = rank + 1 == ranks ? 0 : word_of(old + x, rank + 1);
    for (unsigned y = 0; y < rows; ++y) {
      const float here = old[y * width + x], below = y + 1 == rows ? last : old[(y + 1) * width + x];
      const float left = x == 0 ? 0 : old[y * width + x - 1], right = x + 1 == width ? 0 : old[y * width + x + 1];
      const float sum = __fadd_rn(__fadd_rn(above, below), __fadd_rn(left, right));
      now[y * width + x] = __fadd_rn(__fmul_rn(here, 0.5f), __fmul_rn(sum, 0.125f));
      above = here;
    }
    meet();
  }
  float* const to = out + blockIdx.x * rows * width;
  for (unsigned y = 0; y < rows; ++y) to[y * width + x] = field[(rounds % 2 * rows + y) * width + x];
}
