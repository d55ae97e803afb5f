// SPDX-License-Identifier: MIT
// Launches of thread block clusters, and the questions that a program asks about them.
#include "check.cuh"

__global__ void ranks(unsigned* out) {
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  if (threadIdx.x == 0)
    out[blockIdx.x] = 1000 * __clusterDimIsSpecified() + 100 * __clusterSizeInBlocks() + __clusterRelativeBlockRank();
}
__global__ void __cluster_dims__(2, 1, 1) pairs(unsigned* out) {
  if (threadIdx.x == 0) out[blockIdx.x] = 100 * __clusterSizeInBlocks() + __clusterRelativeBlockRank();
}

// Lane t adds to a word of block t % 4, exchanges it, or takes its maximum: one instruction for several blocks.
__global__ void __cluster_dims__(4, 1, 1) reach_all(unsigned* out) {
  __shared__ unsigned words[3][32];
  const unsigned t = threadIdx.x, rank = __clusterRelativeBlockRank();
  for (auto& w : words) w[t] = 0;
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  const auto of = [&](unsigned* word) { return static_cast<unsigned*>(__cluster_map_shared_rank(word, t % 4)); };
  atomicAdd(of(&words[0][t]), 1);
  const unsigned before = atomicAdd(of(&words[1][t]), 1);
  atomicMax(of(&words[2][t]), 7 + rank);
  __cluster_barrier_arrive();
  __cluster_barrier_wait();
  const unsigned own = t % 4 == rank ? 1 : 0;
  if (words[0][t] != 4 * own || words[1][t] != 4 * own || words[2][t] != 10 * own || before > 3) atomicAdd(out, 1);
}

unsigned* out = nullptr;

cudaLaunchConfig_t shape(unsigned blocks, unsigned cluster, cudaLaunchAttribute& attribute) {
  cudaLaunchConfig_t c{};
  c.gridDim = dim3(blocks);
  c.blockDim = dim3(128);
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim.x = cluster;
  attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
  c.attrs = &attribute;
  c.numAttrs = cluster != 0 ? 1 : 0;
  return c;
}

template <class K>
cudaError_t launched(K kernel, unsigned blocks, unsigned cluster) {
  cudaLaunchAttribute attribute;
  const cudaLaunchConfig_t c = shape(blocks, cluster, attribute);
  const cudaError_t e = cudaLaunchKernelEx(&c, kernel, out);
  cudaGetLastError();
  return e;
}

void expect_words(unsigned blocks, unsigned cluster, unsigned more) {
  std::vector<unsigned> got(blocks);
  CHECK(cudaMemcpy(got.data(), out, 4 * blocks, cudaMemcpyDeviceToHost));
  for (unsigned b = 0; b < blocks; ++b) EXPECT(got[b] == more + 100 * cluster + b % cluster);
}

int main() {
  CHECK(cudaMalloc(&out, 4096));
  CHECK(launched(ranks, 12, 4));
  expect_words(12, 4, 1000);
  CHECK(launched(ranks, 5, 0));
  expect_words(5, 1, 0);
  CHECK(launched(pairs, 6, 0));
  expect_words(6, 2, 0);
  CHECK(cudaMemset(out, 0, 4));
  reach_all<<<8, 32>>>(out);
  unsigned differing = 1;
  CHECK(cudaMemcpy(&differing, out, 4, cudaMemcpyDeviceToHost));
  EXPECT(differing == 0);
  EXPECT(launched(ranks, 10, 4) == cudaErrorInvalidClusterSize);
  EXPECT(launched(ranks, 16, 16) == cudaErrorInvalidClusterSize);
  EXPECT(launched(pairs, 6, 3) == cudaErrorInvalidClusterSize);
  CHECK(cudaFuncSetAttribute(ranks, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
  CHECK(launched(ranks, 16, 16));
  expect_words(16, 16, 1000);
  cudaLaunchAttribute attribute;
  cudaLaunchConfig_t c = shape(16, 16, attribute);
  c.blockDim = dim3(1024);
  int clusters = 0, size = 0;
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, ranks, &c));
  EXPECT(clusters == 16);  // two blocks on an SM
  c.dynamicSmemBytes = 200000;
  CHECK(cudaFuncSetAttribute(ranks, cudaFuncAttributeMaxDynamicSharedMemorySize, 200000));
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, ranks, &c));
  EXPECT(clusters == 8);
  CHECK(cudaOccupancyMaxPotentialClusterSize(&size, ranks, &c));
  EXPECT(size == 16);
  EXPECT(cudaOccupancyMaxPotentialClusterSize(&size, pairs, &c) == cudaErrorInvalidClusterSize);  // it asks for 16
  cudaGetLastError();
  attribute.val.clusterDim.x = 8;
  c.dynamicSmemBytes = 0;
  CHECK(cudaOccupancyMaxPotentialClusterSize(&size, pairs, &c));
  EXPECT(size == 8);
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, pairs, &c));
  c.dynamicSmemBytes = 200000;  // more than was asked for
  CHECK(cudaOccupancyMaxActiveClusters(&clusters, pairs, &c));
  EXPECT(clusters == 0);
  cudaFuncAttributes a;
  CHECK(cudaFuncGetAttributes(&a, pairs));
  EXPECT(a.requiredClusterWidth == 2 && a.requiredClusterHeight == 1 && a.requiredClusterDepth == 1);
  CHECK(cudaFuncGetAttributes(&a, ranks));
  EXPECT(a.requiredClusterWidth == 0 && a.nonPortableClusterSizeAllowed == 1);
  int has = 0;
  CHECK(cudaDeviceGetAttribute(&has, cudaDevAttrClusterLaunch, 0));
  EXPECT(has == 1);
  CHECK(cudaDeviceSynchronize());
  std::puts(wrong == 0 ? "right" : "wrong");
  return wrong != 0;
}
