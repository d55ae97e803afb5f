// SPDX-License-Identifier: MIT
// Streams on an H100: kernels for a profiler (streams.csv), mixes of loads and stores (mixes.csv), when blocks start
// (starts.csv) and how long loads take from each page (pages.csv).
//   nvcc -arch=sm_90 -O3 -o streams streams.cu
//   ncu --clock-control none --metrics gpc__cycles_elapsed.max,sm__cycles_active.avg ./streams profile    # streams.csv
//   ./streams mixes > mixes.csv; ./streams starts > starts.csv; ./streams pages > pages.csv
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <vector>
using u32 = std::uint32_t;
using u64 = std::uint64_t;

template <int Words> __global__ void read(const u32* in, u32* out) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  u32 a;
  if (Words == 1) {
    a = in[i];
  } else {
    const uint4 v = reinterpret_cast<const uint4*>(in)[i];
    a = v.x ^ v.y ^ v.z ^ v.w;
  }
  if ((a ^ 0x5bd1e995) == 0x12345) out[0] = a;
}
template <int Words> __global__ void write(u32* out) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (Words == 1) out[i] = i;
  else reinterpret_cast<uint4*>(out)[i] = make_uint4(i, i, i, i);
}
template <int Words> __global__ void copy(const u32* in, u32* out) {
  const u32 i = blockIdx.x * blockDim.x + threadIdx.x;
  if (Words == 1) out[i] = in[i];
  else reinterpret_cast<uint4*>(out)[i] = reinterpret_cast<const uint4*>(in)[i];
}
static void profile() {
  u32 *in, *out;
  cudaMalloc(&in, 256 << 20);
  cudaMalloc(&out, 256 << 20);
  cudaMemset(in, 0, 256 << 20);
  for (u32 mib = 1; mib <= 256; mib *= 2) {
    const u32 one = (mib << 20) / 4 / 256, four = one / 4;
    read<1><<<one, 256>>>(in, out), read<4><<<four, 256>>>(in, out);
    write<1><<<one, 256>>>(out), write<4><<<four, 256>>>(out);
    copy<1><<<one, 256>>>(in, out), copy<4><<<four, 256>>>(in, out);
  }
}

// In each step Cold loads of what is in no cache and Stores to 2 MiB that are in the L2, 16 bytes a lane.
template <int Cold, int Stores>
__global__ void __launch_bounds__(256) mix(const uint4* cold, uint4* warm, u32 steps, u32* out) {
  const u32 all = gridDim.x * 256, t = blockIdx.x * 256 + threadIdx.x;
  u32 a = 0, to = t & 0x1ffff;
  u64 from = t;
  for (u32 s = 0; s < steps; ++s) {
    uint4 v[Cold + 1];
#pragma unroll
    for (int k = 0; k < Cold; ++k, from += all)
      asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];"
                   : "=r"(v[k].x), "=r"(v[k].y), "=r"(v[k].z), "=r"(v[k].w)
                   : "l"(cold + from));
#pragma unroll
    for (int k = 0; k < Stores; ++k, to = (to + all) & 0x1ffff)
      asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%2};" ::"l"(warm + to), "r"(s), "r"(k));
