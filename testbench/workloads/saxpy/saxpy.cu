// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o saxpy.ptx saxpy.cu

// y = a * x + y with a grid-stride loop: fewer threads than elements.
extern "C" __global__ void saxpy(int n, float a, const float* x, float* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) y[i] = a * x[i] + y[i];
}
