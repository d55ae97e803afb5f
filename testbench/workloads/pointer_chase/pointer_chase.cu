// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o pointer_chase.ptx pointer_chase.cu

// Dependent loads: each value is the index of the next load. One lane per warp walks the ring from its own start.
extern "C" __global__ void pointer_chase(const unsigned* next, unsigned* last, unsigned steps, unsigned apart) {
  if (threadIdx.x % 32 != 0) return;
  const unsigned walker = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  unsigned at = walker * apart;
  for (unsigned step = 0; step < steps; ++step) at = next[at];
  last[walker] = at;
}