#pragma unroll
    for (int k = 0; k < Cold; ++k) a ^= v[k].x ^ v[k].y ^ v[k].z ^ v[k].w;
  }
  if (a == 0x1234567) out[t] = a;
}
template <int Cold, int Stores> void run_mix(u32 steps) {
  static uint4 *cold, *warm, *other;
  static u32* out;
  if (cold == nullptr) {
    cudaMalloc(&cold, 256 << 20), cudaMalloc(&warm, 2 << 20), cudaMalloc(&other, 256 << 20), cudaMalloc(&out, 4 << 20);
    cudaMemset(cold, 0, 256 << 20);
  }
  constexpr u32 grid = 132 * 8;
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  std::vector<float> times;
  float idle = 0;
  for (int k = 0; k < 8; ++k) {
    cudaMemset(other, k, 256 << 20);
    mix<0, 1><<<132, 256>>>(cold, warm, 4, out);
    float ms;
    cudaEventRecord(begin);
    mix<Cold, Stores><<<grid, 256>>>(cold, warm, k == 7 ? 0 : steps, out);
    cudaEventRecord(end);
    cudaEventSynchronize(end);
    cudaEventElapsedTime(&ms, begin, end);
    if (k == 7) idle = ms;
    else times.push_back(ms);
  }
  std::sort(times.begin(), times.end());
  const double cycles = (times[3] - idle) * 1.98e6, bytes = double(grid) * 256 * 16 * steps;
  std::printf("%d,%d,%.0f,%.0f,%.0f\n", Cold, Stores, cycles, Cold * bytes / cycles, Stores * bytes / cycles);
}

struct start {
  u32 sm, cycle;
};
__global__ void __launch_bounds__(1024) spin(start* log, u32 cycles) {
  u32 begin, now, sm;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(begin));
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  do asm volatile("mov.u32 %0, %%clock;" : "=r"(now));
  while (now - begin < cycles);
  if (threadIdx.x == 0) log[blockIdx.x] = {sm, begin};
}
__global__ void nothing(u32* out) {
  if (out != nullptr && threadIdx.x == 5000) *out = 1;
}
__global__ void hold(volatile int* stop, int* started) {
  if (threadIdx.x == 0) {
    atomicAdd(started, 1);
    while (!*stop) __nanosleep(1000);
  }
  __syncthreads();
}
// First wave: when each SM's blocks start. Steady: cycles from block to block, on all SMs and where others are occupied.
static void starts() {
  start* log;
  cudaMalloc(&log, 1 << 20);
  for (u32 threads : {32u, 64u, 128u, 256u, 512u, 1024u}) {
    const u32 of_sm = std::min(32u, 2048 / threads), grid = of_sm * 132;
    for (int k = 0; k < 2; ++k) spin<<<grid, threads>>>(log, 20000), cudaDeviceSynchronize();
    std::vector<start> h(grid);
    cudaMemcpy(h.data(), log, grid * sizeof(start), cudaMemcpyDeviceToHost);
    std::map<u32, std::vector<u32>> by_sm;
    for (const start& s : h) by_sm[s.sm].push_back(s.cycle);
    std::vector<double> mean(of_sm);
    for (auto& [sm, cycles] : by_sm) {
      std::sort(cycles.begin(), cycles.end(), [](u32 a, u32 b) { return int(a - b) < 0; });
      for (u32 k = 0; k < of_sm && k < cycles.size(); ++k) mean[k] += double(cycles[k] - cycles[0]) / by_sm.size();
    }
    std::printf("first wave of %u threads", threads);
    for (double m : mean) std::printf(",%.0f", m);
    std::printf("\n");
  }
  int *stop, *started;
  cudaHostAlloc(&stop, 4, cudaHostAllocMapped), cudaHostAlloc(&started, 4, cudaHostAllocMapped);
  cudaStream_t held, run;
  cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking), cudaStreamCreateWithFlags(&run, cudaStreamNonBlocking);
  cudaFuncSetAttribute(hold, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
  cudaEvent_t begin, end;
  cudaEventCreate(&begin), cudaEventCreate(&end);
  for (int occupied : {0, 116, 124, 128, 131}) {
    *stop = *started = 0;
    if (occupied != 0) hold<<<occupied, 1024, 227 * 1024, held>>>(stop, started);
    while (*static_cast<volatile int*>(started) < occupied) {
    }
    for (int threads : {32, 256, 1024}) {
      double cycles[2];
      for (int twice : {0, 1}) {
        std::vector<float> times;
        for (int k = 0; k < 5; ++k) {
          float ms;
          cudaEventRecord(begin, run);
          nothing<<<32768 << twice, threads, 0, run>>>(nullptr);
          cudaEventRecord(end, run);
          cudaEventSynchronize(end);
          cudaEventElapsedTime(&ms, begin, end);
          times.push_back(ms);
        }
        std::sort(times.begin(), times.end());
        cycles[twice] = times[2] * 1.98e6;
      }
      std::printf("a block more of %d threads on %d SMs,%.3f\n", threads, 132 - occupied, (cycles[1] - cycles[0]) / 32768);
    }
    *stop = 1;
    cudaDeviceSynchronize();
  }
}

