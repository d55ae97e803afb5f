// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o stencil_f64.ptx stencil_f64.cu

// One Jacobi sweep of a 5-point stencil in double precision: each inner point becomes a weighted mean of itself and
// its four neighbours; the border is unchanged. Each sweep is a launch, and the grids are swapped between launches.
extern "C" __global__ void stencil(const double* in, double* out, int width, int height, double centre, double side) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const int i = y * width + x;
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) {
    out[i] = in[i];
    return;
  }
  const double sum = (in[i - width] + in[i + width]) + (in[i - 1] + in[i + 1]);
  out[i] = centre * in[i] + side * sum;
}
