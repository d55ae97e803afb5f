// SPDX-License-Identifier: MIT
// Kernels that do what those of AccelWattch's validation do, whose power was measured on a V100, written anew from their
// description: tests/hardware/energy/README.md says which, and what was chosen.
// PTX: nvcc -ptx -arch=compute_75 -O3 power.cu, then .target sm_70 in place of sm_75.
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

// One step of a fast Walsh transform over four elements a thread, in place (fastWalshTransform_k1).
extern "C" __global__ void walsh_far(float* data, int stride) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x, low = at & (stride - 1);
  float* d = data + ((at - low) << 2) + low;
  const float a = d[0], b = d[stride], c = d[2 * stride], e = d[3 * stride];
  const float ac = a + c, be = b + e, a_c = a - c, b_e = b - e;
  d[0] = ac + be;
  d[stride] = ac - be;
  d[2 * stride] = a_c + b_e;
  d[3 * stride] = a_c - b_e;
}

// The whole transform of 2,048 elements of a block in shared memory: five steps by four and one by two (fastWalshTransform_k2).
extern "C" __global__ void walsh_near(float* out, const float* in, int log_n) {
  extern __shared__ float s[];
  const int n = 1 << log_n, base = blockIdx.x << log_n;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s[i] = in[base + i];
  int stride = n >> 2;
  for (; stride > 0; stride >>= 2) {
    const int low = threadIdx.x & (stride - 1), i0 = ((threadIdx.x - low) << 2) + low;
    const int i1 = i0 + stride, i2 = i1 + stride, i3 = i2 + stride;
    __syncthreads();
    const float a = s[i0], b = s[i1], c = s[i2], e = s[i3];
    const float ac = a + c, be = b + e, a_c = a - c, b_e = b - e;
    s[i0] = ac + be;
    s[i1] = ac - be;
    s[i2] = a_c + b_e;
    s[i3] = a_c - b_e;
  }
  if (log_n & 1) {
    __syncthreads();
    for (int at = threadIdx.x; at < n / 2; at += blockDim.x) {
      const float a = s[2 * at], b = s[2 * at + 1];
      s[2 * at] = a + b;
      s[2 * at + 1] = a - b;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[base + i] = s[i];
}

// Histogram of 64 bins by the upper six bits of bytes, one of 8-bit counters for each thread in shared memory, so that a thread may
// count 255 bytes at most (histogram_k1). Neighbouring threads' counters are in different banks.
constexpr int bins = 64, counting_threads = 64, banks = 16;
__device__ void count_bytes(unsigned char* own, unsigned four) {
#pragma unroll
  for (int shift = 2; shift < 32; shift += 8) ++own[(four >> shift & 63) * counting_threads];
}
extern "C" __global__ void histogram_64(unsigned* partial, const uint4* data, unsigned count) {
  __shared__ unsigned char counters[counting_threads * bins];
  const unsigned t = threadIdx.x;
#pragma unroll
  for (int i = 0; i < bins / 4; ++i) reinterpret_cast<unsigned*>(counters)[t + i * counting_threads] = 0;
  unsigned char* const own = counters + ((t & (banks - 1)) << 2 | (t & 3 * banks) >> 4);
  __syncthreads();
  for (unsigned at = blockIdx.x * blockDim.x + t; at < count; at += blockDim.x * gridDim.x) {
    const uint4 four = data[at];
    count_bytes(own, four.x);
    count_bytes(own, four.y);
    count_bytes(own, four.z);
    count_bytes(own, four.w);
  }
  __syncthreads();
  const unsigned char* const row = counters + t * counting_threads;
  unsigned sum = 0, at = 4 * (t & (banks - 1));
#pragma unroll
  for (int i = 0; i < counting_threads / 4; ++i) {
    sum += row[at] + row[at + 1] + row[at + 2] + row[at + 3];
    at = (at + 4) & (counting_threads - 1);
  }
  partial[blockIdx.x * bins + t] = sum;
}

// A binomial tree of 2,048 steps a block, 16 elements a thread; of `skip` steps one is taken (binomialOptions_k1).
extern "C" __global__ void binomial_tree(float* out, const float4* options, int skip) {
  constexpr int steps = 2048, mine = 16, threads = steps / mine;
  __shared__ float exchange[threads + 1];
  const int tid = threadIdx.x;
  const float4 option = options[blockIdx.x];
  const float price = option.x, strike = option.y, v = option.z, up = option.w, down = 0.5f;
  float call[mine + 1];
#pragma unroll
  for (int i = 0; i < mine; ++i) {
    const float d = price * __expf(v * (2.0f * (tid * mine + i) - steps)) - strike;
    call[i] = d > 0 ? d : 0;
  }
  if (tid == 0) exchange[threads] = 1.0f;
  const int last = max(0, tid * mine - 1);
#pragma unroll 16
  for (int i = steps; i > 0; i -= skip) {
    exchange[tid] = call[0];
    __syncthreads();
    call[mine] = exchange[tid + 1];
    __syncthreads();
    if (i > last) {
#pragma unroll
      for (int j = 0; j < mine; ++j) call[j] = up * call[j + 1] + down * call[j];
    }
  }
  if (tid == 0) out[blockIdx.x] = call[0];
}

// Sobol numbers by Gray code, a dimension for each row of blocks (sobolQRNG_k1).
extern "C" __global__ void sobol(unsigned n, const unsigned* directions, float* out) {
  __shared__ unsigned v[32];
  directions += 32 * blockIdx.y;
  out += n * blockIdx.y;
  if (threadIdx.x < 32) v[threadIdx.x] = directions[threadIdx.x];
  __syncthreads();
  const unsigned first = threadIdx.x + blockIdx.x * blockDim.x, stride = gridDim.x * blockDim.x;
  unsigned gray = first ^ (first >> 1), x = 0;
  for (unsigned k = 0; k < __ffs(stride) - 1; ++k) {
    x ^= -(gray & 1) & v[k];
    gray >>= 1;
  }
  constexpr float scale = 2.3283064e-10f;
  if (first < n) out[first] = static_cast<float>(x) * scale;
  const unsigned step = v[__ffs(stride) - 2], mask = stride - 1;
  for (unsigned i = first + stride; i < n; i += stride) {
    x ^= step ^ v[__ffs(~((i - stride) | mask)) - 1];
    out[i] = static_cast<float>(x) * scale;
  }
}

// Niederreiter numbers in three dimensions (quasirandomGenerator_k1).
__constant__ unsigned niederreiter_table[3][31];
extern "C" __global__ void niederreiter(float* out, unsigned seed, unsigned n) {
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += blockDim.x * gridDim.x) {
    unsigned result = 0, data = seed + at;
    for (int bit = 0; bit < 31; ++bit, data >>= 1)
      if (data & 1) result ^= niederreiter_table[threadIdx.y][bit];
    out[threadIdx.y * n + at] = static_cast<float>(result + 1) * (1.0f / 2147483648.0f);
  }
}

// Inverse of the cumulative normal distribution by Moro's polynomials (quasirandomGenerator_k2).
__device__ float moro(unsigned x) {
  const bool negative = x >= 0x80000000u;
  if (negative) x = 0xffffffffu - x;
  constexpr float unit = 1.0f / 4294967295.0f;
  const float p = static_cast<float>(x) * unit + unit / 2, q = p - 0.5f;
  float z;
  if (q > -0.42f) {
    z = q * q;
    z = q * (((-25.44106049637f * z + 41.39119773534f) * z - 18.61500062529f) * z + 2.50662823884f) /
        ((((3.13082909833f * z - 21.06224101826f) * z + 23.08336743743f) * z - 8.4735109309f) * z + 1.0f);
  } else {
    z = __logf(-__logf(p));
    z = -(0.337475482272615f +
          z * (0.976169019091719f +
               z * (0.160797971491821f +
                    z * (2.76438810333863e-2f +
                         z * (3.8405729373609e-3f +
                              z * (3.951896511919e-4f + z * (3.21767881768e-5f + z * (2.888167364e-7f + z * 3.960315187e-7f))))))));
  }
  return negative ? -z : z;
}
extern "C" __global__ void inverse_normal(float* out, unsigned n) {
  const unsigned distance = 0xffffffffu / (n + 1);
  for (unsigned at = blockIdx.x * blockDim.x + threadIdx.x; at < n; at += blockDim.x * gridDim.x) out[at] = moro((at + 1) * distance);
}

// C = A * B, column-major: 128 rows of A a block, 16 columns of B in shared memory, 16 sums a thread (parboil_sgemm_k1).
extern "C" __global__ void sgemm_column(const float* a, int lda, const float* b, int ldb, float* c, int ldc, int k, float alpha, float beta) {
  __shared__ __align__(16) float tile[8][16];
  float sums[16] = {};
  const int mid = threadIdx.y * blockDim.x + threadIdx.x, m = blockIdx.x * 128 + mid, n = blockIdx.y * 16 + threadIdx.x;
  for (int i = 0; i < k; i += 8) {
    tile[threadIdx.y][threadIdx.x] = b[n + (i + threadIdx.y) * ldb];
    __syncthreads();
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      const float one = a[m + (i + j) * lda];
#pragma unroll
      for (int x = 0; x < 16; ++x) sums[x] += one * tile[j][x];
    }
    __syncthreads();
  }
  const int at = blockIdx.y * 16 * ldc + m;
#pragma unroll
  for (int x = 0; x < 16; ++x) c[at + x * ldc] = c[at + x * ldc] * beta + alpha * sums[x];
}

