// SPDX-License-Identifier: MIT
// Small kernels for ptxas_counts.txt, a mechanism of the registers' count each. PTX: nvcc -ptx -arch=compute_75 kernels.cu
#include <assert.h>
#include <stdio.h>

extern "C" {

__global__ void empty() {}

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}

__global__ void gather(const int* index, const double* a, double* c) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  c[i] = a[index[i]] * 2;
}

// The slow path of a division is a routine with registers of its own; x and the address live across it.
__global__ void divide(float* a, const float* b, float* r) {
  const int i = threadIdx.x;
  const float x = a[i], y = b[i];
  r[i] = x / y + x;
}

__global__ void divide_double(double* a, const double* b) { a[threadIdx.x] /= b[threadIdx.x]; }

__global__ void root_double(double* a) { a[threadIdx.x] = sqrt(a[threadIdx.x]); }

__global__ void divide_long(long long* a, long long b) { a[threadIdx.x] /= b; }

// A call of the system's keeps its callers' values from R16 on.
__global__ void print(const int* a, int* b) {
  const int x = a[threadIdx.x];
  if (x > 100) printf("%d\n", x);
  b[threadIdx.x] = x;
}

__global__ void check(const int* a) { assert(a[threadIdx.x] > 0); }

// The address of each array's element is there when it is needed, not before.
__global__ void four_arrays(const float* a, const float* b, const float* c, float* d, float* e, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float x = a[i] * b[i] + c[i];
  d[i] = x * x;
  e[i] = x + 1;
}

__global__ void transpose(const float* in, float* out, int width, int height) {
  __shared__ float tile[32][33];
  int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * width + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int k = 0; k < 32; k += 8) out[(y + k) * height + x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void sum_of_warp(const float* a, float* r) {
  float x = a[blockIdx.x * blockDim.x + threadIdx.x];
  for (int k = 16; k > 0; k /= 2) x += __shfl_down_sync(0xffffffffu, x, k);
  if (threadIdx.x % 32 == 0) atomicAdd(r, x);
}
}
