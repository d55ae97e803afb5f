// SPDX-License-Identifier: MIT
// What a kernel needs of CUDA where clang compiles it without a toolkit: indices, shared memory, barriers, 32-bit
// atomics, and functions that are single instructions. Functions of CUDA's mathematics library need nvcc.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
using size_t = decltype(sizeof 0);

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
};
struct float2 {
  float x, y;
} __attribute__((aligned(8)));
struct float4 {
  float x, y, z, w;
} __attribute__((aligned(16)));
#include <__clang_cuda_builtin_vars.h>

#define HEDDLE_DEVICE static __device__ __forceinline__
HEDDLE_DEVICE void __threadfence() { __nvvm_membar_gl(); }
HEDDLE_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
HEDDLE_DEVICE int atomicAdd(int* at, int v) { return __nvvm_atom_add_gen_i(at, v); }
HEDDLE_DEVICE unsigned atomicAdd(unsigned* at, unsigned v) { return __nvvm_atom_add_gen_i((int*)at, (int)v); }
HEDDLE_DEVICE float atomicAdd(float* at, float v) { return __nvvm_atom_add_gen_f(at, v); }
HEDDLE_DEVICE int atomicExch(int* at, int v) { return __nvvm_atom_xchg_gen_i(at, v); }
HEDDLE_DEVICE int atomicCAS(int* at, int expected, int v) { return __nvvm_atom_cas_gen_i(at, expected, v); }
HEDDLE_DEVICE float __shfl_down_sync(unsigned mask, float v, unsigned lanes) {
  return __nvvm_shfl_sync_down_f32(mask, v, lanes, 31);
}
HEDDLE_DEVICE int __shfl_down_sync(unsigned mask, int v, unsigned lanes) {
  return __nvvm_shfl_sync_down_i32(mask, v, lanes, 31);
}
HEDDLE_DEVICE float __shfl_xor_sync(unsigned mask, float v, unsigned lanes) {
  return __nvvm_shfl_sync_bfly_f32(mask, v, lanes, 31);
}
HEDDLE_DEVICE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
HEDDLE_DEVICE float sqrtf(float v) { return __nvvm_sqrt_rn_f(v); }
HEDDLE_DEVICE float fabsf(float v) { return __builtin_fabsf(v); }
HEDDLE_DEVICE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
HEDDLE_DEVICE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
template <class T>
HEDDLE_DEVICE T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
HEDDLE_DEVICE T max(T a, T b) {
  return a < b ? b : a;
}
#undef HEDDLE_DEVICE
