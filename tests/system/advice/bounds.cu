// SPDX-License-Identifier: MIT
// As more.cu: kernels of which a rule sees one cause, while another bounds their time.
// Made into PTX by: nvcc -arch=compute_75 -lineinfo -ptx bounds.cu
#define KERNEL extern "C" __global__ void

// Double precision: a literal in a stream from and to memory.
KERNEL scaled_stream(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < passes; ++k) out[i + k * threads] = in[i + k * threads] * 0.3;
}
KERNEL scaled_stream_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < passes; ++k) out[i + k * threads] = in[i + k * threads] * 0.3f;
}

// Double precision: each turn waits for what it loads.
KERNEL deviation(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < passes; ++k) {
    const double apart = in[i + k * 32] - 0.25;
    sum += static_cast<float>(apart * apart);
  }
  out[i] = sum;
}
KERNEL deviation_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < passes; ++k) {
    const float apart = in[i + k * 32] - 0.25f;
    sum += apart * apart;
  }
  out[i] = sum;
}

// Uncoalesced access: the stores of a transposition. Each load lies behind the store before it.
KERNEL transposed(const float* in, float* out, int columns) {
  const int rows = gridDim.x / (columns / 32) * 32, x = blockIdx.x % (columns / 32) * 32 + threadIdx.x % 32,
            y = blockIdx.x / (columns / 32) * 32 + threadIdx.x / 32;
  for (int j = 0; j < 32; j += 8) out[x * rows + y + j] = in[(y + j) * columns + x];
}
KERNEL transposed_mended(const float* in, float* out, int columns) {
  __shared__ float tile[32][33];
  const int rows = gridDim.x / (columns / 32) * 32, left = blockIdx.x % (columns / 32) * 32,
            top = blockIdx.x / (columns / 32) * 32, x = threadIdx.x % 32, y = threadIdx.x / 32;
  for (int j = 0; j < 32; j += 8) tile[y + j][x] = in[(top + y + j) * columns + left + x];
  __syncthreads();
  for (int j = 0; j < 32; j += 8) out[(left + y + j) * rows + top + x] = tile[x][y + j];
}

// Uncoalesced access: lanes gather words that lie 17 apart, each turn others.
KERNEL gathered(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < passes; ++k) sum += in[(i * 17 + k * 4099) & 0x3ffff];
  out[i] = sum;
}
KERNEL gathered_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < passes; ++k) sum += in[(i + k * 4096) & 0x3ffff];
  out[i] = sum;
}

// Unused vector width: a row of 64 words for each thread, of which the L1 keeps what a word has brought.
KERNEL row_by_words(const float* in, float* out, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < columns; ++k) sum += in[i * columns + k];
  out[i] = sum;
}
KERNEL row_by_words_mended(const float* in, float* out, int columns) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int k = 0; k < columns / 4; ++k) {
    const float4 q = reinterpret_cast<const float4*>(in)[i * (columns / 4) + k];
    sum += q.x;
    sum += q.y;
    sum += q.z;
    sum += q.w;
  }
  out[i] = sum;
}

// Atomics by address: sums of 256 keys, which all blocks change. Few lanes of a warp meet, but all warps do.
KERNEL sums_by_key(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < passes; ++k) {
    const float x = in[i + k * threads];
    atomicAdd(&out[__float_as_int(x) >> 3 & 255], x);
  }
}
KERNEL sums_by_key_mended(const float* in, float* out, int passes) {
  __shared__ float sums[256];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  sums[threadIdx.x] = 0;
  __syncthreads();
  for (int k = 0; k < passes; ++k) {
    const float x = in[i + k * threads];
    atomicAdd(&sums[__float_as_int(x) >> 3 & 255], x);
  }
  __syncthreads();
  atomicAdd(&out[threadIdx.x], sums[threadIdx.x]);
}

// Atomics by address: one word of shared memory, which some lanes of a warp change.
KERNEL counted(const float* in, float* out, int passes) {
  __shared__ int count;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  for (int k = 0; k < passes; ++k)
    if (in[i + k * 256] > 0.1f) atomicAdd(&count, static_cast<int>(in[i + k] * 10));
  __syncthreads();
  out[i] = count;
}
KERNEL counted_mended(const float* in, float* out, int passes) {
  __shared__ int count;
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x == 0) count = 0;
  __syncthreads();
  int sum = 0;
  for (int k = 0; k < passes; ++k)
    if (in[i + k * 256] > 0.1f) sum += static_cast<int>(in[i + k] * 10);
  for (int j = 16; j > 0; j /= 2) sum += __shfl_xor_sync(0xffffffff, sum, j);
  if (threadIdx.x % 32 == 0) atomicAdd(&count, sum);
  __syncthreads();
  out[i] = count;
}

// Sound: odd and even lanes part, and roots of negative numbers take a longer way, but all blocks have about as much to
// do. The last ones end late, since no other has read their lines before.
KERNEL odd_and_even(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = 0;
  for (int k = 0; k < passes; ++k) {
    const float v = in[i + k * 256];
    if (threadIdx.x % 2 != 0) {
      x = (x + v * v) * 0.5f + v;
      x = sqrtf(x * x - 1);
    } else {
      x = __expf((v - x) * (x - v)) * 3 + v;
      x = rsqrtf(x * x + 2);
    }
  }
  out[i] = x;
}

