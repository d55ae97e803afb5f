// SPDX-License-Identifier: MIT
// nvcc -ptx -arch=compute_75 -O3 -o needleman_wunsch.ptx needleman_wunsch.cu

// Alignment of two sequences by dynamic programming. Each launch computes one diagonal of 16 x 16 blocks of the score
// matrix; within a block, 16 lanes of one warp process the diagonals of elements in shared memory.
constexpr int tile = 16;

extern "C" __global__ void align_diagonal(const unsigned char* rows, const unsigned char* columns, int* scores,
                                          int pitch, int diagonal, int first_block, int gap) {
  __shared__ int part[tile + 1][tile + 1];
  __shared__ int match[tile][tile];
  const int t = threadIdx.x;
  const int block_x = first_block + blockIdx.x;
  const int block_y = diagonal - block_x;
  int* corner = scores + block_y * tile * pitch + block_x * tile;
  for (int y = 0; y < tile; ++y) match[y][t] = rows[block_y * tile + y] == columns[block_x * tile + t] ? 5 : -3;
  part[0][t + 1] = corner[t + 1];
  part[t + 1][0] = corner[(t + 1) * pitch];
  if (t == 0) part[0][0] = corner[0];
  __syncthreads();
  for (int step = 0; step < 2 * tile - 1; ++step) {
    const int y = step - t;
    if (y >= 0 && y < tile) {
      const int diagonal_score = part[y][t] + match[y][t];
      part[y + 1][t + 1] = max(diagonal_score, max(part[y][t + 1], part[y + 1][t]) - gap);
    }
    __syncthreads();
  }
  for (int y = 0; y < tile; ++y) corner[(y + 1) * pitch + t + 1] = part[y + 1][t + 1];
}
