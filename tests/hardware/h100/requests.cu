// SPDX-License-Identifier: MIT
// What the memory system of an H100 does with requests of one, two and four sectors, whole and in part, and with
// atomics of one SM. "4 of 32": each lane accesses 4 bytes, 32 bytes from those of the lane before.
//   nvcc -arch=sm_90 -O3 -o requests requests.cu && ./requests > all.csv
// prints the rows of requests.csv and atomics.csv; flits.csv is what Nsight Compute counts (gpc__cycles_elapsed.max,
// lts__cycles_elapsed.avg, lts__t_requests_srcunit_tex.sum, lts__t_sectors_srcunit_tex.sum,
// lts__xbar2lts_cycles_active.avg, lts__lts2xbar_cycles_active.avg) of `./requests once`.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>
using u32 = std::uint32_t;
using u64 = std::uint64_t;
__device__ u64 now() {
  u64 c;
  asm volatile("mov.u64 %0, %%clock64;" : "=l"(c)::"memory");
  return c;
}
#define BEGIN      \
  __syncthreads(); \
  const u64 t0 = now();
#define END        \
  __syncthreads(); \
  if (threadIdx.x == 0) times[blockIdx.x] = now() - t0;
struct pattern {
  const char* name;
  int bytes;       // of a lane
  u32 pitch;       // from lane to lane
  u32 step;        // from access to access
  u32 columns;     // accesses side by side before the next rows; 0: all follow each other
  double sectors;  // of an access
};
constexpr u32 footprint = 1 << 24;
__device__ char* place(char* to, u32 round, u32 pitch, u32 step, u32 columns) {
  const u32 warps = gridDim.x * blockDim.x / 32, warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const u64 n = warp + u64(round) * warps, lane = threadIdx.x % 32;
  const u64 first = columns != 0 ? (n % columns) * step + (n / columns) * 32 * pitch : n * step;
  return to + (first + lane * pitch) % footprint;
}
template <int W>
__global__ void store(u64* times, char* to, u32 rounds, u32 pitch, u32 step, u32 columns) {
  BEGIN for (u32 r = 0; r < rounds; ++r) {
    char* p = place(to, r, pitch, step, columns);
    if (W == 4) asm volatile("st.global.u32 [%0], %1;" ::"l"(p), "r"(r) : "memory");
    if (W == 8) asm volatile("st.global.v2.u32 [%0], {%1,%1};" ::"l"(p), "r"(r) : "memory");
    if (W == 16) asm volatile("st.global.v4.u32 [%0], {%1,%1,%1,%1};" ::"l"(p), "r"(r) : "memory");
  }
  END
}
template <int W>
__global__ void load(u64* times, char* to, u32 rounds, u32 pitch, u32 step, u32 columns) {
  u32 sum = 0;
  BEGIN
#pragma unroll 4
  for (u32 r = 0; r < rounds; ++r) {
    char* p = place(to, r, pitch, step, columns);
    u32 a = 0, b = 0, c = 0, d = 0;
    if (W == 4) asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(a) : "l"(p) : "memory");
    if (W == 8) asm volatile("ld.global.cg.v2.u32 {%0,%1}, [%2];" : "=r"(a), "=r"(b) : "l"(p) : "memory");
    if (W == 16)
      asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(p) : "memory");
    sum += a + b + c + d;
  }
  END if (sum == 0x12345) times[5000] = sum;
}
template <bool returns>
__global__ void atomics(u64* times, u32* word, u32 rounds, u32 lanes, u32 apart) {
  u32* p = word + threadIdx.x % 32 * apart;
  u32 y = 0;
  BEGIN if (threadIdx.x % 32 < lanes) for (u32 r = 0; r < rounds; ++r) {
    u32 v = 0;
    if (returns) asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(p), "r"(1) : "memory");
    else asm volatile("red.global.add.u32 [%0], 1;" ::"l"(p) : "memory");
    y += v;
  }
  END if (y == 0x12345) times[5000] = y;
}
u64* times;
char* data;
void check(cudaError_t e) {
  if (e != cudaSuccess) std::printf("# error: %s\n", cudaGetErrorString(e));
}
void run(const char* what, const pattern& s, u32 sms, u32 rounds, bool once) {
  const bool stores = what[0] == 's';
  const auto kernel = s.bytes == 4   ? (stores ? store<4> : load<4>)
                      : s.bytes == 8 ? (stores ? store<8> : load<8>)
                                     : (stores ? store<16> : load<16>);
  for (int i = 0; i < (once ? 1 : 2); ++i) kernel<<<sms, 1024>>>(times, data, rounds, s.pitch, s.step, s.columns);
  check(cudaDeviceSynchronize());
  std::vector<u64> t(sms);
  check(cudaMemcpy(t.data(), times, sms * sizeof(u64), cudaMemcpyDeviceToHost));
  std::sort(t.begin(), t.end());
  double mean = 0;
  for (u64 v : t) mean += double(v) / sms;
  std::printf("%s %s,%u,%llu,%.0f,%llu,%.2f\n", what, s.name, sms, (unsigned long long)t.front(), mean,
              (unsigned long long)t.back(), sms * 32. * rounds * s.sectors / t.back());
}
int main(int count, char**) {
  check(cudaMalloc(&times, 1 << 20)), check(cudaMalloc(&data, 1 << 28));
  check(cudaMemset(data, 0, 1 << 28));
  const pattern patterns[] = {{"16 of 16", 16, 16, 512, 0, 16},
                              {"8 of 8", 8, 8, 256, 0, 8},
                              {"4 of 4", 4, 4, 128, 0, 4},
                              {"4 of 8", 4, 8, 256, 0, 8},
                              {"8 of 16", 8, 16, 512, 0, 16},
                              {"4 of 16", 4, 16, 512, 0, 16},
                              {"4 of 32", 4, 32, 1024, 0, 32},
                              {"16 of 32", 16, 32, 1024, 0, 32},
                              {"4 of 64", 4, 64, 2048, 0, 32},
                              {"16 of 64", 16, 64, 2048, 0, 32},
                              {"4 of 128", 4, 128, 4096, 0, 32},
                              {"16 of 128", 16, 128, 4096, 0, 32},
                              {"columns of 8192", 4, 8192, 4, 2048, 32},
                              {"columns of 8320", 4, 8320, 4, 2080, 32},
                              {"columns of 8224", 4, 8224, 4, 2056, 32},
                              {"half lines 64 of 128", 16, 16, 1024, 0, 16}};
  const bool once = count > 1;
  for (u32 sms : {132u, 1u})
    for (const pattern& s : patterns)
      for (const char* what : {"store", "load"})
        if (!once || sms == 132) run(what, s, sms, once ? 64 : u32((sms == 1 ? 20000 : 8000) / s.sectors), once);
  if (once) return 0;
  for (u32 sms : {2u, 4u, 8u, 12u, 16u, 20u, 24u, 28u, 33u, 40u, 48u, 56u, 66u, 80u, 99u, 116u})
    for (int i : {0, 6, 10})
      for (const char* what : {"store", "load"}) run(what, patterns[i], sms, 400, false);
  constexpr u32 rounds = 256;
  for (u32 warps = 1; warps <= 32; warps *= 2)
    for (u32 lanes = 1; lanes <= 32; lanes *= 2)
      for (u32 apart : {0u, 1u, 8u, 32u})
        for (bool returns : {false, true}) {
          if (apart != 0 && lanes != 32) continue;
          for (int i = 0; i < 2; ++i)
            (returns ? atomics<true> : atomics<false>)<<<1, 32 * warps>>>(times, (u32*)data, rounds, lanes, apart);
          u64 t = 0;
          check(cudaMemcpy(&t, times, sizeof t, cudaMemcpyDeviceToHost));
          std::printf("%s,%u,%u,%u,%.3f,%.3f\n", returns ? "atom" : "red", lanes, apart, warps, double(t) / rounds,
                      double(t) / rounds / warps / lanes);
        }
}
