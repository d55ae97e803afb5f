// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o bfs.ptx bfs.cu

// Breadth-first search, one level per launch: each thread whose node is at the level sets the levels of unvisited
// neighbours. All writers of a node write the same level. The host repeats the launch until no node was reached.
extern "C" __global__ void bfs(const int* first_edge, const int* edges, int* levels, int* level, int* again,
                               int nodes) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  const int current = *level;
  if (node >= nodes || levels[node] != current) return;
  for (int edge = first_edge[node]; edge < first_edge[node + 1]; ++edge) {
    const int reached = edges[edge];
    if (levels[reached] < 0) {
      levels[reached] = current + 1;
      *again = 1;
    }
  }
}

extern "C" __global__ void next_level(int* level) { ++*level; }
