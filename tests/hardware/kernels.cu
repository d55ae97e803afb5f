// SPDX-License-Identifier: MIT
// Kernels that do what measured ones did, written anew from their description: tests/hardware/README.md says which.
// PTX: nvcc -ptx -arch=compute_75 -O3 kernels.cu, then .target sm_70 in place of sm_75.

// Blocks that each sum two arrays of n floats again and again (gpu-benches, gpu-cache): bytes a clock and SM of the level that holds them.
template <int n, int rounds, int threads>
__device__ void sum_two_arrays(float* out, const float* __restrict__ in, int zero) {
  float sum = 0;
  in += threadIdx.x;
#pragma unroll n / threads > 32 ? 1 : 32 / (n / threads)
  for (int round = 0; round < rounds; ++round) {
    in += zero;
    const float* second = in + n;
#pragma unroll n / threads >= 64 ? 32 : n / threads
    for (int i = 0; i < n; i += threads) sum += in[i] * second[i];
    sum *= 1.3f;
  }
  if (sum == 1233.0f) out[threadIdx.x] += sum;
}
extern "C" __global__ void sum_64_kib(float* out, const float* __restrict__ in, int zero) { sum_two_arrays<8192, 512, 1024>(out, in, zero); }
extern "C" __global__ void sum_1152_kib(float* out, const float* __restrict__ in, int zero) { sum_two_arrays<147456, 8, 1024>(out, in, zero); }

// Streaming stores and loads of doubles, one element a thread (gpu-benches, gpu-stream); shared memory limits the blocks of an SM.
extern "C" __global__ void stream_init(double* a, unsigned n) {
  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) a[i] = 0.23;
}
extern "C" __global__ void stream_read(double* a, const double* __restrict__ b, unsigned n) {
  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  const double v = b[i];
  if (v == 123.0) a[i] = v;
}

// One step of Gaussian elimination on an n by n matrix (Rodinia, gaussian): the multipliers of column t, then the rows below it.
extern "C" __global__ void gauss_multipliers(float* m, const float* a, int n, int t) {
  const int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n - 1 - t) return;
  m[n * (i + t + 1) + t] = a[n * (i + t + 1) + t] / a[n * t + t];
}
extern "C" __global__ void gauss_rows(const float* m, float* a, float* b, int n, int j1, int t) {
  const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  if (x >= n - 1 - t || y >= n - t) return;
  a[n * (x + 1 + t) + (y + t)] -= m[n * (x + 1 + t) + t] * a[n * t + (y + t)];
  if (y == 0) b[x + 1 + t] -= m[n * (x + 1 + t) + (y + t)] * b[t];
}
