// SPDX-License-Identifier: MIT
// nvcc -std=c++17 -ptx -arch=compute_90 -O3 -o sanitize_copies.ptx sanitize_copies.cu
// Asynchronous copies, mbarriers and clusters (sanitize_cost.sh).
#include <cooperative_groups.h>
#include <cuda_pipeline.h>

#include <cuda/barrier>
#include <cuda/ptx>

namespace cg = cooperative_groups;
using barrier = cuda::barrier<cuda::thread_scope_block>;

// Little but copies of 16 bytes, three of which are in flight.
extern "C" __global__ void async_pipeline(const float4* in, float* out, int n) {
  __shared__ float4 s[4][256];
  const unsigned i = threadIdx.x;
  for (int k = 0; k < 3; ++k) {
    __pipeline_memcpy_async(&s[k][i], &in[(blockIdx.x * 256 + i + k * 256) & 65535], 16);
    __pipeline_commit();
  }
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    __pipeline_memcpy_async(&s[(k + 3) & 3][i], &in[(blockIdx.x * 256 + i + (k + 3) * 256) & 65535], 16);
    __pipeline_commit();
    __pipeline_wait_prior(3);
    __syncthreads();
    const float4 v = s[k & 3][(i * 5) & 255];
    sum += v.x + v.y + v.z + v.w;
    __syncthreads();
  }
  __pipeline_wait_prior(0);
  out[blockIdx.x * 256 + i] = sum;
}

// A product of n x n matrices through tiles of 16 x 16 elements; the next ones are copied meanwhile.
extern "C" __global__ void async_tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float s[2][16][16], t[2][16][16];
  const int tx = threadIdx.x & 15, ty = threadIdx.x >> 4;
  const int x = (blockIdx.x & 15) * 16 + tx, y = (blockIdx.x >> 4) * 16 + ty;
  const auto load = [&](int k, int w) {
    __pipeline_memcpy_async(&s[w][ty][tx], &a[y * n + k + tx], 4);
    __pipeline_memcpy_async(&t[w][ty][tx], &b[(k + ty) * n + x], 4);
    __pipeline_commit();
  };
  load(0, 0);
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    const int w = k / 16 & 1;
    if (k + 16 < n) load(k + 16, w ^ 1);
    else __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += s[w][ty][i] * t[w][i][tx];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

// The blocks of a cluster read what one of them has written.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_exchange(unsigned* out, int n) {
  __shared__ unsigned s[2][256];
  cg::cluster_group c = cg::this_cluster();
  unsigned v = threadIdx.x + blockIdx.x;
  for (int k = 0; k < n; ++k) {
    s[k & 1][threadIdx.x] = v;
    c.sync();
    const unsigned* const other = c.map_shared_rank(&s[k & 1][0], (c.block_rank() + k) & 3);
    v += other[(threadIdx.x + k) & 255];
  }
  c.sync();
  out[blockIdx.x * 256 + threadIdx.x] = v;
}

// Atomics in the shared memory of the blocks of a cluster.
extern "C" __global__ void __cluster_dims__(4, 1, 1) cluster_atomics(unsigned* out, int n) {
  __shared__ unsigned s[256];
  cg::cluster_group c = cg::this_cluster();
  s[threadIdx.x] = 0;
  c.sync();
  for (int k = 0; k < n; ++k)
    atomicAdd(c.map_shared_rank(&s[(threadIdx.x * 3 + k) & 255], (c.block_rank() + k) & 3), k);
  c.sync();
  out[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
}

// Bulk copies of 4 KiB, the next one while the last one is read.
extern "C" __global__ void bulk_pipeline(const float* in, float* out, int n) {
  __shared__ alignas(128) float s[2][1024];
#pragma nv_diag_suppress static_var_with_dynamic_init
  __shared__ barrier bar[2];
  if (threadIdx.x == 0) {
    init(&bar[0], 256);
    init(&bar[1], 256);
    cuda::ptx::fence_proxy_async(cuda::ptx::space_shared);
  }
  __syncthreads();
  barrier::arrival_token t[2];
  const auto load = [&](int k) {
    if (threadIdx.x == 0) {
      cuda::device::memcpy_async_tx(s[k & 1], in + (k & 63) * 1024, cuda::aligned_size_t<16>(4096), bar[k & 1]);
      t[k & 1] = cuda::device::barrier_arrive_tx(bar[k & 1], 1, 4096);
    } else {
      t[k & 1] = bar[k & 1].arrive();
    }
  };
  load(0);
  float sum = 0;
  for (int k = 0; k < n; ++k) {
    if (k + 1 < n) load(k + 1);
    bar[k & 1].wait(std::move(t[k & 1]));
    for (int i = 0; i < 8; ++i) sum += s[k & 1][(threadIdx.x * 5 + i * 37) & 1023];
    __syncthreads();
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// The threads of a block exchange words, and meet at an mbarrier.
extern "C" __global__ void mbarriers(unsigned* out, int n) {
  __shared__ barrier bar;
  __shared__ unsigned s[256];
  if (threadIdx.x == 0) init(&bar, 256);
  __syncthreads();
  unsigned v = threadIdx.x;
  for (int k = 0; k < n; ++k) {
    s[threadIdx.x] = v;
    bar.arrive_and_wait();
    v += s[(threadIdx.x + k) & 255];
    bar.arrive_and_wait();
  }
  out[blockIdx.x * 256 + threadIdx.x] = v;
}
