// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o convolution.ptx convolution.cu

// An image convolved with 5 x 5 weights from constant memory; values outside the image are 0.
constexpr int radius = 2;
constexpr int taps = 2 * radius + 1;

__constant__ float weights[taps * taps];

extern "C" __global__ void convolution(const float* in, float* out, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int dy = -radius; dy <= radius; ++dy) {
    for (int dx = -radius; dx <= radius; ++dx) {
      if (x + dx < 0 || x + dx >= width || y + dy < 0 || y + dy >= height) continue;
      sum += weights[(dy + radius) * taps + dx + radius] * in[(y + dy) * width + x + dx];
    }
  }
  out[y * width + x] = sum;
}
