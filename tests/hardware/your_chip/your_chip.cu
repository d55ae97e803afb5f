// SPDX-License-Identifier: MIT
// Measures the GPU that it runs on and prints a suite for `heddle correlate --fit`: docs/model/your_chip.md.
//   nvcc -O3 -o your_chip your_chip.cu && ./your_chip mine.ini > mine.csv
// PTX: nvcc -ptx -arch=compute_75 -O3 your_chip.cu, then .target sm_70 in place of sm_75.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#define FOUR(x) x x x x
#define SIXTEEN(x) FOUR(FOUR(x))

// A warp executes 16 dependent instructions a round, or each of its block's warps eight independent chains of two. Every kernel that is timed by
// its own clock writes the cycles of its last warp into `out`.
#define CHAIN(name, type, letter, instruction)                               \
  extern "C" __global__ void name(std::uint32_t* out, int rounds) {          \
    type x = static_cast<type>(threadIdx.x);                                 \
    const long long begin = clock64();                                       \
    _Pragma("unroll 1") for (int i = 0; i < rounds; ++i) {                   \
      SIXTEEN(asm volatile(instruction : "+" letter(x));)                    \
    }                                                                        \
    const long long end = clock64();                                         \
    out[1 + threadIdx.x] = x != static_cast<type>(0) ? 1 : 0;                \
    atomicMax(out, static_cast<std::uint32_t>(end - begin));                 \
  }
#define CHAINS(name, type, letter, instruction)                              \
  extern "C" __global__ void name(std::uint32_t* out, int rounds) {          \
    type x[8];                                                               \
    for (int k = 0; k < 8; ++k) x[k] = static_cast<type>(threadIdx.x + k);   \
    __syncthreads();                                                         \
    const long long begin = clock64();                                       \
    _Pragma("unroll 1") for (int i = 0; i < rounds; ++i) {                   \
      _Pragma("unroll") for (int k = 0; k < 8; ++k) asm volatile(instruction : "+" letter(x[k])); \
      _Pragma("unroll") for (int k = 0; k < 8; ++k) asm volatile(instruction : "+" letter(x[k])); \
    }                                                                        \
    __syncthreads();                                                         \
    const long long end = clock64();                                         \
    type sum = 0;                                                            \
    for (int k = 0; k < 8; ++k) sum += x[k];                                 \
    out[1 + threadIdx.x] = sum != static_cast<type>(0) ? 1 : 0;              \
    atomicMax(out, static_cast<std::uint32_t>(end - begin));                 \
  }
CHAIN(fp32_chain, float, "f", "fma.rn.f32 %0, %0, %0, %0;")
CHAIN(multiply_chain, int, "r", "mad.lo.s32 %0, %0, %0, %0;")
CHAIN(fp64_chain, double, "d", "fma.rn.f64 %0, %0, %0, %0;")
CHAIN(sfu_chain, float, "f", "ex2.approx.ftz.f32 %0, %0;")
CHAIN(shuffle_chain, int, "r", "shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;")
CHAINS(fp32_lanes, float, "f", "fma.rn.f32 %0, %0, %0, %0;")
CHAINS(multiply_lanes, int, "r", "mad.lo.s32 %0, %0, %0, %0;")
CHAINS(fp64_lanes, double, "d", "fma.rn.f64 %0, %0, %0, %0;")
CHAINS(sfu_lanes, float, "f", "ex2.approx.ftz.f32 %0, %0;")

// One warp waits for itself at a barrier, 16 times a round.
extern "C" __global__ void barrier_chain(std::uint32_t* out, int rounds) {
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    SIXTEEN(asm volatile("bar.sync 0;" ::: "memory");)
  }
  const long long end = clock64();
  atomicMax(out, static_cast<std::uint32_t>(end - begin));
}

// A load whose address is the word before: 16 a round. Memory holds zeros, so that the next address is the last one plus the stride.
extern "C" __global__ void shared_chase(std::uint32_t* out, int rounds) {
  __shared__ std::uint32_t words[512];
  words[threadIdx.x] = 0;
  __syncthreads();
  std::uint32_t at = static_cast<std::uint32_t>(__cvta_generic_to_shared(words)), word = 0;
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    SIXTEEN(asm volatile("ld.shared.u32 %1, [%0]; add.u32 %0, %0, %1;" : "+r"(at), "+r"(word) :: "memory");)
  }
  const long long end = clock64();
  out[1] = at;
  atomicMax(out, static_cast<std::uint32_t>(end - begin));
}

