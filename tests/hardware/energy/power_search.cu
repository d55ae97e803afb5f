// SPDX-License-Identifier: MIT
// Kernels of AccelWattch's validation that search: Rodinia's b+tree (btree_k1, btree_k2) and the merging of intervals in
// CUDA's mergeSort (mergeSort_k2), written anew from their description: README.md says what was chosen. The first kernel of
// each job makes its input.
// PTX: nvcc -ptx -arch=compute_75 -O3 power_search.cu, then .target sm_70 in place of sm_75.
#include <climits>

constexpr int order = 256, full = order / 2;  // keys in ascending order leave half-full nodes

struct node {
  int location;
  int below[order + 1];  // nodes, in a leaf records
  int keys[order + 1];
  bool leaf;
  int count;
};

// A tree of three levels over the keys 0, 1, 2, ... of `leaves` leaves, a node a block: the root, `middle` nodes, the leaves. And
// a question for each block: a key, and the last of the 3,000 keys from it on.
extern "C" __global__ void make_tree(node* nodes, int middle, int leaves, int* wanted, int* last) {
  const int at = blockIdx.x, t = threadIdx.x, keys = leaves * full;
  if (t == 0) {
    const unsigned hash = (at * 2654435761u) ^ (at * 40503u >> 3);
    wanted[at] = hash % (keys - 3000);
    last[at] = wanted[at] + 3000;
  }
  if (at > middle + leaves) return;
  // The nodes below are `first` ones, `span` keys each.
  const bool leaf = at > middle, root = at == 0;
  const int first = leaf ? (at - middle - 1) * full : root ? 1 : 1 + middle + (at - 1) * full;
  const int span = leaf ? 1 : root ? full * full : full;
  const int from = leaf ? first : root ? 0 : (at - 1) * full * full;
  const int below = leaf ? full : root ? middle : min(full, leaves - (at - 1) * full);
  node& n = nodes[at];
  for (int i = t; i <= order; i += blockDim.x) {
    n.below[i] = i < below ? first + i : 0;
    n.keys[i] = i == 0 && !leaf ? INT_MIN : i < below ? from + i * span : INT_MAX;
  }
  if (t == 0) {
    n.location = at;
    n.leaf = leaf;
    n.count = below;
  }
}

// The record of a key, a block a question, a thread a key of the node (btree_k2).
extern "C" __global__ void find_key(long height, node* nodes, long count, int* records, long* current, long* next, int* wanted, int* answers) {
  const int t = threadIdx.x, b = blockIdx.x;
  for (int level = 0; level < height; ++level) {
    if (nodes[current[b]].keys[t] <= wanted[b] && wanted[b] < nodes[current[b]].keys[t + 1] && nodes[next[b]].below[t] < count)
      next[b] = nodes[next[b]].below[t];
    __syncthreads();
    if (t == 0) current[b] = next[b];
    __syncthreads();
  }
  if (nodes[current[b]].keys[t] == wanted[b]) answers[b] = records[nodes[current[b]].below[t]];
}

// The first record of a range of keys, and how many there are (btree_k1).
extern "C" __global__ void find_range(long height, node* nodes, long count, long* current, long* next, long* last_current, long* last_next,
                                      int* first, int* last, int* start, int* length) {
  const int t = threadIdx.x, b = blockIdx.x;
  for (int level = 0; level < height; ++level) {
    if (nodes[current[b]].keys[t] <= first[b] && first[b] < nodes[current[b]].keys[t + 1] && nodes[current[b]].below[t] < count)
      next[b] = nodes[current[b]].below[t];
    if (nodes[last_current[b]].keys[t] <= last[b] && last[b] < nodes[last_current[b]].keys[t + 1] && nodes[last_current[b]].below[t] < count)
      last_next[b] = nodes[last_current[b]].below[t];
    __syncthreads();
    if (t == 0) {
      current[b] = next[b];
      last_current[b] = last_next[b];
    }
    __syncthreads();
  }
  if (nodes[current[b]].keys[t] == first[b]) start[b] = nodes[current[b]].below[t];
  __syncthreads();
  if (nodes[last_current[b]].keys[t] == last[b]) length[b] = nodes[last_current[b]].below[t] - start[b] + 1;
}

