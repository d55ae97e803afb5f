// SPDX-License-Identifier: MIT
// Kernels that show what `heddle` advises about, and the same kernels mended: tests/system/views/advice_test.cpp runs
// both and compares the time saved with the estimate. docs/use/advice.md shows them.
// Made into PTX by: nvcc -arch=compute_75 -lineinfo -ptx advice.cu
#define KERNEL extern "C" __global__ void

// Uncoalesced access: the fields of one structure lie side by side, so a warp's loads of one field are 32 bytes apart.
KERNEL strided(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[8 * i];
}
KERNEL strided_mended(const float* in, float* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i];
}

// Unused vector width: each thread reads four neighbouring words.
KERNEL quads(const float* in, float* out, int passes, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < passes; ++k, in += stride) sum += in[4 * i] + in[4 * i + 1] + in[4 * i + 2] + in[4 * i + 3];
  out[i] = sum;
}
KERNEL quads_mended(const float* in, float* out, int passes, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < passes; ++k, in += stride) {
    const float4 q = reinterpret_cast<const float4*>(in)[i];
    sum += q.x + q.y + q.z + q.w;
  }
  out[i] = sum;
}

// Misaligned access: a warp's 128 bytes lie in two lines.
KERNEL shifted(const float* in, float* out, int passes, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < passes; ++k) sum += in[i + k * stride + 1];
  out[i] = sum;
}
KERNEL shifted_mended(const float* in, float* out, int passes, int stride) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
#pragma unroll 8
  for (int k = 0; k < passes; ++k) sum += in[i + k * stride + 32];
  out[i] = sum;
}

// Bank conflicts: lanes read one column of a matrix whose rows are 32 words long.
KERNEL columns(const float* in, float* out, int passes) {
  __shared__ float tile[32][32];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  for (int row = y; row < 32; row += blockDim.x / 32) tile[row][x] = in[row * 32 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < passes; ++k) sum += tile[x][(k + y) % 32];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
KERNEL columns_mended(const float* in, float* out, int passes) {
  __shared__ float tile[32][33];
  const int x = threadIdx.x % 32, y = threadIdx.x / 32;
  for (int row = y; row < 32; row += blockDim.x / 32) tile[row][x] = in[row * 32 + x];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < passes; ++k) sum += tile[x][(k + y) % 32];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Constants by lane: each lane reads another constant.
__constant__ float table[256] = {1, 2, 3};
KERNEL looked_up(const float*, float* out, int passes) {
  float sum = 0;
  for (int k = 0; k < passes; ++k) sum += table[(threadIdx.x + k) % 256];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
KERNEL looked_up_mended(const float* in, float* out, int passes) {
  __shared__ float copy[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) copy[k] = in[k];
  __syncthreads();
  float sum = 0;
  for (int k = 0; k < passes; ++k) sum += copy[(threadIdx.x + k) % 256];
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Local memory: an array that is indexed by a variable does not fit registers.
KERNEL indexed(const float* in, float* out, int passes) {
  float last[8];
  for (int k = 0; k < 8; ++k) last[k] = in[threadIdx.x + k];
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    sum += last[k % 8];
    last[(k + 3) % 8] = sum;
  }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
KERNEL indexed_mended(const float* in, float* out, int passes) {
  float last[8];
  for (int k = 0; k < 8; ++k) last[k] = in[threadIdx.x + k];
  float sum = 0;
#pragma unroll 1
  for (int k = 0; k < passes; k += 8)
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      sum += last[j];
      last[(j + 3) % 8] = sum;
    }
  out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Divergence: neighbouring threads take different branches.
__device__ __forceinline__ float work(float x, int kind, int passes) {
  if (kind == 0) {
    for (int k = 0; k < passes; ++k) x = x * 1.5f + 0.25f;
  } else if (kind == 1) {
    for (int k = 0; k < passes; ++k) x = x * x - 0.5f;
  } else if (kind == 2) {
    for (int k = 0; k < passes; ++k) x = 2.0f - x * 0.75f;
  } else {
    for (int k = 0; k < passes; ++k) x = x * 0.125f + x;
  }
  return x;
}
KERNEL by_thread(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = work(in[i], threadIdx.x % 4, passes);
}
KERNEL by_thread_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = work(in[i], threadIdx.x / 32 % 4, passes);
}

// Double precision: literals without f.
KERNEL widened(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < passes; ++k) x = x * 1.01 + 0.5;
  out[i] = x;
}
KERNEL widened_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < passes; ++k) x = x * 1.01f + 0.5f;
  out[i] = x;
}

// Occupancy: more shared memory than the kernel uses keeps blocks off the SMs, while warps wait for memory.
template <int bytes>
__device__ void chase(const int* in, float* out, int passes) {
  __shared__ int tile[bytes / 4];
  tile[threadIdx.x] = threadIdx.x;
  __syncthreads();
  int at = blockIdx.x * blockDim.x + tile[threadIdx.x];
  for (int k = 0; k < passes; ++k) at = (at + 4096 + in[at]) & 0xfffff;
  out[blockIdx.x * blockDim.x + threadIdx.x] = at;
}
KERNEL large_tile(const int* in, float* out, int passes) { chase<28 * 1024>(in, out, passes); }
KERNEL large_tile_mended(const int* in, float* out, int passes) { chase<20 * 1024>(in, out, passes); }

// Partial last wave: mended, ten times the blocks do a tenth of the work each.
KERNEL walk(const int* in, float* out, int passes) { chase<1024>(in, out, passes); }

// Imbalance between blocks: one block has much to do. Mended, all share its work.
__device__ __forceinline__ float busy(float x, int passes) {
  for (int k = 0; k < passes; ++k) x = x * 1.5f + 0.25f;
  return x;
}
KERNEL one_is_long(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = busy(in[i], blockIdx.x == gridDim.x - 1 ? 20 * passes : passes);
}
KERNEL one_is_long_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = busy(in[i], passes + 19 * passes / gridDim.x);
}
