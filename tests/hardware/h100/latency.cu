// SPDX-License-Identifier: MIT
// Latencies of an H100, counted by the SM's clock. Prints name,value.
//   nvcc -arch=sm_90 -O3 -o latency latency.cu && ./latency > latency.csv
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

using u32 = std::uint32_t;
using u64 = std::uint64_t;
extern __shared__ __align__(1024) unsigned char shared[];
__device__ u32 at_shared(const void* p) { return (u32)__cvta_generic_to_shared(p); }
__device__ u32 rank_in_cluster() {
  u32 r;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
  return r;
}
__device__ u32 sm_id() {
  u32 r;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(r));
  return r;
}
__device__ u32 mapa(u32 at, u32 rank) {
  u32 r;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(r) : "r"(at), "r"(rank));
  return r;
}
__device__ void cluster_sync() {
  asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
__device__ u32 now() {
  u32 c;
  asm volatile("mov.u32 %0, %%clock;" : "=r"(c)::"memory");
  return c;
}
__device__ void barrier_init(u32 b, u32 n) {
  asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(b), "r"(n) : "memory");
}
__device__ void fence_init() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }
__device__ void wait_parity(u32 b, u32 parity) {
  asm volatile("{.reg .pred p;\nW%=: mbarrier.try_wait.parity.shared.b64 p, [%0], %1;\n@!p bra W%=;}" ::"r"(b),
               "r"(parity)
               : "memory");
}
__device__ void spin_parity(u32 b, u32 parity) {
  asm volatile("{.reg .pred p;\nS%=: mbarrier.test_wait.parity.shared.b64 p, [%0], %1;\n@!p bra S%=;}" ::"r"(b),
               "r"(parity)
               : "memory");
}
// out[rank * 16 + target]: latency of dependent loads from the shared memory of `target`; one thread of each block in
// turn.
__global__ void dsm_latency(u32* out, u32* sms, u32 size) {
  u32* words = (u32*)shared;
  if (threadIdx.x == 0) words[0] = 0;
  cluster_sync();
  const u32 mine = rank_in_cluster();
  for (u32 turn = 0; turn < size; ++turn) {
    if (turn == mine && threadIdx.x == 0)
      for (u32 target = 0; target < size; ++target) {
        u32 at = mapa(at_shared(words), target), w = 0, best = ~0u;
        for (int again = 0; again < 3; ++again) {
          const u32 begin = now();
#pragma unroll 1
          for (int i = 0; i < 16; ++i)
#pragma unroll
            for (int k = 0; k < 4; ++k) {
              asm volatile("ld.volatile.shared::cluster.u32 %0, [%1];" : "=r"(w) : "r"(at) : "memory");
              at += w;
            }
          best = min(best, now() - begin + (at == 77));
        }
        out[(blockIdx.x / size) * 256 + mine * 16 + target] = best;
      }
    cluster_sync();
  }
  if (threadIdx.x == 0) sms[blockIdx.x] = sm_id();
}
__global__ void cluster_barrier(u32* out) {
  cluster_sync();
  cluster_sync();
  const u32 begin = now();
  for (int i = 0; i < 64; ++i) cluster_sync();
  const u32 end = now();
  if (threadIdx.x == 0) out[blockIdx.x] = end - begin;
}
__global__ void cluster_barrier_relaxed(u32* out) {
  cluster_sync();
  const u32 begin = now();
  for (int i = 0; i < 64; ++i)
    asm volatile("barrier.cluster.arrive.relaxed.aligned; barrier.cluster.wait.aligned;" ::: "memory");
  const u32 end = now();
  if (threadIdx.x == 0) out[blockIdx.x] = end - begin;
}
__global__ void block_barrier(u32* out) {
  __syncthreads();
  const u32 begin = now();
  for (int i = 0; i < 64; ++i) asm volatile("bar.sync 0;" ::: "memory");
  const u32 end = now();
  if (threadIdx.x == 0) out[0] = end - begin;
}
// 0: arrive (its state used), 1: arrive and try_wait, 2: test_wait that succeeds, 3: try_wait that succeeds
__global__ void mbarrier_local(u32* out) {
  __shared__ u64 b;
  const u32 at = at_shared(&b);
  barrier_init(at, 1);
  __syncthreads();
  u32 sum = 0, begin = now();
  for (int i = 0; i < 64; ++i) {
    u64 state;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(state) : "r"(at + (sum & 0)) : "memory");
    sum += (u32)state;
  }
  out[0] = now() - begin + (sum == 77);
  u32 parity = 0;
  begin = now();
  for (int i = 0; i < 64; ++i) {
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
    wait_parity(at, parity);
    parity ^= 1;
  }
  out[1] = now() - begin;
  begin = now();
  for (int i = 0; i < 64; ++i) {
    u32 p;
    asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(p)
                 : "r"(at), "r"(parity ^ 1)
                 : "memory");
    parity ^= p ^ 1;
  }
  out[2] = now() - begin;
  begin = now();
  for (int i = 0; i < 64; ++i) {
    u32 p;
    asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                 : "=r"(p)
                 : "r"(at), "r"(parity ^ 1)
                 : "memory");
    parity ^= p ^ 1;
  }
  out[3] = now() - begin;
}
// Ping-pong between two blocks of a cluster: remote arrives (0), st.async (1), plain store and polling (2).
__global__ void ping_pong(u32* out) {
  __shared__ u64 b;
  __shared__ volatile u32 word;
  __shared__ u32 datum;
  const u32 at = at_shared(&b), rank = rank_in_cluster(), there = mapa(at, rank ^ 1),
            data_there = mapa(at_shared(&datum), rank ^ 1);
  const u32 word_there = mapa(at_shared((void*)&word), rank ^ 1);
  if (threadIdx.x == 0) {
    barrier_init(at, 1);
    word = 0;
  }
  fence_init();
  cluster_sync();
  if (threadIdx.x == 0) {
    u32 parity = 0, begin = now();
    for (int i = 0; i < 64; ++i) {
      if (rank == 0)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
      wait_parity(at, parity);
      parity ^= 1;
      if (rank == 1)
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
    }
    if (rank == 0) out[0] = now() - begin;
  }
  cluster_sync();
  if (threadIdx.x == 0) {
    u32 parity = 0, begin = now();
    for (int i = 0; i < 64; ++i) {
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 4;" ::"r"(at) : "memory");
      if (rank == 0)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(data_there),
                     "r"(i), "r"(there)
                     : "memory");
      wait_parity(at, parity);
      parity ^= 1;
      if (rank == 1)
        asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(data_there),
                     "r"(i), "r"(there)
                     : "memory");
    }
    if (rank == 0) out[1] = now() - begin;
  }
  cluster_sync();
  if (threadIdx.x == 0) {
    const u32 begin = now();
    for (u32 i = 1; i <= 64; ++i) {
      if (rank == 0) asm volatile("st.volatile.shared::cluster.u32 [%0], %1;" ::"r"(word_there), "r"(i) : "memory");
      while (word != i) {}
      if (rank == 1) asm volatile("st.volatile.shared::cluster.u32 [%0], %1;" ::"r"(word_there), "r"(i) : "memory");
    }
    if (rank == 0) out[2] = now() - begin;
  }
  cluster_sync();
}
// Bulk copies: out[2 * i]: latency, out[2 * i + 1]: cycles of 32 copies in flight together, of 16 << i bytes.
__global__ void bulk_load(u32* out, const char* in) {
  __shared__ u64 b;
  const u32 at = at_shared(&b), to = at_shared(shared);
  barrier_init(at, 1);
  fence_init();
  u32 parity = 0;
  for (u32 i = 0; i < 12; ++i) {
    const u32 bytes = 16u << i;
    u32 best = ~0u, many = ~0u;
    for (int again = 0; again < 4; ++again) {
      u32 begin = now();
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                   "l"(in), "r"(bytes), "r"(at)
                   : "memory");
      wait_parity(at, parity);
      best = min(best, now() - begin);
      parity ^= 1;
      const u32 n = min(32u, 1048576 / bytes - 1);
      begin = now();
      asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at), "r"(bytes * n) : "memory");
      for (u32 k = 0; k < n; ++k)
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
                         to + (k * bytes) % 65536),
                     "l"(in + k * bytes), "r"(bytes), "r"(at)
                     : "memory");
      wait_parity(at, parity);
      many = min(many, now() - begin);
      parity ^= 1;
    }
    out[2 * i] = best;
    out[2 * i + 1] = many;
  }
}
__global__ void bulk_store(u32* out, char* to) {
  const u32 from = at_shared(shared);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  for (u32 i = 0; i < 12; ++i) {
    const u32 bytes = 16u << i;
    u32 read = ~0u, whole = ~0u;
    for (int again = 0; again < 4; ++again) {
      u32 begin = now();
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;" ::
              "l"(to),
          "r"(from), "r"(bytes)
          : "memory");
      read = min(read, now() - begin);
      asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
      begin = now();
      asm volatile(
          "cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2; cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::
              "l"(to),
          "r"(from), "r"(bytes)
          : "memory");
      whole = min(whole, now() - begin);
    }
    out[2 * i] = read;
    out[2 * i + 1] = whole;
  }
}
// A random chase over `words` words (a permutation made by the host, a word each 128 bytes).
__global__ void chase(u32* out, const u32* next, u32 steps, u32 from) {
  u32 at = from;
  for (u32 i = 0; i < steps; ++i)
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(next + u64(at) * 32) : "memory");
  const u32 begin = now();
  for (u32 i = 0; i < steps; ++i)
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(at) : "l"(next + u64(at) * 32) : "memory");
  out[0] = now() - begin;
  out[1] = at;
}
void check(cudaError_t e, const char* what) {
  if (e != cudaSuccess) {
    std::printf("# error: %s: %s\n", what, cudaGetErrorString(e));
    cudaGetLastError();
  }
}
template <class... P, class... A>
void cluster_launch(const char* name, void (*k)(P...), unsigned grid, unsigned block, unsigned size, unsigned bytes,
                    A... a) {
  if (size > 8) check(cudaFuncSetAttribute((const void*)k, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), name);
  cudaLaunchConfig_t c{};
  c.gridDim = grid, c.blockDim = block, c.dynamicSmemBytes = bytes;
  cudaLaunchAttribute t{};
  t.id = cudaLaunchAttributeClusterDimension, t.val.clusterDim.x = size, t.val.clusterDim.y = t.val.clusterDim.z = 1;
  c.attrs = &t, c.numAttrs = 1;
  check(cudaLaunchKernelEx(&c, k, P(a)...), name);
  check(cudaDeviceSynchronize(), name);
}
std::vector<u32> read(const u32* from, std::size_t n) {
  std::vector<u32> v(n);
  check(cudaMemcpy(v.data(), from, n * 4, cudaMemcpyDeviceToHost), "read");
  return v;
}
__global__ void empty() {}
int main() {
  u32 *out, *words;
  char* data;
  check(cudaMalloc(&out, 1 << 22), "malloc"), check(cudaMalloc(&words, 1 << 26), "malloc"),
      check(cudaMalloc(&data, 1 << 27), "malloc");
  cudaMemset(out, 0, 1 << 22), cudaMemset(words, 0, 1 << 26), cudaMemset(data, 0, 1 << 27);
  for (unsigned size : {2u, 4u, 8u, 16u}) {
    const unsigned grid = 128 / size * size;
    cluster_launch("dsm", dsm_latency, grid, 32, size, 4096, out, words, size);
    const auto v = read(out, 256 * grid / size);
    double sum = 0, own = 0;
    u32 least = ~0u, most = 0, n = 0;
    for (unsigned c = 0; c < grid / size; ++c)
      for (unsigned i = 0; i < size; ++i)
        for (unsigned k = 0; k < size; ++k) {
          const u32 x = v[c * 256 + i * 16 + k];
          if (i == k) {
            own += x / 64.;
            continue;
          }
          sum += x / 64., ++n, least = std::min(least, x), most = std::max(most, x);
        }
    std::printf("dsm load %u: mean,%.2f\ndsm load %u: least,%.2f\ndsm load %u: most,%.2f\ndsm load %u: own,%.2f\n",
                size, sum / n, size, least / 64., size, most / 64., size, own / grid);
    for (unsigned block : {32u, 256u, 1024u}) {
      cluster_launch("barrier", cluster_barrier, size, block, size, 0, out);
      cluster_launch("barrier", cluster_barrier, size, block, size, 0, out);
      std::printf("cluster barrier %u blocks of %u,%.2f\n", size, block, read(out, 1)[0] / 64.);
      cluster_launch("barrier", cluster_barrier_relaxed, size, block, size, 0, out);
      std::printf("cluster barrier relaxed %u blocks of %u,%.2f\n", size, block, read(out, 1)[0] / 64.);
    }
  }
  for (unsigned block : {32u, 64u, 128u, 256u, 512u, 1024u}) {
    block_barrier<<<1, block>>>(out), block_barrier<<<1, block>>>(out);
    check(cudaDeviceSynchronize(), "barrier");
    std::printf("block barrier %u threads,%.2f\n", block, read(out, 1)[0] / 64.);
  }
  const char* const local[] = {"mbarrier arrive", "mbarrier arrive and try_wait", "mbarrier test_wait done",
                               "mbarrier try_wait done"};
  mbarrier_local<<<1, 1>>>(out), mbarrier_local<<<1, 1>>>(out);
  check(cudaDeviceSynchronize(), "mbarrier");
  auto v = read(out, 16);
  for (int i = 0; i < 4; ++i) std::printf("%s,%.2f\n", local[i], v[i] / 64.);
  cluster_launch("ping", ping_pong, 2, 32, 2, 0, out);
  cluster_launch("ping", ping_pong, 2, 32, 2, 0, out);
  v = read(out, 3);
  std::printf("remote arrive one way,%.2f\nst.async one way,%.2f\nstore and poll one way,%.2f\n", v[0] / 128.,
              v[1] / 128., v[2] / 128.);
  check(cudaFuncSetAttribute((const void*)bulk_load, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072), "bulk");
  check(cudaFuncSetAttribute((const void*)bulk_store, cudaFuncAttributeMaxDynamicSharedMemorySize, 131072), "bulk");
  bulk_load<<<1, 1, 131072>>>(out, data), bulk_load<<<1, 1, 131072>>>(out, data);
  check(cudaDeviceSynchronize(), "bulk"), v = read(out, 24);
  for (int i = 0; i < 12; ++i)
    std::printf("bulk load %d: latency,%u\nbulk load %d: 32 of them,%u\n", 16 << i, v[2 * i], 16 << i, v[2 * i + 1]);
  bulk_store<<<1, 1, 131072>>>(out, data), bulk_store<<<1, 1, 131072>>>(out, data);
  check(cudaDeviceSynchronize(), "bulk"), v = read(out, 24);
  for (int i = 0; i < 12; ++i)
    std::printf("bulk store %d: read,%u\nbulk store %d: whole,%u\n", 16 << i, v[2 * i], 16 << i, v[2 * i + 1]);
  for (u64 bytes : {u64(1) << 20, u64(4) << 20, u64(12) << 20, u64(20) << 20, u64(32) << 20, u64(44) << 20,
                    u64(64) << 20, u64(80) << 20, u64(128) << 20}) {
    const u32 n = bytes / 128;
    std::vector<u32> order(n), host(u64(n) * 32);
    for (u32 i = 0; i < n; ++i) order[i] = i;
    u64 state = 88172645463325252ull;
    for (u32 i = n - 1; i > 0; --i) {
      state ^= state << 13, state ^= state >> 7, state ^= state << 17;
      std::swap(order[i], order[state % (i + 1)]);
    }
    for (u32 i = 0; i < n; ++i) host[u64(order[i]) * 32] = order[(i + 1) % n];
    check(cudaMemcpy(data, host.data(), bytes > (u64(1) << 27) ? u64(1) << 27 : bytes, cudaMemcpyHostToDevice),
          "chase");
    const u32 steps = std::min(n, 300000u);
    chase<<<1, 1>>>(out, (const u32*)data, steps, order[0]);
    check(cudaDeviceSynchronize(), "chase");
    std::printf("random chase %llu MiB,%.2f\n", (unsigned long long)(bytes >> 20), double(read(out, 1)[0]) / steps);
  }
  cudaStream_t s;
  cudaStreamCreate(&s);
  for (int programmatic = 0; programmatic < 2; ++programmatic) {
    cudaGraph_t g;
    cudaGraphExec_t e;
    cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
    for (int i = 0; i < 200; ++i) {
      cudaLaunchConfig_t c{};
      c.gridDim = 132, c.blockDim = 128, c.stream = s;
      cudaLaunchAttribute t{};
      t.id = cudaLaunchAttributeProgrammaticStreamSerialization, t.val.programmaticStreamSerializationAllowed = 1;
      c.attrs = &t, c.numAttrs = programmatic;
      check(cudaLaunchKernelEx(&c, empty), "empty");
    }
    check(cudaStreamEndCapture(s, &g), "graph"), check(cudaGraphInstantiate(&e, g, 0), "graph");
    cudaEvent_t a, b;
    cudaEventCreate(&a), cudaEventCreate(&b);
    float ms = 1e9;
    for (int again = 0; again < 5; ++again) {
      cudaEventRecord(a, s), cudaGraphLaunch(e, s), cudaEventRecord(b, s);
      check(cudaStreamSynchronize(s), "graph");
      float t;
      cudaEventElapsedTime(&t, a, b), ms = std::min(ms, t);
    }
    std::printf("empty kernels in a graph%s: microseconds each,%.3f\n", programmatic ? ", programmatic" : "",
                ms * 1000 / 200);
  }
  return 0;
}
