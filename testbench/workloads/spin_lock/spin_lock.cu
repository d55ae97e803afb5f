// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o spin_lock.ptx spin_lock.cu

// One thread per block acquires a lock by compare-and-swap and updates two words that the lock protects.
extern "C" __global__ void spin_lock(unsigned* lock, volatile unsigned* words, unsigned rounds) {
  if (threadIdx.x != 0) return;
  for (unsigned round = 0; round < rounds; ++round) {
    while (atomicCAS(lock, 0u, 1u) != 0) {}
    __threadfence();
    const unsigned ticket = words[0];
    words[0] = ticket + 1;
    words[1] = words[1] + ticket;
    __threadfence();
    atomicExch(lock, 0u);
  }
}
