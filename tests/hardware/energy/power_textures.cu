// SPDX-License-Identifier: MIT
// Kernels of AccelWattch's validation that read textures: dct8x8_k1 of CUDA's samples, Rodinia's kmeans, Parboil's sad, written
// anew from their description: README.md says what was chosen.
// PTX: nvcc -ptx -arch=compute_75 -O3 power_textures.cu, then .target sm_70 in place of sm_75.
#include <cuda_runtime.h>

constexpr float h = 0.35355339f, c1 = 0.49039264f, c2 = 0.46193977f, c3 = 0.41573481f, c5 = 0.27778512f, c6 = 0.19134172f, c7 = 0.09754516f;
// Row x, column u: the u-th cosine at x.
__constant__ float cosines[64] = {h, c1,  c2,  c3,  h,  c5,  c6,  c7,  h, c3,  c6,  -c7, -h, -c1, -c2, -c5, h, c5,  -c6, -c1, -h, c7,
                                  c2, c3,  h,  c7,  -c2, -c5, h,  c3,  -c6, -c1, h, -c7, -c2, c5,  h,  -c3, -c6, c1,  h, -c5, -c6, c1,
                                  -h, -c7, c2, -c3, h,  -c3, c6, c7,  -h, c1,  -c2, c5,  h, -c1, c2,  -c3, h,  -c5, c6,  -c7};

// Discrete cosine transform of a block of 8 x 8 by two products with the matrix of cosines, a coefficient a thread (dct8x8_k1).
extern "C" __global__ void cosine_product(float* out, int width, int first_x, int first_y, cudaTextureObject_t image) {
  __shared__ __align__(16) float block[64], half_done[64];
  const int tx = threadIdx.x, ty = threadIdx.y, x = (blockIdx.x + first_x) * 8 + tx, y = (blockIdx.y + first_y) * 8 + ty;
  block[ty * 8 + tx] = tex2D<float>(image, x + 0.5f, y + 0.5f);
  __syncthreads();
  float sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += cosines[i * 8 + ty] * block[i * 8 + tx];
  half_done[ty * 8 + tx] = sum;
  __syncthreads();
  sum = 0;
#pragma unroll
  for (int i = 0; i < 8; ++i) sum += half_done[ty * 8 + i] * cosines[i * 8 + tx];
  block[ty * 8 + tx] = sum;
  __syncthreads();
  out[y * width + x] = block[ty * 8 + tx];
}

struct centre_table {
  float at[5 * 34];
  constexpr centre_table() : at() {
    for (int i = 0; i < 5 * 34; ++i) at[i] = static_cast<float>(i * 7919 % 1024);
  }
};
__constant__ centre_table centres;

// The nearest of some centres for each point, whose features are a texture, feature by feature (kmeans_k1).
extern "C" __global__ void nearest_centre(int features, int points, int clusters, int* membership, cudaTextureObject_t table) {
  const int point = (gridDim.x * blockIdx.y + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.x;
  if (point >= points) return;
  float least = 3.402823e38f;
  int index = -1;
  for (int i = 0; i < clusters; ++i) {
    float distance = 0;
    for (int j = 0; j < features; ++j) {
      const float d = tex1Dfetch<float>(table, point + j * points) - centres.at[i * features + j];
      distance += d * d;
    }
    if (distance < least) {
      least = distance;
      index = i;
    }
  }
  membership[point] = index;
}

// Sums of absolute differences of a block of 4 x 4 pixels with those at 33 x 33 places around it, 18 places a thread, three at a
// time (parboil_sad_k1). Each sum is 16 bits; 1,096 belong to a block.
constexpr int range = 16, places = 2 * range + 1, own_places = 18, padded = 1096, workers = (places * places + own_places - 1) / own_places;
extern "C" __global__ void differences(unsigned short* sums_out, const unsigned short* frame, int width, cudaTextureObject_t reference) {
  __shared__ unsigned short pixels[16];
  __shared__ __align__(8) unsigned short sums[padded];
  const int tid = threadIdx.x, x0 = blockIdx.x * 4, y0 = blockIdx.y * 4;
  if (tid < 16) pixels[tid] = frame[(y0 + tid / 4) * width + x0 + tid % 4];
  __syncthreads();
  const int first = tid % workers * own_places, end = min(first + own_places, places * places);
  int dx = first % places, y = y0 - range + first / places;
  for (int place = first; place < end; place += 3) {
    unsigned short sum[3] = {};
    const int x = x0 - range + dx;
#pragma unroll
    for (int row = 0; row < 4; ++row)
#pragma unroll
      for (int column = 0; column < 6; ++column) {
        const int pixel = tex2D<unsigned short>(reference, x + column, y + row);
#pragma unroll
        for (int i = 0; i < 3; ++i)
          if (column >= i && column - i < 4) sum[i] += abs(pixel - pixels[row * 4 + column - i]);
      }
#pragma unroll
    for (int i = 0; i < 3; ++i) sums[place + i] = sum[i];
    dx += 3;
    if (dx >= places) {
      dx -= places;
      ++y;
    }
  }
  __syncthreads();
  if (tid >= 32) return;
  const int block = ((blockIdx.y / 4 * (width / 16) + blockIdx.x / 4) * 16 + blockIdx.y % 4 * 4 + blockIdx.x % 4);
  uint2* const to = reinterpret_cast<uint2*>(sums_out + block * padded);
  for (int i = tid; i < padded / 4; i += 32) to[i] = reinterpret_cast<const uint2*>(sums)[i];
}