// Divergence: each turn of a loop that all threads leave together takes one of four ways.
KERNEL ways_in_a_loop(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, way = threadIdx.x % 4;
  float x = in[i];
  for (int k = 0; k < passes; ++k) {
    if (way == 0) x = (x * 0.9f + 0.1f) * (x + 0.3f);
    else if (way == 1) x = __sinf(x) * 0.8f + x * x * 0.1f;
    else if (way == 2) x = rsqrtf(x * x + 1) + 0.2f * x;
    else x = __expf(-x * x) * 0.7f + 0.1f;
  }
  out[i] = x;
}
KERNEL ways_in_a_loop_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, way = threadIdx.x / 32 % 4;
  float x = in[i];
  for (int k = 0; k < passes; ++k) {
    if (way == 0) x = (x * 0.9f + 0.1f) * (x + 0.3f);
    else if (way == 1) x = __sinf(x) * 0.8f + x * x * 0.1f;
    else if (way == 2) x = rsqrtf(x * x + 1) + 0.2f * x;
    else x = __expf(-x * x) * 0.7f + 0.1f;
  }
  out[i] = x;
}

// Unused vector width: a byte a thread; each store lies before the next load. Mended: four neighbouring ones.
KERNEL cut_bytes(const unsigned char* in, unsigned char* out, int passes, int most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < passes; ++k) out[i + k * threads] = min(static_cast<int>(in[i + k * threads]), most);
}
KERNEL cut_bytes_mended(const uchar4* in, uchar4* out, int passes, int most) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < passes / 4; ++k) {
    const uchar4 v = in[i + k * threads];
    out[i + k * threads] = make_uchar4(min(static_cast<int>(v.x), most), min(static_cast<int>(v.y), most),
                                       min(static_cast<int>(v.z), most), min(static_cast<int>(v.w), most));
  }
}

// Unused vector width: a byte, or an element of two bytes, of each thread. Mended: a thread takes neighbouring ones.
KERNEL flip_byte(const unsigned char* in, unsigned char* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i] ^ 0x55;
}
KERNEL flip_byte_mended(const uchar4* in, uchar4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n / 4) return;
  const uchar4 v = in[i];
  out[i] = make_uchar4(v.x ^ 0x55, v.y ^ 0x55, v.z ^ 0x55, v.w ^ 0x55);
}
KERNEL add_to_short(const short* in, short* out, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  out[i] = in[i] * 3 + by;
}
KERNEL add_to_short_mended(const short2* in, short2* out, int by) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const short2 v = in[i];
  out[i] = make_short2(v.x * 3 + by, v.y * 3 + by);
}

// Unused vector width: a sum of halves whose loads overlap. Mended: two neighbouring ones.
KERNEL sum_of_halves(const unsigned short* __restrict__ in, unsigned* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  unsigned sum = 0;
  for (int k = 0; k < passes; ++k) sum += in[i + k * threads];
  out[i] = sum;
}
KERNEL sum_of_halves_mended(const ushort2* __restrict__ in, unsigned* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  unsigned sum = 0;
  for (int k = 0; k < passes / 2; ++k) {
    const ushort2 v = in[i + k * threads];
    sum += v.x + v.y;
  }
  out[i] = sum;
}

// Unused vector width: arithmetic of single halves. Mended: two at once.
KERNEL axpy_of_halves(const unsigned short* in, unsigned short* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < passes; ++k) {
    unsigned short v = in[i + k * threads];
    asm("fma.rn.f16 %0, %0, %0, %0;" : "+h"(v));
    out[i + k * threads] = v;
  }
}
KERNEL axpy_of_halves_mended(const unsigned* in, unsigned* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < passes / 2; ++k) {
    unsigned v = in[i + k * threads];
    asm("fma.rn.f16x2 %0, %0, %0, %0;" : "+r"(v));
    out[i + k * threads] = v;
  }
}

// Prefetch distance: two uses of what was loaded, in a loop that is not unrolled. Mended: the next values first.
KERNEL two_sums(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  float most = 0, sum = 0;
#pragma unroll 1
  for (int k = 0; k < passes; ++k) {
    const float x = in[i + k * threads];
    most = fmaxf(most, x);
    sum = sum * 0.5f + x * x;
  }
  out[i] = most + sum;
}
KERNEL two_sums_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  float most = 0, sum = 0;
#pragma unroll 1
  for (int k = 0; k < passes; k += 4) {
    float x[4];
#pragma unroll
    for (int j = 0; j < 4; ++j) x[j] = in[i + (k + j) * threads];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      most = fmaxf(most, x[j]);
      sum = sum * 0.5f + x[j] * x[j];
    }
  }
  out[i] = most + sum;
}

// Atomics by address: 1,024 counters, more than a warp has lanes.
KERNEL many_counters(const int* in, int* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = 0; k < passes; ++k) atomicAdd(&out[in[i + k * threads] & 1023], 1);
}
KERNEL many_counters_mended(const int* in, int* out, int passes) {
  __shared__ int counts[1024];
  const int i = blockIdx.x * blockDim.x + threadIdx.x, threads = gridDim.x * blockDim.x;
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) counts[k] = 0;
  __syncthreads();
  for (int k = 0; k < passes; ++k) atomicAdd(&counts[in[i + k * threads] & 1023], 1);
  __syncthreads();
  for (int k = threadIdx.x; k < 1024; k += blockDim.x) atomicAdd(&out[k], counts[k]);
}

// Imbalance between blocks: a triangle, whose warps wait for the L2.
KERNEL triangle(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x, length = 2 * passes * (blockIdx.x + 1) / gridDim.x;
  float x = in[i];
  for (int k = 0; k < length; ++k) x = 0.5f * x + __ldcg(&in[i + (x < 0)]);
  out[i] = x;
}
KERNEL triangle_mended(const float* in, float* out, int passes) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float x = in[i];
  for (int k = 0; k < passes; ++k) x = 0.5f * x + __ldcg(&in[i + (x < 0)]);
  out[i] = x;
}
