// SPDX-License-Identifier: MIT
// The five loops of the STREAM benchmark for GPUs (as BabelStream describes them: doubles, one element a thread), for the
// power of kernels that device memory limits. No figure of [energy] was fitted to them: README.md.
// PTX: nvcc -ptx -arch=compute_90 -O3 stream.cu
extern "C" __global__ void __launch_bounds__(1024) stream_copy(const double* a, double* c) {
  const int i = blockIdx.x * 1024 + threadIdx.x;
  c[i] = a[i];
}
extern "C" __global__ void __launch_bounds__(1024) stream_mul(double* b, const double* c) {
  const int i = blockIdx.x * 1024 + threadIdx.x;
  b[i] = 0.4 * c[i];
}
extern "C" __global__ void __launch_bounds__(1024) stream_add(const double* a, const double* b, double* c) {
  const int i = blockIdx.x * 1024 + threadIdx.x;
  c[i] = a[i] + b[i];
}
extern "C" __global__ void __launch_bounds__(1024) stream_triad(double* a, const double* b, const double* c) {
  const int i = blockIdx.x * 1024 + threadIdx.x;
  a[i] = b[i] + 0.4 * c[i];
}
extern "C" __global__ void __launch_bounds__(1024) stream_dot(const double* a, const double* b, double* sums, int n) {
  __shared__ double partial[1024];
  double sum = 0;
  for (int i = blockIdx.x * 1024 + threadIdx.x; i < n; i += gridDim.x * 1024) sum += a[i] * b[i];
  partial[threadIdx.x] = sum;
  for (int offset = 512; offset > 0; offset /= 2) {
    __syncthreads();
    if (threadIdx.x < offset) partial[threadIdx.x] += partial[threadIdx.x + offset];
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = partial[0];
}
