// SPDX-License-Identifier: MIT
// An image filter through a texture: each result is the sum of nine linearly filtered samples around a position
// between the pixels; a second kernel mirrors the image through a surface.
extern "C" __global__ void texture_filter(cudaTextureObject_t image, int width, int height, float* out) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  float sum = 0;
  for (int j = -1; j <= 1; ++j) {
    for (int i = -1; i <= 1; ++i) sum = __fadd_rn(sum, tex2D<float>(image, x + i * 1.5f + 0.25f, y + j * 1.5f + 0.75f));
  }
  out[y * width + x] = sum;
}

extern "C" __global__ void mirror(cudaTextureObject_t from, cudaSurfaceObject_t to, int width, int height) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= width || y >= height) return;
  const uchar4 pixel = tex2D<uchar4>(from, x + 0.5f, y + 0.5f);
  surf2Dwrite(pixel, to, (width - 1 - x) * 4, y);
}
