// SPDX-License-Identifier: MIT
// As store_then_load of barrier_order.cu, to shared memory of the other block of a cluster of two: 1.
#define SCATTERED(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define LOAD(n) int x##n = far[threadIdx.x * 64 + n * 4096];
#define SUM(n) +x##n
extern "C" __global__ void __cluster_dims__(2)
    remote_store(volatile int* far, volatile int* flag, int* out, int* sink) {
  __shared__ int cell;
  if (threadIdx.x == 0) cell = 0;
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
  unsigned rank, own = (unsigned)__cvta_generic_to_shared(&cell), far_cell;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_cell) : "r"(own), "r"(1 - rank));
  if (rank == 0) {
    if (threadIdx.x < 32) {
      SCATTERED(LOAD)
      if (threadIdx.x == 0) asm volatile("st.shared::cluster.u32 [%0], 1;" :: "r"(far_cell) : "memory");
      __syncthreads();
      sink[threadIdx.x] = SCATTERED(SUM);
    } else {
      __syncthreads();
      int v; asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(far_cell) : "memory");
      out[threadIdx.x - 32] = v;
    }
  }
  asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
