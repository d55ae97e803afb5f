// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o kmeans.ptx kmeans.cu

// k-means clustering of points with four coordinates: one launch assigns each point to its nearest centre, a second
// one moves each centre to the mean of its points (one block per centre, sums in a tree of fixed order).
constexpr int threads = 128;

extern "C" __global__ void nearest(const float4* points, const float4* centres, int* owner, int count, int clusters) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float4 p = points[i];
  float best = 3.402823466e38f;
  int best_cluster = 0;
  for (int cluster = 0; cluster < clusters; ++cluster) {
    const float4 c = centres[cluster];
    const float dx = p.x - c.x;
    const float dy = p.y - c.y;
    const float dz = p.z - c.z;
    const float dw = p.w - c.w;
    const float distance = fmaf(dw, dw, fmaf(dz, dz, fmaf(dy, dy, dx * dx)));
    if (distance < best) {
      best = distance;
      best_cluster = cluster;
    }
  }
  owner[i] = best_cluster;
}

extern "C" __global__ void move_centres(const float4* points, float4* centres, const int* owner, int count) {
  __shared__ float4 sums[threads];
  __shared__ int members[threads];
  const int t = threadIdx.x;
  float4 sum = make_float4(0, 0, 0, 0);
  int member = 0;
  for (int i = t; i < count; i += threads) {
    if (owner[i] != blockIdx.x) continue;
    const float4 p = points[i];
    sum = make_float4(sum.x + p.x, sum.y + p.y, sum.z + p.z, sum.w + p.w);
    ++member;
  }
  sums[t] = sum;
  members[t] = member;
  __syncthreads();
  for (int distance = threads / 2; distance > 0; distance /= 2) {
    if (t < distance) {
      const float4 a = sums[t];
      const float4 b = sums[t + distance];
      sums[t] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
      members[t] += members[t + distance];
    }
    __syncthreads();
  }
  if (t == 0 && members[0] > 0) {
    const float n = members[0];
    const float4 total = sums[0];
    centres[blockIdx.x] = make_float4(total.x / n, total.y / n, total.z / n, total.w / n);
  }
}