// Q of an MRI reconstruction: sine and cosine of each voxel with each sample, which are constants (parboil_mriq_k1).
__constant__ float4 samples[1024];
extern "C" __global__ void mri_q(int count, const float* x, const float* y, const float* z, float* real, float* imaginary) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  const float px = x[at], py = y[at], pz = z[at];
  float r = real[at], i = imaginary[at];
#pragma unroll 2
  for (int k = 0; k < count; ++k) {
    const float angle = 6.2831853f * (samples[k].x * px + samples[k].y * py + samples[k].z * pz);
    r += samples[k].w * __cosf(angle);
    i += samples[k].w * __sinf(angle);
  }
  real[at] = r;
  imaginary[at] = i;
}

// A layer of a neural network forward: products of 16 inputs and 16 units a block, summed in shared memory (backprop_k1).
extern "C" __global__ void layer_forward(const float* input, float* weights, float* partial, int units) {
  __shared__ float node[16], products[16][16];
  const int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  const int at = (units + 1) * 16 * by + (units + 1) * ty + tx + 1 + (units + 1), in = 16 * by + ty + 1;
  if (tx == 0) node[ty] = input[in];
  __syncthreads();
  products[ty][tx] = weights[at];
  __syncthreads();
  products[ty][tx] *= node[ty];
  __syncthreads();
  for (int i = 1; i <= __log2f(16); ++i) {
    const int power = __powf(2, i);
    if (ty % power == 0) products[ty][tx] += products[ty + power / 2][tx];
    __syncthreads();
  }
  weights[at] = products[ty][tx];
  __syncthreads();
  if (tx == 0) partial[by * units + ty] = products[tx][ty];
}
// Its weights adjusted; the rates are doubles, as there (backprop_k2).
extern "C" __global__ void adjust_weights(const float* delta, int units, const float* layer, float* w, float* old) {
  const int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  const int at = (units + 1) * 16 * by + (units + 1) * ty + tx + 1 + (units + 1), y = 16 * by + ty + 1, x = tx + 1;
  w[at] += (0.3 * delta[x] * layer[y]) + (0.3 * old[at]);
  old[at] = (0.3 * delta[x] * layer[y]) + (0.3 * old[at]);
  __syncthreads();
  if (ty == 0 && by == 0) {
    w[x] += (0.3 * delta[x]) + (0.3 * old[x]);
    old[x] = (0.3 * delta[x]) + (0.3 * old[x]);
  }
}

