// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o sanitize_cost.ptx sanitize_cost.cu
// Kernels that do little but read vectors of 16 bytes from shared memory (sanitize_cost.sh).
__device__ void fill(float4* s) {
  s[threadIdx.x] = make_float4(threadIdx.x, 1, 2, 3);
  s[threadIdx.x + 256] = make_float4(threadIdx.x, 1, 2, 3);
  __syncthreads();
}

__device__ void add(float4& a, float4 v) {
  a.x += v.x;
  a.y += v.y;
  a.z += v.z;
  a.w += v.w;
}

// The lanes of a warp read side by side.
extern "C" __global__ void vectors(float4* out, int n) {
  __shared__ float4 s[512];
  fill(s);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int k = 0; k < 16; k++) add(sum, s[(threadIdx.x + i * 32 + k * 8) & 511]);
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// They read rows of a tile, as a product does.
extern "C" __global__ void rows(float4* out, int n) {
  __shared__ float4 s[512];
  fill(s);
  float4 sum = make_float4(0, 0, 0, 0);
  for (int i = 0; i < n; i++)
#pragma unroll
    for (int k = 0; k < 16; k++) add(sum, s[(threadIdx.x / 16 * 4 + (threadIdx.x & 3) * 64 + i * 32 + k) & 511]);
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// A product of n x n matrices through tiles of 16 x 16 elements.
extern "C" __global__ void tiles(const float* a, const float* b, float* c, int n) {
  __shared__ float s[16][16], t[16][16];
  const int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;
  float sum = 0;
  for (int k = 0; k < n; k += 16) {
    s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
    t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
    __syncthreads();
    for (int i = 0; i < 16; ++i) sum += s[threadIdx.y][i] * t[i][threadIdx.x];
    __syncthreads();
  }
  c[y * n + x] = sum;
}

extern "C" __global__ void saxpy(float* y, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += 2 * x[i];
}

// Sums of blocks of 512 elements.
extern "C" __global__ void sums(const float* in, float* out, int n) {
  __shared__ float s[256];
  const int i = blockIdx.x * 512 + threadIdx.x;
  s[threadIdx.x] = in[i] + in[i + 256];
  for (int step = 128; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) s[threadIdx.x] += s[threadIdx.x + step];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}

// A histogram of bytes by atomics in shared memory.
extern "C" __global__ void bytes(const unsigned char* in, unsigned* out, int n) {
  __shared__ unsigned s[256];
  s[threadIdx.x] = 0;
  __syncthreads();
  for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256) atomicAdd(&s[in[i]], 1);
  __syncthreads();
  atomicAdd(&out[threadIdx.x], s[threadIdx.x]);
}

// Words of an array at random, all within it.
extern "C" __global__ void gather(const unsigned* in, unsigned* out, int n) {
  unsigned at = (blockIdx.x * 256 + threadIdx.x) * 2654435761u, sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += in[at >> 14];
    at = at * 1664525u + 1013904223u;
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// The same; the last block to end could go on with what the others have written.
extern "C" __global__ void fenced_gather(const unsigned* in, unsigned* out, unsigned* ended, int n) {
  unsigned at = (blockIdx.x * 256 + threadIdx.x) * 2654435761u, sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += in[at >> 14];
    at = at * 1664525u + 1013904223u;
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) atomicAdd(ended, 1);
}

// Sums of neighbours, again and again, with a barrier of the grid between. All threads read a table.
extern "C" __global__ void grid_steps(float* from, float* to, const float* table, unsigned* arrived, int n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x, last = gridDim.x * 256 - 1;
  for (int k = 0; k < n; ++k) {
    to[i] = from[i == 0 ? 0 : i - 1] + from[i] + from[i == last ? last : i + 1] + table[(threadIdx.x * 7 + k) & 1023];
    __syncthreads();
    if (threadIdx.x == 0) {
      __threadfence();
      atomicAdd(arrived, 1);
      while (*(volatile unsigned*)arrived < (k + 1) * gridDim.x) {
      }
      __threadfence();
    }
    __syncthreads();
    float* const swapped = from;
    from = to;
    to = swapped;
  }
}

