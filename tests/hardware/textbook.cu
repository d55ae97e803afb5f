// SPDX-License-Identifier: MIT
// Textbook kernels (Kirk and Hwu, Programming Massively Parallel Processors) as NVBench has measured them, written anew from their
// description: tests/hardware/README.md says which.
// PTX: nvcc -ptx -arch=compute_75 -O3 textbook.cu, then .target sm_70 in place of sm_75.
#include <cstdint>

// NVBench's flush before each launch: zeros written to a buffer of the L2's size.
extern "C" __global__ void write_zeros(uint4* p) { p[blockIdx.x * blockDim.x + threadIdx.x] = make_uint4(0, 0, 0, 0); }

// Matrices added by blocks of 16 x 16: neighbouring threads along a row, or along a column.
extern "C" __global__ void add_along_rows(const float* a, const float* b, float* c, int m, int n) {
  const int i = blockIdx.y * blockDim.y + threadIdx.y, j = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && j < m) c[i * m + j] = a[i * m + j] + b[i * m + j];
}
extern "C" __global__ void add_along_columns(const float* a, const float* b, float* c, int m, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y;
  if (i < n && j < m) c[i * m + j] = a[i * m + j] + b[i * m + j];
}

// Convolutions whose results are clamped in double precision, as the measured ones are.
__device__ float clamped(float v) { return static_cast<float>(fmin(fmax(static_cast<double>(v), 0.0), 1.0)); }
extern "C" __global__ void convolve(const float* in, const float* mask, float* out, int width, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float sum = 0;
  for (int j = 0; j < width; ++j) {
    const int k = i - width / 2 + j;
    if (k >= 0 && k < count) sum += in[k] * mask[j];
  }
  out[i] = clamped(sum);
}
__constant__ float weights[16];
extern "C" __global__ void convolve_tile(const float* in, float* out, int width, int count) {
  extern __shared__ float tile[];
  const int t = threadIdx.x, size = blockDim.x, i = blockIdx.x * size + t, rim = width / 2;
  if (t >= size - rim) tile[t - (size - rim)] = i - size < 0 ? 0 : in[i - size];
  tile[rim + t] = in[i];
  if (t < rim) tile[rim + size + t] = i + size >= count ? 0 : in[i + size];
  __syncthreads();
  float sum = 0;
  for (int j = 0; j < width; ++j) sum += tile[t + j] * weights[j];
  out[i] = clamped(sum);
}
extern "C" __global__ void convolve_image(const float* in, const float* mask, float* out, int mask_height, int mask_width, int height,
                                          int width, int channels) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= height || x >= width) return;
  for (int c = 0; c < channels; ++c) {
    float sum = 0;
    for (int k = 0; k < mask_height; ++k)
      for (int l = 0; l < mask_width; ++l) {
        const int row = y - mask_height / 2 + k, column = x - mask_width / 2 + l;
        if (row >= 0 && row < height && column >= 0 && column < width)
          sum += in[(row * width + column) * channels + c] * mask[k * mask_width + l];
      }
    out[(y * width + x) * channels + c] = clamped(sum);
  }
}

// Three bytes of colour become one of brightness.
extern "C" __global__ void brightness(const std::uint8_t* in, std::uint8_t* out, int width, int height) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= height || x >= width) return;
  const int at = y * width + x;
  const std::uint8_t r = in[3 * at], g = in[3 * at + 1], b = in[3 * at + 2];
  out[at] = static_cast<std::uint8_t>(0.21f * r + 0.71f * g + 0.07f * b);
}

// Counts of values, in global memory or first in shared memory. The measured input is all zeros: every thread adds to one bin.
extern "C" __global__ void count_values(const unsigned* in, unsigned* bins, unsigned count, unsigned bin_count) {
  const unsigned t = blockIdx.x * blockDim.x + threadIdx.x, all = blockDim.x * gridDim.x;
  for (unsigned i = t; i < bin_count; i += all) bins[i] = 0;
  __syncthreads();
  for (unsigned i = t; i < count; i += all) atomicAdd(&bins[in[i]], 1u);
}
extern "C" __global__ void count_in_shared(const unsigned* in, unsigned* bins, unsigned count, unsigned bin_count) {
  extern __shared__ unsigned own[];
  for (unsigned i = threadIdx.x; i < bin_count; i += blockDim.x) own[i] = 0;
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) atomicAdd(&own[in[i]], 1u);
  __syncthreads();
  for (unsigned i = threadIdx.x; i < bin_count; i += blockDim.x) atomicAdd(&bins[i], own[i]);
}

// Products of matrices and of a matrix with a vector, of whole numbers, plain and in tiles of shared memory.
extern "C" __global__ void multiply(const unsigned* a, const unsigned* b, unsigned* c, int rows, int inner, int columns) {
  const int y = blockIdx.y * blockDim.y + threadIdx.y, x = blockIdx.x * blockDim.x + threadIdx.x;
  if (y >= rows || x >= columns) return;
  unsigned sum = 0;
  for (int k = 0; k < inner; ++k) sum += a[y * inner + k] * b[k * columns + x];
  c[y * columns + x] = sum;
}
extern "C" __global__ void multiply_tiles(const unsigned* a, const unsigned* b, unsigned* c, int rows, int inner, int columns) {
  extern __shared__ unsigned both[];
  const int side = blockDim.x, tx = threadIdx.x, ty = threadIdx.y;
  unsigned *left = both, *right = both + side * side;
  const int y = blockIdx.y * side + ty, x = blockIdx.x * side + tx;
  unsigned sum = 0;
  for (int tile = 0; tile < (inner + side - 1) / side; ++tile) {
    left[ty * side + tx] = y < rows && tile * side + tx < inner ? a[y * inner + tile * side + tx] : 0;
    right[ty * side + tx] = tile * side + ty < inner && x < columns ? b[(tile * side + ty) * columns + x] : 0;
    __syncthreads();
    for (int k = 0; k < side; ++k) sum += left[ty * side + k] * right[k * side + tx];
    __syncthreads();
  }
  if (y < rows && x < columns) c[y * columns + x] = sum;
}
extern "C" __global__ void multiply_vector(unsigned* out, const unsigned* matrix, const unsigned* vector, int rows, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= rows) return;
  unsigned sum = 0;
  for (int k = 0; k < columns; ++k) sum += matrix[i * columns + k] * vector[k];
  out[i] = sum;
}
extern "C" __global__ void multiply_vector_tiles(unsigned* out, const unsigned* matrix, const unsigned* vector, int rows, int columns) {
  extern __shared__ unsigned part[];
  const int size = blockDim.x, i = blockIdx.x * size + threadIdx.x;
  unsigned sum = 0;
  for (int first = 0; first < columns; first += size) {
    part[threadIdx.x] = first + threadIdx.x < columns ? vector[first + threadIdx.x] : 0;
    __syncthreads();
    if (i < rows)
      for (int k = 0; k < size && first + k < columns; ++k) sum += matrix[i * columns + first + k] * part[k];
    __syncthreads();
  }
  out[i] = sum;
}