// Derivatives and diffusion coefficient of an image, a pixel a thread (srad_v1_k1).
extern "C" __global__ void diffusion(int rows, long count, const int* north, const int* south, const int* west, const int* east, float* dn,
                                     float* ds, float* dw, float* de, float q0, float* coefficient, const float* image) {
  const int at = blockIdx.x * blockDim.x + threadIdx.x;
  int row = (at + 1) % rows - 1, column = (at + 1) / rows;
  if ((at + 1) % rows == 0) {
    row = rows - 1;
    column -= 1;
  }
  if (at >= count) return;
  const float j = image[at];
  const float n = image[north[row] + rows * column] - j, s = image[south[row] + rows * column] - j;
  const float w = image[row + rows * west[column]] - j, e = image[row + rows * east[column]] - j;
  const float g2 = (n * n + s * s + w * w + e * e) / (j * j), l = (n + s + w + e) / j;
  const float num = (0.5 * g2) - ((1.0 / 16.0) * (l * l));
  float den = 1 + (0.25 * l);
  const float q = num / (den * den);
  den = (q - q0) / (q0 * (1 + q0));
  float c = 1.0 / (1.0 + den);
  if (c < 0) c = 0;
  if (c > 1) c = 1;
  dn[at] = n;
  ds[at] = s;
  dw[at] = w;
  de[at] = e;
  coefficient[at] = c;
}