// Each thread fills memory of its own, and reads it.
extern "C" __global__ void own_memory(unsigned* out, int n) {
  unsigned sum = 0;
  for (int k = 0; k < n; ++k) {
    unsigned* const own = static_cast<unsigned*>(malloc(64));
    for (int i = 0; i < 16; ++i) own[i] = i * k;
    for (int i = 0; i < 16; ++i) sum += own[(i * 5 + threadIdx.x) & 15];
    free(own);
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// Atomics on words of an array at random.
extern "C" __global__ void scatter(unsigned* to, int n) {
  unsigned at = (blockIdx.x * 256 + threadIdx.x) * 2654435761u;
  for (int k = 0; k < n; ++k) {
    atomicAdd(&to[at >> 14], at);
    at = at * 1664525u + 1013904223u;
  }
}

// Bytes of a table of 1 MiB at random.
extern "C" __global__ void lookup(const unsigned char* in, unsigned* out, int n) {
  unsigned at = (blockIdx.x * 256 + threadIdx.x) * 2654435761u, sum = 0;
  for (int k = 0; k < n; ++k) {
    sum += in[at >> 12];
    at = at * 1664525u + 1013904223u;
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// The lanes of a warp exchange words through shared memory.
extern "C" __global__ void exchange(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[256];
  unsigned sum = in[threadIdx.x];
  for (int k = 0; k < n; ++k) {
    s[threadIdx.x] = sum;
    __syncwarp();
    sum += s[threadIdx.x ^ (k & 31)];
    __syncwarp();
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// Volatile words that all threads read again and again.
extern "C" __global__ void polled(volatile unsigned* words, unsigned* out, int n) {
  unsigned sum = 0;
  for (int k = 0; k < n; ++k) sum += words[(threadIdx.x + k) & 1023];
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// exchange() with volatile words.
extern "C" __global__ void volatile_exchange(const unsigned* in, unsigned* out, int n) {
  __shared__ volatile unsigned s[256];
  unsigned sum = in[threadIdx.x];
  for (int k = 0; k < n; ++k) {
    s[threadIdx.x] = sum;
    __syncwarp();
    sum += s[threadIdx.x ^ (k & 31)];
    __syncwarp();
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// Sums of the words of a warp through volatile shared memory, without __syncwarp, as before Volta.
extern "C" __global__ void volatile_sums(const unsigned* in, unsigned* out, int n) {
  __shared__ volatile unsigned s[8 * 48];
  volatile unsigned* const at = s + threadIdx.x / 32 * 48 + (threadIdx.x & 31);
  at[16] = 0;
  unsigned sum = in[threadIdx.x];
  for (int k = 0; k < n; ++k) {
    at[0] = sum;
    for (int step = 16; step > 0; step /= 2) at[0] += at[step];
    sum += at[0];
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// Threads read what others of their block write, with no barrier between.
extern "C" __global__ void shared_races(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[256];
  unsigned sum = s[threadIdx.x] = in[threadIdx.x];
  __syncthreads();
  for (int k = 0; k < n; ++k) {
    s[threadIdx.x] = sum;
    sum += s[(threadIdx.x + 33 * k) & 255];
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// The same of words of global memory, with threads of other blocks.
extern "C" __global__ void global_races(unsigned* words, unsigned* out, int n) {
  const unsigned i = blockIdx.x * 256 + threadIdx.x;
  unsigned sum = i;
  for (int k = 0; k < n; ++k) {
    words[(i + 33 * k) & 8191] = sum;
    sum += words[(i * 5 + k) & 8191];
  }
  out[i] = sum;
}

struct node {
  node* next;
  unsigned value;
};

// Each thread makes a list of small blocks of malloc, and walks it again and again. Their lists differ in length.
extern "C" __global__ void heap_walk(unsigned* out, int n) {
  node* first = nullptr;
  const int count = 8 + (threadIdx.x & 15);
  for (int i = 0; i < count; ++i) {
    node* const one = static_cast<node*>(malloc(sizeof(node)));
    one->next = first;
    one->value = i;
    first = one;
  }
  unsigned sum = 0;
  for (int k = 0; k < n; ++k)
    for (node* a = first; a != nullptr; a = a->next) sum += a->value;
  while (first != nullptr) {
    node* const next = first->next;
    free(first);
    first = next;
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

struct padded {
  char kind;
  unsigned value;
  short more;
  char last;
};

// Structures with gaps, which their readers mask out.
extern "C" __global__ void gaps(uint4* out, int n) {
  __shared__ __align__(16) padded s[256 + 4];
  unsigned v = threadIdx.x;
  uint2 got = make_uint2(0, 0);
  for (int k = 0; k < n; ++k) {
    padded& p = s[threadIdx.x];
    p.kind = k;
    p.value = v;
    p.more = k;
    p.last = 1;
    __syncthreads();
    const padded q = s[(threadIdx.x + k) & 255];
    const unsigned* raw = reinterpret_cast<const unsigned*>(&s[(threadIdx.x + k) & 255]);
    v += q.value + q.more + (raw[0] & 255) + (raw[2] & 0xffff);
    got.x ^= raw[0];
    __syncthreads();
  }
  out[blockIdx.x * 256 + threadIdx.x] = make_uint4(got.x & 255, v, 0, 0);
}

// Tiles of eight lanes exchange words through shared memory.
extern "C" __global__ void small_tiles(const unsigned* in, unsigned* out, int n) {
  __shared__ unsigned s[256];
  const unsigned tile = 0xffu << (threadIdx.x & 24);
  unsigned sum = in[threadIdx.x];
  for (int k = 0; k < n; ++k) {
    s[threadIdx.x] = sum;
    __syncwarp(tile);
    sum += s[threadIdx.x ^ 7];
    __syncwarp(tile);
  }
  out[blockIdx.x * 256 + threadIdx.x] = sum;
}

// Five points of a grid, and nine in a row.
extern "C" __global__ void five_points(const float* in, float* out, int width) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x < 1 || y < 1 || x >= width - 1 || y >= width - 1) return;
  const int i = y * width + x;
  out[i] = 0.25f * (in[i - 1] + in[i + 1] + in[i - width] + in[i + width]) - in[i];
}
extern "C" __global__ void nine_in_a_row(const double* in, double* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < 4 || i >= n - 4) return;
  double sum = 0;
  for (int k = -4; k <= 4; ++k) sum += in[i + k];
  out[i] = sum;
}
