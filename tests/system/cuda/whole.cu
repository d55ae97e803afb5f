// SPDX-License-Identifier: MIT
// A typical program in one file.
#include <cstdio>
#include <vector>

__constant__ float scale[2];
__device__ int seen;
__managed__ float total;

template <class T>
__global__ void axpy(const T* a, const T* b, T* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  c[i] = scale[1] * a[i] + b[i];
  atomicAdd(&seen, 1);
}
__global__ void sum(const float* a, int n) {
  __shared__ float part[128];
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += a[i];
  part[threadIdx.x] = s;
  for (int k = 64; k > 0; k /= 2) {
    __syncthreads();
    if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];
  }
  if (threadIdx.x == 0) total = part[0];
}

#define RIGHT(call) do { const cudaError_t e = (call); if (e != cudaSuccess) { std::printf("%s: %s\n", #call, cudaGetErrorString(e)); return 1; } } while (0)

int main() {
  cudaDeviceProp p;
  RIGHT(cudaGetDeviceProperties(&p, 0));
  if (p.warpSize != 32 || p.multiProcessorCount < 1 || p.maxThreadsPerBlock != 1024 || p.major < 5 || p.regsPerMultiprocessor < 32768 || p.l2CacheSize < 1000 ||
      p.sharedMemPerBlock != 49152 || p.concurrentKernels != 1 || p.maxBlocksPerMultiProcessor < 8 || p.totalConstMem != 65536 || p.maxGridSize[1] != 65535) {
    std::puts("the properties are not where they belong");
    return 1;
  }
  const int n = 5000;
  std::vector<float> a(n, 1.0f), b(n, 0.5f), c(n);
  float *x, *y, *z;
  RIGHT(cudaMalloc(&x, 4 * n));
  RIGHT(cudaMalloc(&y, 4 * n));
  RIGHT(cudaMalloc(&z, 4 * n));
  const float two[2] = {9, 2};
  RIGHT(cudaMemcpyToSymbol(scale, two, sizeof two));
  RIGHT(cudaMemcpy(x, a.data(), 4 * n, cudaMemcpyHostToDevice));
  RIGHT(cudaMemcpy(y, b.data(), 4 * n, cudaMemcpyHostToDevice));
  axpy<<<(n + 255) / 256, 256>>>(x, y, z, n);
  sum<<<1, 128>>>(z, n);
  RIGHT(cudaGetLastError());
  RIGHT(cudaDeviceSynchronize());
  int count = 0;
  RIGHT(cudaMemcpyFromSymbol(&count, seen, 4));
  if (count != n || total != 2.5f * n) {
    std::printf("%d threads, a sum of %f\n", count, total);
    return 1;
  }
  cudaFuncAttributes f;
  RIGHT(cudaFuncGetAttributes(&f, axpy<float>));
  int blocks = 0;
  RIGHT(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, axpy<float>, 256, 0));
  int least = 0, size = 0;
  RIGHT(cudaOccupancyMaxPotentialBlockSize(&least, &size, axpy<float>));
  return f.numRegs > 4 && blocks > 1 && size >= 256 ? 0 : 1;
}