// Cheapest paths through the rows of a grid: `steps` rows a launch, tiles that overlap (pathfinder_k1).
extern "C" __global__ void paths(int steps, const int* wall, const int* before, int* after, int columns, int start, int border) {
  __shared__ int now[256], next[256];
  const int tx = threadIdx.x, inner = 256 - steps * 2, first = inner * blockIdx.x - border, last = first + 255, x = first + tx;
  const int low = first < 0 ? -first : 0, high = last > columns - 1 ? 255 - (last - columns + 1) : 255;
  const int west = max(tx - 1, low), east = min(tx + 1, high);
  const bool valid = tx >= low && tx <= high;
  if (x >= 0 && x <= columns - 1) now[tx] = before[x];
  __syncthreads();
  bool computed = false;
  for (int i = 0; i < steps; ++i) {
    computed = false;
    if (tx >= i + 1 && tx <= 256 - i - 2 && valid) {
      computed = true;
      next[tx] = min(min(now[west], now[tx]), now[east]) + wall[columns * (start + i) + x];
    }
    __syncthreads();
    if (i == steps - 1) break;
    if (computed) now[tx] = next[tx];
    __syncthreads();
  }
  if (computed) after[x] = next[tx];
}

// Merge sort of 1,024 pairs a block in shared memory by binary search (mergeSort_k1).
__device__ unsigned place_of(unsigned key, const unsigned* data, unsigned length, unsigned stride, bool inclusive) {
  if (length == 0) return 0;
  unsigned at = 0;
  for (; stride > 0; stride >>= 1) {
    const unsigned next = min(at + stride, length);
    if (inclusive ? data[next - 1] <= key : data[next - 1] < key) at = next;
  }
  return at;
}
extern "C" __global__ void merge_sort(unsigned* keys_out, unsigned* values_out, const unsigned* keys_in, const unsigned* values_in) {
  __shared__ unsigned keys[1024], values[1024];
  const unsigned tid = threadIdx.x, from = blockIdx.x * 1024 + tid;
  keys[tid] = keys_in[from];
  values[tid] = values_in[from];
  keys[tid + 512] = keys_in[from + 512];
  values[tid + 512] = values_in[from + 512];
  for (unsigned stride = 1; stride < 1024; stride <<= 1) {
    const unsigned low = tid & (stride - 1);
    unsigned* const base_keys = keys + 2 * (tid - low);
    unsigned* const base_values = values + 2 * (tid - low);
    __syncthreads();
    const unsigned ka = base_keys[low], va = base_values[low], kb = base_keys[low + stride], vb = base_values[low + stride];
    const unsigned pa = place_of(ka, base_keys + stride, stride, stride, false) + low, pb = place_of(kb, base_keys, stride, stride, true) + low;
    __syncthreads();
    base_keys[pa] = ka;
    base_values[pa] = va;
    base_keys[pb] = kb;
    base_values[pb] = vb;
  }
  __syncthreads();
  keys_out[from] = keys[tid];
  values_out[from] = values[tid];
  keys_out[from + 512] = keys[tid + 512];
  values_out[from + 512] = values[tid + 512];
}

