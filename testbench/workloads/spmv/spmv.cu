// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o spmv.ptx spmv.cu

// y = A * x for a sparse matrix in compressed rows (CSR), one warp per row; shuffles add the sums of the lanes.
extern "C" __global__ void spmv(const int* row_start, const int* columns, const float* values, const float* x, float* y,
                                int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float sum = 0;
  for (int i = row_start[row] + lane; i < row_start[row + 1]; i += 32) sum += values[i] * x[columns[i]];
  for (int distance = 16; distance > 0; distance /= 2) sum += __shfl_down_sync(0xffffffff, sum, distance);
  if (lane == 0) y[row] = sum;
}