// One thread of one SM loads lines that are in no cache, one after another: of random places, or each of 4 MiB.
__global__ void chase(const u32* in, u32* cycles, int loads, u64 words, int on_sm) {
  __shared__ volatile u32 kept[32];
  u32 sm;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
  if (int(sm) != on_sm || threadIdx.x != 0 || atomicAdd(cycles + (1 << 17), 1) != 0) return;
  const u32 zero = in[0];
  u64 random = 88172645463325252ull, after = 0;
  for (int k = 0; k < loads; ++k) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    const u32* at = in + (words == 0 ? u64(k) * 1024 : random % words / 32 * 32) + after;
    const long long begin = clock64();
    u32 v;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
    kept[k & 31] = v;
    cycles[k] = u32(clock64() - begin);
    after = v * zero;
  }
}
__global__ void touch(u32* p, u64 words) {
  for (u64 k = blockIdx.x * u64(blockDim.x) + threadIdx.x; k < words; k += u64(gridDim.x) * blockDim.x) p[k] = 0;
}
static void pages() {
  u32 *in, *other, *cycles;
  const u64 bytes = 8ull << 30;
  cudaMalloc(&in, bytes), cudaMalloc(&other, 256 << 20), cudaMalloc(&cycles, 1 << 20);
  cudaMemset(in, 0, bytes);
  for (int sm : {0, 1, 17, 64, 100}) {
    const int loads = 60000;
    cudaMemset(cycles, 0, 1 << 20);
    touch<<<264, 256>>>(other, 64 << 20);
    chase<<<1056, 32>>>(in, cycles, loads, bytes / 4, sm);
    std::vector<u32> h(loads);
    cudaMemcpy(h.data(), cycles, loads * 4, cudaMemcpyDeviceToHost);
    std::map<u32, int> bins;
    for (u32 c : h) ++bins[c / 25 * 25];
    for (auto [cycle, count] : bins) std::printf("random lines from SM %d,%u,%d\n", sm, cycle, count);
  }
  for (int sm : {0, 64}) {
    cudaMemset(cycles, 0, 1 << 20);
    touch<<<264, 256>>>(other, 64 << 20);
    chase<<<1056, 32>>>(in, cycles, 512, 0, sm);
    std::vector<u32> h(512);
    cudaMemcpy(h.data(), cycles, 2048, cudaMemcpyDeviceToHost);
    for (int k = 0; k < 512; ++k) std::printf("line of page from SM %d,%d,%u\n", sm, k, h[k]);
  }
}

int main(int count, char** arguments) {
  const char* what = count > 1 ? arguments[1] : "";
  if (std::strcmp(what, "profile") == 0) {
    profile();
  } else if (std::strcmp(what, "mixes") == 0) {
    std::printf("cold loads,warm stores,cycles,loaded bytes a cycle,stored bytes a cycle\n");
    run_mix<1, 0>(24), run_mix<0, 1>(24), run_mix<2, 1>(12), run_mix<1, 1>(24), run_mix<1, 2>(24), run_mix<1, 3>(24);
  } else if (std::strcmp(what, "starts") == 0) {
    starts();
  } else if (std::strcmp(what, "pages") == 0) {
    pages();
  } else {
    return std::fprintf(stderr, "streams profile|mixes|starts|pages\n"), 2;
  }
  cudaDeviceSynchronize();
  return cudaGetLastError() != cudaSuccess;
}