// Discrete cosine transform of blocks of 8 x 8: a row, then a column a thread, sixteen columns of blocks in shared memory (dct8x8_k2).
__device__ void cosine_8(float* v, int step) {
  const float x0 = v[0] + v[7 * step], x7 = v[0] - v[7 * step], x1 = v[step] + v[6 * step], x6 = v[step] - v[6 * step];
  const float x2 = v[2 * step] + v[5 * step], x5 = v[2 * step] - v[5 * step], x3 = v[3 * step] + v[4 * step], x4 = v[3 * step] - v[4 * step];
  const float a = x0 + x3, b = x0 - x3, c = x1 + x2, d = x1 - x2;
  v[0] = 0.35355339f * (a + c);
  v[4 * step] = 0.35355339f * (a - c);
  v[2 * step] = 0.46193977f * b + 0.19134172f * d;
  v[6 * step] = 0.19134172f * b - 0.46193977f * d;
  v[step] = 0.49039264f * x7 + 0.41573481f * x6 + 0.27778512f * x5 + 0.09754516f * x4;
  v[3 * step] = 0.41573481f * x7 - 0.09754516f * x6 - 0.49039264f * x5 - 0.27778512f * x4;
  v[5 * step] = 0.27778512f * x7 - 0.49039264f * x6 + 0.09754516f * x5 + 0.41573481f * x4;
  v[7 * step] = 0.09754516f * x7 - 0.27778512f * x6 + 0.41573481f * x5 - 0.49039264f * x4;
}
extern "C" __global__ void cosine_blocks(float* out, const float* in, int width) {
  __shared__ float block[16][33];
  const int x = threadIdx.y * 8 + threadIdx.x, y = threadIdx.z * 8;
  const int from = (blockIdx.y * 16 + y) * width + blockIdx.x * 32 + x;
  float* const own = &block[y][x];
#pragma unroll
  for (int i = 0; i < 8; ++i) own[i * 33] = in[from + i * width];
  cosine_8(&block[y + threadIdx.x][threadIdx.y * 8], 1);
  cosine_8(own, 33);
#pragma unroll
  for (int i = 0; i < 8; ++i) out[from + i * width] = own[i * 33];
}

// C = A * B on tensor cores: 128 x 128 a block of eight warps, 64 of K at a time in shared memory (cudaTensorCoreGemm_k1).
extern "C" __global__ void tensor_gemm(const half* a, const half* b, float* c, int n, int k) {
  using namespace nvcuda;
  constexpr int chunk = 64, skewed = chunk + 16;
  extern __shared__ half tiles[];
  half* const sa = tiles;
  half* const sb = tiles + 128 * skewed;
  const int warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 64;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> sums[2][4];
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) wmma::fill_fragment(sums[i][j], 0.0f);
  for (int from = 0; from < k; from += chunk) {
    __syncthreads();
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int line = i * 32 + threadIdx.x / 8, at = threadIdx.x % 8 * 8;
      *reinterpret_cast<int4*>(sa + line * skewed + at) = *reinterpret_cast<const int4*>(a + (blockIdx.y * 128 + line) * k + from + at);
      *reinterpret_cast<int4*>(sb + line * skewed + at) = *reinterpret_cast<const int4*>(b + (blockIdx.x * 128 + line) * k + from + at);
    }
    __syncthreads();
#pragma unroll
    for (int step = 0; step < chunk; step += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> fa[2];
      wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> fb;
#pragma unroll
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], sa + (row + i * 16) * skewed + step, skewed);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        wmma::load_matrix_sync(fb, sb + (column + j * 16) * skewed + step, skewed);
#pragma unroll
        for (int i = 0; i < 2; ++i) wmma::mma_sync(sums[i][j], fa[i], fb, sums[i][j]);
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j)
      wmma::store_matrix_sync(c + (blockIdx.y * 128 + row + i * 16) * n + blockIdx.x * 128 + column + j * 16, sums[i][j], n,
                              wmma::mem_row_major);
}
