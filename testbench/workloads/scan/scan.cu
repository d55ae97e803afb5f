// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o scan.ptx scan.cu

// Inclusive prefix sums: in a warp by shuffles, in a block from the warps' sums, over blocks by two further launches.
constexpr int threads = 256;
constexpr int warps = threads / 32;

__device__ unsigned warp_scan(unsigned value, unsigned lane) {
  for (unsigned distance = 1; distance < 32; distance *= 2) {
    const unsigned other = __shfl_up_sync(0xffffffff, value, distance);
    if (lane >= distance) value += other;
  }
  return value;
}

extern "C" __global__ void scan_blocks(const unsigned* in, unsigned* out, unsigned* totals, int n) {
  __shared__ unsigned sums[warps];
  const int i = blockIdx.x * threads + threadIdx.x;
  const unsigned lane = threadIdx.x % 32;
  const unsigned warp = threadIdx.x / 32;
  unsigned value = warp_scan(i < n ? in[i] : 0, lane);
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const unsigned sum = warp_scan(lane < warps ? sums[lane] : 0, lane);
    if (lane < warps) sums[lane] = sum;
  }
  __syncthreads();
  if (warp > 0) value += sums[warp - 1];
  if (i < n) out[i] = value;
  if (threadIdx.x == threads - 1) totals[blockIdx.x] = value;
}

extern "C" __global__ void add_totals(unsigned* out, const unsigned* scanned_totals, int n) {
  const int i = blockIdx.x * threads + threadIdx.x;
  if (blockIdx.x > 0 && i < n) out[i] += scanned_totals[blockIdx.x - 1];
}