// Of global memory: one thread in `bytes` bytes, a power of two.
#define CHASE(name, load)                                                                                               \
  extern "C" __global__ void name(std::uint32_t* out, const char* zeros, int rounds, int stride, int bytes) {           \
    std::uint32_t at = 0, word = 0;                                                                                     \
    const long long begin = clock64();                                                                                  \
    _Pragma("unroll 1") for (int i = 0; i < rounds; ++i) {                                                              \
      SIXTEEN(asm volatile(load " %0, [%1];" : "=r"(word) : "l"(zeros + at) : "memory"); at = (at + word + stride) & (bytes - 1);) \
    }                                                                                                                   \
    const long long end = clock64();                                                                                    \
    out[1] = at;                                                                                                        \
    atomicMax(out, static_cast<std::uint32_t>(end - begin));                                                            \
  }
CHASE(l1_chase, "ld.global.ca.u32")
CHASE(l2_chase, "ld.global.cg.u32")

// One block reads 32 KiB, which the L1 holds, again and again. The stride is an argument: the compiler would merge loads
// from places that it knows.
extern "C" __global__ void l1_sum(std::uint32_t* out, const char* in, int rounds, int stride, int bytes) {
  float sum = 0;
  int at = threadIdx.x * 16;
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) {
    float4 v[2];
    for (int k = 0; k < 2; ++k) {
      asm volatile("ld.global.ca.v4.f32 {%0,%1,%2,%3}, [%4];"
                   : "=f"(v[k].x), "=f"(v[k].y), "=f"(v[k].z), "=f"(v[k].w)
                   : "l"(in + at)
                   : "memory");
      at = (at + stride) & (bytes - 1);
    }
    for (int k = 0; k < 2; ++k) sum += v[k].x + v[k].y + v[k].z + v[k].w;
  }
  __syncthreads();
  const long long end = clock64();
  out[1 + threadIdx.x] = sum != 0 ? 1 : 0;
  atomicMax(out, static_cast<std::uint32_t>(end - begin));
}

// All lanes add to one word of the L2. The sums that they get keep a warp's additions apart.
extern "C" __global__ void l2_atomics(std::uint32_t* out, std::uint32_t* word, int rounds) {
  std::uint32_t last = 0;
  const long long begin = clock64();
#pragma unroll 1
  for (int i = 0; i < rounds; ++i) last += atomicAdd(word, threadIdx.x + 1);
  __syncthreads();
  const long long end = clock64();
  out[1 + threadIdx.x] = last;
  atomicMax(out, static_cast<std::uint32_t>(end - begin));
}

// Blocks that do nothing, timed as a whole.
extern "C" __global__ void blocks(std::uint32_t* out, int never) {
  if (never != 0) out[0] = 1;
}

