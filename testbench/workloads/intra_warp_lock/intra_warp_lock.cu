// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o intra_warp_lock.ptx intra_warp_lock.cu

// All lanes of a warp contend for one lock with a plain spin loop, which needs independent progress of lanes (Volta
// and later).
extern "C" __global__ void intra_warp_lock(unsigned* lock, volatile unsigned* words, unsigned rounds) {
  for (unsigned round = 0; round < rounds; ++round) {
    while (atomicCAS(lock, 0u, 1u) != 0) {}
    __threadfence();
    const unsigned ticket = words[0];
    words[0] = ticket + 1;
    words[1] = words[1] + ticket;
    __threadfence();
    atomicExch(lock, 0u);
  }
  // The lanes reconverge: each counts the lanes that take part.
  __syncwarp();
  if (__ballot_sync(0xffffffffu, words[0] >= 32 * rounds) == 0xffffffffu)
    atomicAdd(const_cast<unsigned*>(words) + 2, 1u);
}
