// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o hotspot.ptx hotspot.cu

// Heat on a chip: each step moves heat between a point and its four neighbours, and to the surroundings. A block loads
// its part of the grid with a border of one point into shared memory.
constexpr int tile = 16;

extern "C" __global__ void hotspot(const float* power, const float* in, float* out, int width, int height, float across,
                                   float down, float up, float surroundings) {
  __shared__ float heat[tile + 2][tile + 2];
  const int tx = threadIdx.x;
  const int ty = threadIdx.y;
  const int left = blockIdx.x * tile - 1;
  const int top = blockIdx.y * tile - 1;
  for (int i = ty * tile + tx; i < (tile + 2) * (tile + 2); i += tile * tile) {
    // A point outside the grid has the value of the nearest point inside.
    const int x = min(max(left + i % (tile + 2), 0), width - 1);
    const int y = min(max(top + i / (tile + 2), 0), height - 1);
    heat[i / (tile + 2)][i % (tile + 2)] = in[y * width + x];
  }
  __syncthreads();
  const int x = left + 1 + tx;
  const int y = top + 1 + ty;
  if (x >= width || y >= height) return;
  const float own = heat[ty + 1][tx + 1];
  float change = power[y * width + x];
  change = fmaf(heat[ty + 1][tx] + heat[ty + 1][tx + 2] - 2 * own, across, change);
  change = fmaf(heat[ty][tx + 1] + heat[ty + 2][tx + 1] - 2 * own, down, change);
  change = fmaf(surroundings - own, up, change);
  out[y * width + x] = own + change;
}
