// SPDX-License-Identifier: MIT
// Kernels that do what measured ones did, written anew from their description: tests/hardware/README.md says which.
// PTX: nvcc -ptx -arch=compute_75 -O3 kernels.cu, then .target sm_70 in place of sm_75.

// Blocks that each sum two arrays of n floats again and again (gpu-benches, gpu-cache): bytes a clock and SM of the level that holds them.
template <int n, int rounds, int threads>
__device__ void sum_two_arrays(float* out, const float* __restrict__ in, int zero) {
  float sum = 0;
  in += threadIdx.x;
#pragma unroll n / threads > 32 ? 1 : 32 / (n / threads)
  for (int round = 0; round < rounds; ++round) {
    in += zero;
    const float* second = in + n;
#pragma unroll n / threads >= 64 ? 32 : n / threads
    for (int i = 0; i < n; i += threads) sum += in[i] * second[i];
    sum *= 1.3f;
  }
  if (sum == 1233.0f) out[threadIdx.x] += sum;
}
extern "C" __global__ void sum_64_kib(float* out, const float* __restrict__ in, int zero) { sum_two_arrays<8192, 512, 1024>(out, in, zero); }
extern "C" __global__ void sum_1152_kib(float* out, const float* __restrict__ in, int zero) { sum_two_arrays<147456, 8, 1024>(out, in, zero); }

// Streaming stores and loads of doubles, one element a thread (gpu-benches, gpu-stream); shared memory limits the blocks of an SM.
extern "C" __global__ void stream_init(double* a, unsigned n) {
  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i < n) a[i] = 0.23;
}
extern "C" __global__ void stream_read(double* a, const double* __restrict__ b, unsigned n) {
  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  const double v = b[i];
  if (v == 123.0) a[i] = v;
}

// One step of Gaussian elimination on an n by n matrix (Rodinia, gaussian): the multipliers of column t, then the rows below it.
// Indices are unsigned where they are compared, and a row's beginning is a pointer, as there: the addresses take as many instructions.
extern "C" __global__ void gauss_multipliers(float* m, const float* a, int n, int t) {
  const unsigned i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n - 1 - t) return;
  (m + n * (i + t + 1))[t] = (a + n * (i + t + 1))[t] / (a + n * t)[t];
}
extern "C" __global__ void gauss_rows(const float* m, float* a, float* b, int n, int j1, int t) {
  if (threadIdx.x + blockIdx.x * blockDim.x >= n - 1 - t) return;
  if (threadIdx.y + blockIdx.y * blockDim.y >= n - t) return;
  const int x = threadIdx.x + blockIdx.x * blockDim.x, y = threadIdx.y + blockIdx.y * blockDim.y;
  a[n * (x + 1 + t) + (y + t)] -= m[n * (x + 1 + t) + t] * a[n * t + (y + t)];
  if (y == 0) b[x + 1 + t] -= m[n * (x + 1 + t) + (y + t)] * b[t];
}

// Two steps of a thermal stencil on tiles of 16 x 16 cells that overlap by two on each side (Rodinia, hotspot): temperature and power
// of a tile in shared memory, a cell a thread, and threads at the rim that drop out step by step. The factor 2.0 is double, as there.
extern "C" __global__ void heat_steps(int steps, const float* power, const float* before, float* after, int columns, int rows, int rim_x,
                                      int rim_y, float capacity, float rx, float ry, float rz, float time_step) {
  constexpr int tile = 16;
  __shared__ float now[tile][tile], watts[tile][tile], next[tile][tile];
  const float ambient = 80.0f, scale = time_step / capacity, by_rx = 1 / rx, by_ry = 1 / ry, by_rz = 1 / rz;
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int inner_x = tile - steps * 2, inner_y = tile - steps * 2;
  const int first_y = inner_y * blockIdx.y - rim_y, first_x = inner_x * blockIdx.x - rim_x;
  const int last_y = first_y + tile - 1, last_x = first_x + tile - 1;
  const int y = first_y + ty, x = first_x + tx, at = columns * y + x;
  const bool inside = y >= 0 && y < rows && x >= 0 && x < columns;
  if (inside) {
    now[ty][tx] = before[at];
    watts[ty][tx] = power[at];
  }
  __syncthreads();
  const int low_y = first_y < 0 ? -first_y : 0, high_y = last_y > rows - 1 ? tile - 1 - (last_y - rows + 1) : tile - 1;
  const int low_x = first_x < 0 ? -first_x : 0, high_x = last_x > columns - 1 ? tile - 1 - (last_x - columns + 1) : tile - 1;
  const int north = max(ty - 1, low_y), south = min(ty + 1, high_y), west = max(tx - 1, low_x), east = min(tx + 1, high_x);
  bool computed = false;
  for (int i = 0; i < steps; ++i) {
    computed = false;
    if (tx >= i + 1 && tx <= tile - i - 2 && ty >= i + 1 && ty <= tile - i - 2 && tx >= low_x && tx <= high_x && ty >= low_y && ty <= high_y) {
      computed = true;
      next[ty][tx] = now[ty][tx] + scale * (watts[ty][tx] + (now[south][tx] + now[north][tx] - 2.0 * now[ty][tx]) * by_ry +
                                            (now[ty][east] + now[ty][west] - 2.0 * now[ty][tx]) * by_rx + (ambient - now[ty][tx]) * by_rz);
    }
    __syncthreads();
    if (i == steps - 1) break;
    if (computed) now[ty][tx] = next[ty][tx];
    __syncthreads();
  }
  if (computed) after[at] = next[ty][tx];
}
