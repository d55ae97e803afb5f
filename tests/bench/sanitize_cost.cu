// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o sanitize_cost.ptx sanitize_cost.cu
// Kernels that do little but read vectors of 16 bytes from shared memory (sanitize_cost.sh).
__device__ void fill(float4* s) {
  s[threadIdx.x] = make_float4(threadIdx.x, 1, 2, 3);
  s[threadIdx.x + 256] = make_float4(threadIdx.x, 1, 2, 3);
  __syncthreads();
}

__device__ void add(float4& a, float4 v) {
  a.x += v.x;
  a.y += v.y;
  a.z += v.z;
  a.w += v.w;
}

// The lanes of a warp read side by side.
extern "C" __global__ void vectors(float4* out, int n) {
  __shared__ float4 s[512];
  fill(s);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int k = 0; k < 16; k++) add(sum, s[(threadIdx.x + i * 32 + k * 8) & 511]);
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// They read rows of a tile, as a product does.
extern "C" __global__ void rows(float4* out, int n) {
  __shared__ float4 s[512];
  fill(s);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int k = 0; k < 16; k++) add(sum, s[(threadIdx.x / 16 * 4 + (threadIdx.x & 3) * 64 + i * 32 + k) & 511]);
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}
