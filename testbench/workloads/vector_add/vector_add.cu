// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o vector_add.ptx vector_add.cu

// c = a + b, one element a thread; the last block is only partly used.
extern "C" __global__ void vector_add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + b[i];
}
