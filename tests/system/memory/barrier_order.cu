// SPDX-License-Identifier: MIT
// A barrier of a block orders accesses to global memory: those before it, of any warp, come before those after it.
// Sixteen scattered loads of warp 0 keep its next access in the queue of the load/store unit, while warp 1, which is in
// another sub-partition, reaches the barrier at once.
#define SCATTERED(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define LOAD(n) int x##n = far[threadIdx.x * 64 + n * 4096];
#define SUM(n) +x##n

// Warp 1 reads what warp 0 has stored: 1.
extern "C" __global__ void store_then_load(volatile int* far, volatile int* flag, int* out, int* sink) {
  if (threadIdx.x < 32) {
    SCATTERED(LOAD)
    if (threadIdx.x == 0) flag[0] = 1;
    __syncthreads();
    sink[threadIdx.x] = SCATTERED(SUM);
  } else {
    __syncthreads();
    out[threadIdx.x - 32] = flag[0];
  }
}

// The same with an atomic: 5.
extern "C" __global__ void add_then_load(volatile int* far, volatile int* flag, int* out, int* sink) {
  if (threadIdx.x < 32) {
    SCATTERED(LOAD)
    if (threadIdx.x == 0) atomicAdd((int*)flag, 5);
    __syncthreads();
    sink[threadIdx.x] = SCATTERED(SUM);
  } else {
    __syncthreads();
    out[threadIdx.x - 32] = flag[0];
  }
}

// Warp 0 does not read what warp 1 stores after the barrier: 0.
extern "C" __global__ void load_then_store(volatile int* far, volatile int* flag, int* out, int* sink) {
  if (threadIdx.x < 32) {
    SCATTERED(LOAD)
    const int before = flag[0];
    __syncthreads();
    sink[threadIdx.x] = SCATTERED(SUM);
    out[threadIdx.x] = before;
  } else {
    __syncthreads();
    if (threadIdx.x == 32) flag[0] = 1;
  }
}
