// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o fft.ptx fft.cu

// Fourier transforms of 256 complex numbers, one per block, radix 2, in shared memory; each of 128 threads computes
// one butterfly. roots[k] is exp(-2 pi i k / 256).
constexpr unsigned length = 256;

extern "C" __global__ void fft(const float2* in, float2* out, const float2* roots) {
  __shared__ float2 data[length];
  const unsigned t = threadIdx.x;
  const float2* mine = in + blockIdx.x * length;
  for (unsigned i = t; i < length; i += length / 2) data[__brev(i) >> 24] = mine[i];
  for (unsigned half = 1; half < length; half *= 2) {
    __syncthreads();
    const unsigned offset = t & (half - 1);
    const unsigned low = 2 * (t - offset) + offset;
    const float2 root = roots[offset * (length / 2 / half)];
    const float2 a = data[low];
    const float2 b = data[low + half];
    const float real = fmaf(-root.y, b.y, root.x * b.x);
    const float imaginary = fmaf(root.y, b.x, root.x * b.y);
    data[low] = make_float2(a.x + real, a.y + imaginary);
    data[low + half] = make_float2(a.x - real, a.y - imaginary);
  }
  __syncthreads();
  for (unsigned i = t; i < length; i += length / 2) out[blockIdx.x * length + i] = data[i];
}