// Pairs of sorted runs of `stride` keys, A and B, and where each interval of their merged order begins in them: an interval begins
// at each 128th key of A and of B. B's keys are behind A's by another part of an interval in each pair.
extern "C" __global__ void make_runs(unsigned* keys, unsigned* values, unsigned* limits_a, unsigned* limits_b, unsigned stride) {
  const unsigned at = blockIdx.x * blockDim.x + threadIdx.x, pair = at / (2 * stride), behind = 1 + pair * 37 % 127;
  const unsigned in_pair = at % (2 * stride);
  const bool in_b = in_pair >= stride;
  keys[at] = 2 * (in_pair - (in_b ? stride : 0)) + (in_b ? 2 * behind + 1 : 0);
  values[at] = at;
  if (threadIdx.x == 0) {
    const unsigned interval = in_pair / 128, sample = interval / 2 * 128;
    limits_a[blockIdx.x] = interval % 2 == 0 ? sample : min(sample + behind + 1, stride);
    limits_b[blockIdx.x] = interval % 2 == 0 ? (sample > behind ? sample - behind : 0) : sample;
  }
}

__device__ unsigned place_in(unsigned key, const unsigned* data, unsigned length, bool inclusive) {
  if (length == 0) return 0;
  unsigned at = 0;
#pragma unroll
  for (unsigned stride = 128; stride > 0; stride >>= 1) {
    const unsigned next = min(at + stride, length);
    if (inclusive ? data[next - 1] <= key : data[next - 1] < key) at = next;
  }
  return at;
}

// An interval of two runs merged in shared memory, a key of each a thread (mergeSort_k2).
extern "C" __global__ void merge_intervals(unsigned* keys_out, unsigned* values_out, const unsigned* keys_in, const unsigned* values_in,
                                           const unsigned* limits_a, const unsigned* limits_b, unsigned stride, unsigned n) {
  __shared__ unsigned keys[256], values[256], start_a, start_b, length_a, length_b;
  const unsigned tid = threadIdx.x, interval = blockIdx.x & (2 * stride / 128 - 1), base = (blockIdx.x - interval) * 128;
  keys_in += base;
  values_in += base;
  keys_out += base;
  values_out += base;
  if (tid == 0) {
    const unsigned all_b = min(stride, n - stride - base), intervals = (stride + all_b + 127) / 128;
    start_a = limits_a[blockIdx.x];
    start_b = limits_b[blockIdx.x];
    length_a = (interval + 1 < intervals ? limits_a[blockIdx.x + 1] : stride) - start_a;
    length_b = (interval + 1 < intervals ? limits_b[blockIdx.x + 1] : all_b) - start_b;
  }
  __syncthreads();
  unsigned key_a, value_a, place_a, key_b, value_b, place_b;
  if (tid < length_a) {
    keys[tid] = keys_in[start_a + tid];
    values[tid] = values_in[start_a + tid];
  }
  if (tid < length_b) {
    keys[tid + 128] = keys_in[stride + start_b + tid];
    values[tid + 128] = values_in[stride + start_b + tid];
  }
  __syncthreads();
  if (tid < length_a) {
    key_a = keys[tid];
    value_a = values[tid];
    place_a = place_in(key_a, keys + 128, length_b, false) + tid;
  }
  if (tid < length_b) {
    key_b = keys[tid + 128];
    value_b = values[tid + 128];
    place_b = place_in(key_b, keys, length_a, true) + tid;
  }
  __syncthreads();
  if (tid < length_a) {
    keys[place_a] = key_a;
    values[place_a] = value_a;
  }
  if (tid < length_b) {
    keys[place_b] = key_b;
    values[place_b] = value_b;
  }
  __syncthreads();
  const unsigned to = start_a + start_b;
  if (tid < length_a) {
    keys_out[to + tid] = keys[tid];
    values_out[to + tid] = values[tid];
  }
  if (tid < length_b) {
    keys_out[to + length_a + tid] = keys[length_a + tid];
    values_out[to + length_a + tid] = values[length_a + tid];
  }
}
