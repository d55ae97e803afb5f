// SPDX-License-Identifier: MIT
// A kernel whose launches depend on each other (programmatic dependent launch); dependent_launches.ptx was made from it
// by
//   nvcc -std=c++17 -arch=sm_90 -ptx dependent_launches.cu
// (CUDA 13.0) and is what the tests run.

/// Goes through memory of the thread's own, so that launches that run at the same time must not share that.
__device__ unsigned turned(unsigned v, unsigned rounds) {
  unsigned table[8];
  for (unsigned k = 0; k < 8; ++k) table[k] = v + k;
  for (unsigned round = 0; round < rounds; ++round) {
    v = v * 1664525u + 1013904223u;
    if (round % 32 != 0) continue;
    unsigned& entry = table[v / 4096 % 8];
    v += entry;
    entry = v ^ round;
  }
  return v;
}

/// Words are read that another block of the launch before has written. `when`: this launch lets the next one begin
/// never (0), when it begins (1), after the wait (2), or in one thread of each block only (3).
extern "C" __global__ void step(const unsigned* in, unsigned* out, unsigned prologue, unsigned work, unsigned when) {
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned* const from = in + (own + blockDim.x) % (gridDim.x * blockDim.x);
  if (when == 1) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  if (when == 3 && threadIdx.x == 5) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  unsigned mixed = turned(own, prologue);
  // What is read too early stays in no cache.
  if (*from == 0x5eed5eedu) mixed = 0;
  asm volatile("griddepcontrol.wait;" ::: "memory");
  const unsigned v = turned(*from ^ mixed, work);
  if (when == 2) asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
  out[own] = v;
}

/// Lanes of a warp wait on different paths, and some exit before.
extern "C" __global__ void diverging(const unsigned* in, unsigned* out) {
  const unsigned own = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 8 == 3) return;
  unsigned v = own;
  if (threadIdx.x % 2 == 0) {
    asm volatile("griddepcontrol.wait;" ::: "memory");
    v += in[own];
  } else {
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
    v = turned(v, 20);
    asm volatile("griddepcontrol.wait;" ::: "memory");
    v ^= in[own];
  }
  out[own] = v;
}
