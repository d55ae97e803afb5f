// SPDX-License-Identifier: MIT
// As barrier_order.cu, with an mbarrier: an arrival releases what its thread has done to global memory before it to the
// threads that wait for the phase (PTX ISA, mbarrier.arrive: .release at the scope of the block).
// PTX: nvcc -ptx -arch=compute_80 -O3 barrier_order_arrival.cu
#define SCATTERED(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define LOAD(n) int x##n = far[threadIdx.x * 64 + n * 4096];
#define SUM(n) +x##n

__device__ unsigned at(const void* shared) { return static_cast<unsigned>(__cvta_generic_to_shared(shared)); }
__device__ void arrive(unsigned barrier) {
  asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(barrier) : "memory");
}
__device__ void wait(unsigned barrier) {
  asm volatile("{.reg .pred done; again: mbarrier.test_wait.parity.shared.b64 done, [%0], 0; @!done bra again;}" ::"r"(barrier) : "memory");
}

// Warp 1 reads what warp 0 has stored: 1.
extern "C" __global__ void store_then_arrive(volatile int* far, volatile int* flag, int* out, int* sink) {
  __shared__ unsigned long long object;
  const unsigned barrier = at(&object);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(barrier) : "memory");
  __syncthreads();
  if (threadIdx.x < 32) {
    SCATTERED(LOAD)
    if (threadIdx.x == 0) flag[0] = 1;
    arrive(barrier);
    sink[threadIdx.x] = SCATTERED(SUM);
  } else {
    arrive(barrier);
    wait(barrier);
    out[threadIdx.x - 32] = flag[0];
  }
}

// Warp 0 does not read what warp 1 stores when the phase is over: 0.
extern "C" __global__ void load_then_arrive(volatile int* far, volatile int* flag, int* out, int* sink) {
  __shared__ unsigned long long object;
  const unsigned barrier = at(&object);
  if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(barrier) : "memory");
  __syncthreads();
  if (threadIdx.x < 32) {
    SCATTERED(LOAD)
    const int before = flag[0];
    arrive(barrier);
    sink[threadIdx.x] = SCATTERED(SUM);
    out[threadIdx.x] = before;
  } else {
    arrive(barrier);
    wait(barrier);
    if (threadIdx.x == 32) flag[0] = 1;
  }
}
