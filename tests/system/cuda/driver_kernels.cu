// SPDX-License-Identifier: MIT
// Kernels of the driver API's tests; driver_kernels.ptx is compiled from it: nvcc -arch=compute_75 -ptx, for a target
// of sm_70.
extern "C" {

__constant__ float factor;
__device__ unsigned counter = 100;

__global__ void scale(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    x[i] *= factor;
    atomicAdd(&counter, 1u);
  }
}

__global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
}
