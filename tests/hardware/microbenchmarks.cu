// SPDX-License-Identifier: MIT
// Kernels that do what Accel-Sim's microbenchmarks do, written anew from their description: tests/hardware/README.md says which.
// PTX: nvcc -ptx -arch=compute_75 -O3 microbenchmarks.cu, then .target sm_70 in place of sm_75.
#include <cstdint>

// Four dependent integer multiply-adds a round, 1024 rounds (MaxIops_int32).
extern "C" __global__ void int_mads(const int* a, const int* b, int* out) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int x = a[i], y = b[i];
  int sum = 0;
  __syncthreads();
  for (int round = 0; round < 1024; ++round)
    asm volatile("mad.lo.s32 %0, %1, %2, %0; mad.lo.s32 %0, %1, %2, %0; mad.lo.s32 %0, %1, %2, %0; mad.lo.s32 %0, %1, %2, %0;"
                 : "+r"(sum)
                 : "r"(x), "r"(y));
  __syncthreads();
  out[i] = sum;
}

// One block reads 64 KiB again and again, two doubles a thread and round (l1_bw_64f), or four floats at once (l1_bw_128).
extern "C" __global__ void l1_doubles(double* out, const double* in) {
  constexpr unsigned count = 8192;
  const unsigned t = threadIdx.x;
  double first = 0, second = 0;
  for (unsigned i = t; i < count; i += blockDim.x) {
    double v;
    asm volatile("ld.global.ca.f64 %0, [%1];" : "=d"(v) : "l"(in + i) : "memory");
    first += v;
  }
  __syncthreads();
  for (unsigned round = 0; round < 256; ++round) {
    const double* at = in + (t + round * 64) % count;
    double v, w;
    asm volatile("ld.global.ca.f64 %0, [%2]; ld.global.ca.f64 %1, [%2+256];" : "=d"(v), "=d"(w) : "l"(at) : "memory");
    first += v;
    second += w;
  }
  __syncthreads();
  out[t] = first + second;
}
extern "C" __global__ void l1_float4(float* out, const float* in) {
  constexpr unsigned count = 16384;
  const unsigned t = threadIdx.x;
  float a = 0, b = 0, c = 0, d = 0;
  const auto add = [&](const float* at) {
    float v, w, x, y;
    asm volatile("ld.global.ca.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v), "=f"(w), "=f"(x), "=f"(y) : "l"(at) : "memory");
    a += v, b += w, c += x, d += y;
  };
  for (unsigned i = t * 4; i < count; i += blockDim.x * 4) add(in + i);
  __syncthreads();
  for (unsigned round = 0; round < 4096; ++round) add(in + (t * 4 + round * 128) % count);
  __syncthreads();
  out[t] = a + b + c + d;
}

// One thread follows 32,768 pointers through 32 KiB, past the L1 (l2_lat).
extern "C" __global__ void l2_chase(std::uint64_t* ring, std::uint64_t* out) {
  constexpr unsigned count = 4096;
  if (threadIdx.x != 0) return;
  for (unsigned i = 0; i < count - 1; ++i) ring[i] = reinterpret_cast<std::uint64_t>(ring + i + 1);
  ring[count - 1] = reinterpret_cast<std::uint64_t>(ring);
  std::uint64_t at = reinterpret_cast<std::uint64_t>(ring);
  for (unsigned i = 0; i < 32768; ++i) asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(at) : : "memory");
  out[0] = at;
}

// One thread follows 2,048 indices through 48 KiB of shared memory, which its warp has filled (shared_lat).
extern "C" __global__ void shared_chase(std::uint64_t* out, unsigned stride) {
  constexpr unsigned count = 6144;
  __shared__ std::uint64_t ring[count];
  for (unsigned i = threadIdx.x; i < count - stride; i += blockDim.x) ring[i] = (i + stride) % count;
  if (threadIdx.x != 0) return;
  std::uint64_t at = 0;
  for (unsigned i = 0; i < 2048; ++i) at = ring[at];
  out[0] = at;
}

// Sums of five arrays of float4, each element once (mem_bw).
extern "C" __global__ void sum_of_five(const float4* a, const float4* b, float4* out, const float4* c, const float4* d, const float4* e,
                                       unsigned count) {
  __syncthreads();
  for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
    const float4 p = a[i], q = b[i], r = c[i], s = d[i], t = e[i];
    out[i] = make_float4(p.x + q.x + r.x + s.x + t.x, p.y + q.y + r.y + s.y + t.y, p.z + q.z + r.z + s.z + t.z, p.w + q.w + r.w + s.w + t.w);
  }
  __syncthreads();
}

// A matrix transposed in tiles of 32 x 32 by 32 x 8 threads; without padding, a column of the tile is in one bank
// (bank_conflicts: transposeCoalesced, transposeNoBankConflicts).
template <int padding>
__device__ void transpose(float* out, const float* in, int width, int height) {
  constexpr int side = 32, steps = 8;
  __shared__ float tile[side][side + padding];
  int x = blockIdx.x * side + threadIdx.x, y = blockIdx.y * side + threadIdx.y;
  for (int i = 0; i < side; i += steps) tile[threadIdx.y + i][threadIdx.x] = in[x + (y + i) * width];
  __syncthreads();
  x = blockIdx.y * side + threadIdx.x;
  y = blockIdx.x * side + threadIdx.y;
  for (int i = 0; i < side; i += steps) out[x + (y + i) * height] = tile[threadIdx.x][threadIdx.y + i];
}
extern "C" __global__ void transpose_in_one_bank(float* out, const float* in, int width, int height) { transpose<0>(out, in, width, height); }
extern "C" __global__ void transpose_padded(float* out, const float* in, int width, int height) { transpose<1>(out, in, width, height); }