#ifndef __CUDA_ARCH__
namespace {

struct measurement {
  const char* kernel;
  const void* function;
  const char* identifies;
  int grid, block, rounds;
  int bytes;   // of the second buffer; 0: none
  int stride;  // of a chase
};
#define ROW(kernel) #kernel, reinterpret_cast<const void*>(&kernel)
// The rows of the suite: Heddle runs the same launch.
const measurement measurements[] = {
    {ROW(fp32_chain), "fp32.latency_cycles", 1, 32, 4096, 0, 0},
    {ROW(multiply_chain), "int.multiply_latency_cycles", 1, 32, 2048, 0, 0},
    {ROW(fp64_chain), "fp64.fma_latency_cycles", 1, 32, 1024, 0, 0},
    {ROW(sfu_chain), "sfu.latency_cycles", 1, 32, 1024, 0, 0},
    {ROW(shuffle_chain), "ldst.shuffle_latency_cycles", 1, 32, 1024, 0, 0},
    {ROW(barrier_chain), "sm.barrier_latency_cycles", 1, 32, 1024, 0, 0},
    {ROW(shared_chase), "shared_memory.latency_cycles", 1, 32, 512, 0, 0},
    {ROW(l1_chase), "l1.latency_cycles", 1, 1, 512, 128, 4},
    {ROW(l2_chase), "l2.latency_cycles", 1, 1, 256, 4096, 128},
    {ROW(fp32_lanes), "fp32.lanes", 1, 1024, 512, 0, 0},
    {ROW(multiply_lanes), "int.multiply_lanes", 1, 1024, 512, 0, 0},
    {ROW(fp64_lanes), "fp64.lanes", 1, 1024, 128, 0, 0},
    {ROW(sfu_lanes), "sfu.lanes", 1, 1024, 128, 0, 0},
    {ROW(l1_sum), "l1.read_cycles", 1, 1024, 512, 32768, 16384},
    {ROW(l2_atomics), "l2.atomic_interval_cycles", 1, 256, 512, 4, 0},
    {ROW(blocks), "cwd.dispatch_interval_cycles", 65536, 32, 0, 0, 0},
};

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "your_chip: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

class chip {
 public:
  chip() {
    check(cudaMalloc(&out_, out_bytes), "memory");
    check(cudaMalloc(&buffer_, buffer_bytes), "memory");
    check(cudaMemset(buffer_, 0, buffer_bytes), "memory");
    check(cudaEventCreate(&begin_), "event");
    check(cudaEventCreate(&end_), "event");
  }
  // Milliseconds of a launch of `grid` blocks.
  float launch(const measurement& m, int grid) {
    check(cudaMemset(out_, 0, out_bytes), "memory");
    int rounds = m.rounds, stride = m.stride, bytes = m.bytes;
    void* alone[] = {&out_, &rounds};
    void* with_buffer[] = {&out_, &buffer_, &rounds, &stride, &bytes};
    check(cudaEventRecord(begin_), "event");
    check(cudaLaunchKernel(m.function, dim3(grid), dim3(m.block), m.bytes != 0 ? with_buffer : alone, 0, nullptr), m.kernel);
    check(cudaEventRecord(end_), "event");
    check(cudaEventSynchronize(end_), m.kernel);
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin_, end_), "event");
    return ms;
  }
  // Cycles that the kernel has counted itself.
  double counted() const {
    std::uint32_t cycles = 0;
    check(cudaMemcpy(&cycles, out_, sizeof cycles, cudaMemcpyDeviceToHost), "memory");
    return cycles;
  }

 private:
  static constexpr std::size_t out_bytes = 8192, buffer_bytes = 65536;
  void* out_ = nullptr;
  void* buffer_ = nullptr;
  cudaEvent_t begin_{}, end_{};
};

constexpr int repetitions = 5;  // the least counts: the first warms caches and clocks

}  // namespace

int main(int argc, char** argv) {
  const char* const gpu = argc > 1 ? argv[1] : "mine.ini";
  cudaDeviceProp about{};
  check(cudaGetDeviceProperties(&about, 0), "device");
  chip c;
  double cycles_per_ms = 0;
  std::printf("gpu,kernel,run,use,cycles,origin\n");
  for (const measurement& m : measurements) {
    double least = 1e30;
    for (int i = 0; i < repetitions; ++i) {
      double cycles;
      if (m.grid == 1) {
        const double ms = c.launch(m, 1);
        cycles = c.counted();
        cycles_per_ms = cycles / ms > cycles_per_ms ? cycles / ms : cycles_per_ms;
      } else {
        // Twice the grid, less once: what a launch costs by itself is no part of it. The clock is that of the kernels above.
        const double twice = c.launch(m, 2 * m.grid), once = c.launch(m, m.grid);
        cycles = (twice - once) * cycles_per_ms;
      }
      least = cycles < least ? cycles : least;
    }
    std::printf("%s,%s,--kernel your_chip.ptx:%s --grid %d --block %d --arg buf:8192", gpu, m.kernel, m.kernel, m.grid, m.block);
    if (m.bytes != 0) std::printf(" --arg buf:%d", m.bytes);
    std::printf(" --arg s32:%d", m.rounds);
    if (m.stride != 0) std::printf(" --arg s32:%d --arg s32:%d", m.stride, m.bytes);
    std::printf(" --set instruction_cache.second_level_misses=fixed");  // the least of several launches had its code here
    std::printf(",identifies %s,%.0f,%s\n", m.identifies, least, about.name);
  }
}
#endif
