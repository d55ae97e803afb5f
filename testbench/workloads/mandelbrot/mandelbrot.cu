// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o mandelbrot.ptx mandelbrot.cu

// The number of iterations after which each point of an image leaves the Mandelbrot set: loops whose lanes end at
// different times.
extern "C" __global__ void mandelbrot(unsigned char* rounds, int width, int height, float left, float top, float step,
                                      int limit) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (column >= width || row >= height) return;
  const float cx = fmaf(static_cast<float>(column), step, left);
  const float cy = fmaf(static_cast<float>(row), step, top);
  float x = 0;
  float y = 0;
  int round = 0;
  while (round < limit) {
    const float xx = x * x;
    const float yy = y * y;
    if (__fadd_rn(xx, yy) > 4) break;
    const float xy = x * y;
    x = __fadd_rn(__fadd_rn(xx, -yy), cx);
    y = fmaf(2, xy, cy);
    ++round;
  }
  rounds[row * width + column] = round;
}
