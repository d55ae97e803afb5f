// SPDX-License-Identifier: MIT
// Kernels of the programs in this folder. kernels.ptx and kernels.fatbin are compiled from it:
//   nvcc -arch=compute_75 -ptx kernels.cu && nvcc -gencode arch=compute_75,code=compute_75 -fatbin kernels.cu
#include <cassert>
#include <cstdio>

__constant__ float factor;
__device__ int counter;
__managed__ int shared_with_host = 5;
__managed__ int shared_rows[3000] = {1, 2, 3};
__managed__ double shared_last = 2.5;

extern "C" __global__ void add(const float* a, const float* b, float* c, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) c[i] = a[i] + factor * b[i];
}

extern "C" __global__ void count(int by) {
  atomicAdd(&counter, by);
  if (threadIdx.x == 0) shared_with_host += by;
}

extern "C" __global__ void say(int what) { printf("kernel %d, thread %d\n", what, static_cast<int>(threadIdx.x)); }

// Increments each word after `turns` iterations.
extern "C" __global__ void linger(int* words, int turns) {
  int sum = 0;
  for (int k = 0; k < turns; ++k) sum ^= clock();
  words[blockIdx.x * blockDim.x + threadIdx.x] += sum == 0x7fffffff ? 2 : 1;
}

extern "C" __global__ void wrong_address(int* p) { p[threadIdx.x] = 1; }

extern "C" __global__ void claim(int value) { assert(value == 1); }

struct mixed {
  char c;
  double d;
  short s[3];
};
extern "C" __global__ void takes_struct(mixed m, char tail, double* out) { out[threadIdx.x] = m.c + m.d + m.s[0] + m.s[1] + m.s[2] + tail; }

extern "C" __global__ void reverse(int* data, int n) {
  extern __shared__ int buffer[];
  for (int i = threadIdx.x; i < n; i += blockDim.x) buffer[i] = data[i];
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x) data[i] = buffer[n - 1 - i];
}

// Waits until the word is not 0, and answers in the next one.
extern "C" __global__ void answer(volatile int* word) {
  while (*word == 0) {
  }
  word[1] = word[0] + 1;
}

// Gives the address of a literal.
extern "C" __global__ void literal(const char** text) { *text = "a literal"; }

// Counts until the first word is not 0, and answers in the next one.
extern "C" __global__ void count_until(volatile int* words) {
  while (words[0] == 0) words[2] += 1;
  words[1] = words[0] + 1;
}

// Counts to `turns` in a word that the host may count in, too.
extern "C" __global__ void tally(unsigned* word, int turns) {
  for (int k = 0; k < turns; ++k) atomicAdd_system(word, 1u);
}

// Waits until the host says a round, and answers in the next word: minus the sum of the rows, which it changes. null:
// shared_rows.
extern "C" __global__ void rounds_with_host(volatile int* flag, int rounds, int* rows) {
  if (rows == nullptr) rows = shared_rows;
  for (int round = 1; round <= rounds; ++round) {
    while (flag[0] != round) {
    }
    __threadfence_system();
    int sum = 0;
    for (int k = 0; k < 3000; k += 100) sum += rows[k];
    for (int k = 0; k < 3000; k += 100) rows[k] = -sum;
    shared_last += 1;
    __threadfence_system();
    flag[1] = round;
  }
}

// Writes the even bytes again and again.
extern "C" __global__ void even_bytes(unsigned char* bytes, int rounds) {
  for (int round = 1; round <= rounds; ++round) *(volatile unsigned char*)&bytes[2 * threadIdx.x] = round;
}

struct __attribute__((packed)) packed_pointer {
  char c;
  int* p;
};
extern "C" __global__ void takes_packed(packed_pointer in) { in.p[threadIdx.x] = in.c; }
