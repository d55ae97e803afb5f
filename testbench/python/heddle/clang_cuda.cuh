// SPDX-License-Identifier: MIT
// CUDA for clang without a toolkit: what is an instruction of PTX, or a few of them. docs/library/python.md lists it.
// Each function has the overloads of CUDA and no others, so that what is missing is an error and never a conversion.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
using size_t = decltype(sizeof 0);
// Without places of their own, so that an instruction is at the line of the call.
#define HEDDLE_DEVICE static __device__ __forceinline__ __attribute__((nodebug))

// Vectors, aligned as a whole where they have two or four components, to at most 16 bytes.
#define HEDDLE_VECTORS(T, name)                                                                          \
  struct name##1 {                                                                                       \
    T x;                                                                                                 \
  };                                                                                                     \
  struct __align__(2 * sizeof(T)) name##2 {                                                              \
    T x, y;                                                                                              \
  };                                                                                                     \
  struct name##3 {                                                                                       \
    T x, y, z;                                                                                           \
  };                                                                                                     \
  struct __align__(sizeof(T) < 4 ? 4 * sizeof(T) : 16) name##4 {                                         \
    T x, y, z, w;                                                                                        \
  };                                                                                                     \
  static __host__ __device__ __forceinline__ name##1 make_##name##1(T x) { return {x}; }                 \
  static __host__ __device__ __forceinline__ name##2 make_##name##2(T x, T y) { return {x, y}; }         \
  static __host__ __device__ __forceinline__ name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; } \
  static __host__ __device__ __forceinline__ name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }
HEDDLE_VECTORS(signed char, char)
HEDDLE_VECTORS(unsigned char, uchar)
HEDDLE_VECTORS(short, short)
HEDDLE_VECTORS(unsigned short, ushort)
HEDDLE_VECTORS(int, int)
HEDDLE_VECTORS(unsigned, uint)
HEDDLE_VECTORS(long, long)
HEDDLE_VECTORS(unsigned long, ulong)
HEDDLE_VECTORS(long long, longlong)
HEDDLE_VECTORS(unsigned long long, ulonglong)
HEDDLE_VECTORS(float, float)
HEDDLE_VECTORS(double, double)
struct dim3 {
  unsigned x, y, z;
  __host__ __device__ constexpr dim3(unsigned vx = 1, unsigned vy = 1, unsigned vz = 1) : x(vx), y(vy), z(vz) {}
  __host__ __device__ constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  __host__ __device__ constexpr operator uint3() const { return {x, y, z}; }
};
#include <__clang_cuda_builtin_vars.h>

// Bits as another type.
HEDDLE_DEVICE int __float_as_int(float v) { return __nvvm_bitcast_f2i(v); }
HEDDLE_DEVICE unsigned __float_as_uint(float v) { return (unsigned)__nvvm_bitcast_f2i(v); }
HEDDLE_DEVICE float __int_as_float(int v) { return __nvvm_bitcast_i2f(v); }
HEDDLE_DEVICE float __uint_as_float(unsigned v) { return __nvvm_bitcast_i2f((int)v); }
HEDDLE_DEVICE long long __double_as_longlong(double v) { return __nvvm_bitcast_d2ll(v); }
HEDDLE_DEVICE double __longlong_as_double(long long v) { return __nvvm_bitcast_ll2d(v); }

// Barriers, fences, votes.
HEDDLE_DEVICE void __threadfence() { __nvvm_membar_gl(); }
HEDDLE_DEVICE void __threadfence_block() { __nvvm_membar_cta(); }
HEDDLE_DEVICE void __threadfence_system() { __nvvm_membar_sys(); }
HEDDLE_DEVICE int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
HEDDLE_DEVICE int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
HEDDLE_DEVICE int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
HEDDLE_DEVICE void __syncwarp(unsigned mask = 0xffffffff) { __nvvm_bar_warp_sync(mask); }
HEDDLE_DEVICE int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p); }
HEDDLE_DEVICE int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p); }
HEDDLE_DEVICE unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
HEDDLE_DEVICE unsigned __activemask() {
  unsigned mask;
  asm volatile("activemask.b32 %0;" : "=r"(mask)::"memory");
  return mask;
}

// Shuffles: `c` has the segment's mask in bits 8 to 12 and its last lane, 0 for `up`. 64 bits are two shuffles.
#define HEDDLE_SHUFFLE_AS(op, builtin, lane, last, T, to, from)                                      \
  HEDDLE_DEVICE T op(unsigned mask, T v, lane at, int width = 32) {                                  \
    return from(__nvvm_shfl_sync_##builtin##_i32(mask, to(v), (int)at, ((32 - width) << 8) | last)); \
  }
#define HEDDLE_SHUFFLE_TWICE(op, lane, T, to, from)                                                         \
  HEDDLE_DEVICE T op(unsigned mask, T v, lane at, int width = 32) {                                         \
    unsigned long long bits = (unsigned long long)to(v);                                                    \
    unsigned low = op(mask, (unsigned)bits, at, width), high = op(mask, (unsigned)(bits >> 32), at, width); \
    return from((long long)((unsigned long long)high << 32 | low));                                         \
  }
#define HEDDLE_SHUFFLE(op, builtin, lane, last)                                                  \
  HEDDLE_SHUFFLE_AS(op, builtin, lane, last, int, (int), (int))                                  \
  HEDDLE_SHUFFLE_AS(op, builtin, lane, last, unsigned, (int), (unsigned))                        \
  HEDDLE_SHUFFLE_AS(op, builtin, lane, last, float, __float_as_int, __int_as_float)              \
  HEDDLE_SHUFFLE_TWICE(op, lane, long, (long), (long))                                           \
  HEDDLE_SHUFFLE_TWICE(op, lane, unsigned long, (unsigned long), (unsigned long))                \
  HEDDLE_SHUFFLE_TWICE(op, lane, long long, (long long), (long long))                            \
  HEDDLE_SHUFFLE_TWICE(op, lane, unsigned long long, (unsigned long long), (unsigned long long)) \
  HEDDLE_SHUFFLE_TWICE(op, lane, double, __double_as_longlong, __longlong_as_double)
HEDDLE_SHUFFLE(__shfl_sync, idx, int, 31)
HEDDLE_SHUFFLE(__shfl_up_sync, up, unsigned, 0)
HEDDLE_SHUFFLE(__shfl_down_sync, down, unsigned, 31)
HEDDLE_SHUFFLE(__shfl_xor_sync, bfly, int, 31)

// Lanes with the same bits.
#define HEDDLE_MATCH(T, bits, constraint, as)                                                                     \
  HEDDLE_DEVICE unsigned __match_any_sync(unsigned mask, T v) {                                                   \
    unsigned same;                                                                                                \
    asm volatile("match.any.sync.b" #bits " %0, %1, %2;" : "=r"(same) : constraint(as(v)), "r"(mask) : "memory"); \
    return same;                                                                                                  \
  }                                                                                                               \
  HEDDLE_DEVICE unsigned __match_all_sync(unsigned mask, T v, int* all) {                                         \
    unsigned same;                                                                                                \
    asm volatile("{ .reg .pred p; match.all.sync.b" #bits " %0|p, %2, %3; selp.s32 %1, 1, 0, p; }"                \
                 : "=r"(same), "=r"(*all)                                                                         \
                 : constraint(as(v)), "r"(mask)                                                                   \
                 : "memory");                                                                                     \
    return same;                                                                                                  \
  }
HEDDLE_MATCH(int, 32, "r", (int))
HEDDLE_MATCH(unsigned, 32, "r", (int))
HEDDLE_MATCH(float, 32, "r", __float_as_int)
HEDDLE_MATCH(long, 64, "l", (long))
HEDDLE_MATCH(unsigned long, 64, "l", (long))
HEDDLE_MATCH(long long, 64, "l", (long))
HEDDLE_MATCH(unsigned long long, 64, "l", (long))
HEDDLE_MATCH(double, 64, "l", __double_as_longlong)

// Atomics: `as` is the type of the instruction's operands.
#define HEDDLE_ATOMIC_IN(op, scope, builtin, T, as) \
  HEDDLE_DEVICE T op##scope(T* at, T v) { return (T)__nvvm_atom_##builtin((as*)at, (as)v); }
#define HEDDLE_ATOMIC(op, builtin, T, as)            \
  HEDDLE_ATOMIC_IN(op, , builtin, T, as)             \
  HEDDLE_ATOMIC_IN(op, _block, cta_##builtin, T, as) \
  HEDDLE_ATOMIC_IN(op, _system, sys_##builtin, T, as)
#define HEDDLE_ATOMICS_OF_BITS(op, builtin)         \
  HEDDLE_ATOMIC(op, builtin##_gen_i, int, int)      \
  HEDDLE_ATOMIC(op, builtin##_gen_i, unsigned, int) \
  HEDDLE_ATOMIC(op, builtin##_gen_ll, unsigned long long, long long)
// clang 14 takes these without a sign for those with one if they have a scope.
#define HEDDLE_ATOMIC_BY_ASM(op, instruction, T, constraint)                                                      \
  HEDDLE_DEVICE T op(T* at, T v) {                                                                                \
    T old;                                                                                                        \
    asm volatile("atom." instruction " %0, [%1], %2;" : "=" constraint(old) : "l"(at), constraint(v) : "memory"); \
    return old;                                                                                                   \
  }
#define HEDDLE_ATOMICS_IN_ORDER(op, name)                                        \
  HEDDLE_ATOMIC(op, name##_gen_i, int, int)                                      \
  HEDDLE_ATOMIC(op, name##_gen_ll, long long, long long)                         \
  HEDDLE_ATOMIC_IN(op, , name##_gen_ui, unsigned, unsigned)                      \
  HEDDLE_ATOMIC_IN(op, , name##_gen_ull, unsigned long long, unsigned long long) \
  HEDDLE_ATOMIC_BY_ASM(op##_block, "cta." #name ".u32", unsigned, "r")           \
  HEDDLE_ATOMIC_BY_ASM(op##_system, "sys." #name ".u32", unsigned, "r")          \
  HEDDLE_ATOMIC_BY_ASM(op##_block, "cta." #name ".u64", unsigned long long, "l") \
  HEDDLE_ATOMIC_BY_ASM(op##_system, "sys." #name ".u64", unsigned long long, "l")
HEDDLE_ATOMICS_OF_BITS(atomicAdd, add)
HEDDLE_ATOMIC(atomicAdd, add_gen_f, float, float)
HEDDLE_ATOMIC(atomicAdd, add_gen_d, double, double)
HEDDLE_ATOMICS_IN_ORDER(atomicMin, min)
HEDDLE_ATOMICS_IN_ORDER(atomicMax, max)
HEDDLE_ATOMIC(atomicInc, inc_gen_ui, unsigned, unsigned)
HEDDLE_ATOMIC(atomicDec, dec_gen_ui, unsigned, unsigned)
HEDDLE_ATOMICS_OF_BITS(atomicAnd, and)
HEDDLE_ATOMICS_OF_BITS(atomicOr, or)
HEDDLE_ATOMICS_OF_BITS(atomicXor, xor)
HEDDLE_ATOMICS_OF_BITS(atomicExch, xchg)
#define HEDDLE_ATOMICS_BY_OTHERS(scope, builtin)                                                               \
  HEDDLE_DEVICE int atomicSub##scope(int* at, int v) { return atomicAdd##scope(at, (int)(0u - (unsigned)v)); } \
  HEDDLE_DEVICE unsigned atomicSub##scope(unsigned* at, unsigned v) { return atomicAdd##scope(at, 0u - v); }   \
  HEDDLE_DEVICE float atomicExch##scope(float* at, float v) {                                                  \
    return __int_as_float(atomicExch##scope((int*)at, __float_as_int(v)));                                     \
  }                                                                                                            \
  HEDDLE_CAS(scope, builtin##i, int, int)                                                                      \
  HEDDLE_CAS(scope, builtin##i, unsigned, int)                                                                 \
  HEDDLE_CAS(scope, builtin##ll, unsigned long long, long long)
#define HEDDLE_CAS(scope, builtin, T, as)                          \
  HEDDLE_DEVICE T atomicCAS##scope(T* at, T expected, T v) {       \
    return (T)__nvvm_atom_##builtin((as*)at, (as)expected, (as)v); \
  }
HEDDLE_ATOMICS_BY_OTHERS(, cas_gen_)
HEDDLE_ATOMICS_BY_OTHERS(_block, cta_cas_gen_)
HEDDLE_ATOMICS_BY_OTHERS(_system, sys_cas_gen_)
HEDDLE_DEVICE unsigned short atomicCAS(unsigned short* at, unsigned short expected, unsigned short v) {
  unsigned short old;
  asm volatile("atom.cas.b16 %0, [%1], %2, %3;" : "=h"(old) : "l"(at), "h"(expected), "h"(v) : "memory");
  return old;
}

// Smallest and largest: of a NaN and a number, the number.
HEDDLE_DEVICE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
HEDDLE_DEVICE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
HEDDLE_DEVICE float fmin(float a, float b) { return __nvvm_fmin_f(a, b); }
HEDDLE_DEVICE float fmax(float a, float b) { return __nvvm_fmax_f(a, b); }
HEDDLE_DEVICE double fmin(double a, double b) { return __nvvm_fmin_d(a, b); }
HEDDLE_DEVICE double fmax(double a, double b) { return __nvvm_fmax_d(a, b); }
#define HEDDLE_LEAST(R, A, B)                                         \
  HEDDLE_DEVICE R min(A a, B b) { return (R)b < (R)a ? (R)b : (R)a; } \
  HEDDLE_DEVICE R max(A a, B b) { return (R)a < (R)b ? (R)b : (R)a; }
#define HEDDLE_LEAST_OF(T)                         \
  HEDDLE_LEAST(T, T, T)                            \
  HEDDLE_LEAST(unsigned T, unsigned T, unsigned T) \
  HEDDLE_LEAST(unsigned T, T, unsigned T)          \
  HEDDLE_LEAST(unsigned T, unsigned T, T)
HEDDLE_LEAST_OF(int)
HEDDLE_LEAST_OF(long)
HEDDLE_LEAST_OF(long long)
#define HEDDLE_LEAST_BY(R, A, B, least, most)                 \
  HEDDLE_DEVICE R min(A a, B b) { return least((R)a, (R)b); } \
  HEDDLE_DEVICE R max(A a, B b) { return most((R)a, (R)b); }
HEDDLE_LEAST_BY(float, float, float, fminf, fmaxf)
HEDDLE_LEAST_BY(double, double, double, fmin, fmax)
HEDDLE_LEAST_BY(double, float, double, fmin, fmax)
HEDDLE_LEAST_BY(double, double, float, fmin, fmax)

// Functions that are instructions.
#define HEDDLE_OF_BOTH(name, of_float, of_double)              \
  HEDDLE_DEVICE float name##f(float v) { return of_float(v); } \
  HEDDLE_DEVICE float name(float v) { return of_float(v); }    \
  HEDDLE_DEVICE double name(double v) { return of_double(v); }
HEDDLE_OF_BOTH(sqrt, __nvvm_sqrt_rn_f, __nvvm_sqrt_rn_d)
HEDDLE_OF_BOTH(fabs, __builtin_fabsf, __builtin_fabs)
HEDDLE_OF_BOTH(floor, __builtin_floorf, __builtin_floor)
HEDDLE_OF_BOTH(ceil, __builtin_ceilf, __builtin_ceil)
HEDDLE_OF_BOTH(trunc, __builtin_truncf, __builtin_trunc)
HEDDLE_OF_BOTH(rint, __builtin_rintf, __builtin_rint)
HEDDLE_OF_BOTH(nearbyint, __builtin_nearbyintf, __builtin_nearbyint)
HEDDLE_DEVICE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
HEDDLE_DEVICE float fma(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
HEDDLE_DEVICE double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
HEDDLE_DEVICE float copysignf(float a, float b) {
  return __int_as_float((__float_as_int(a) & 0x7fffffff) | (__float_as_int(b) & (int)0x80000000));
}
HEDDLE_DEVICE float copysign(float a, float b) { return copysignf(a, b); }
HEDDLE_DEVICE double copysign(double a, double b) {
  long long sign = __double_as_longlong(b) & (long long)0x8000000000000000;
  return __longlong_as_double((__double_as_longlong(a) & 0x7fffffffffffffff) | sign);
}
HEDDLE_DEVICE int abs(int v) { return v < 0 ? -v : v; }
HEDDLE_DEVICE long abs(long v) { return v < 0 ? -v : v; }
HEDDLE_DEVICE long long abs(long long v) { return v < 0 ? -v : v; }
HEDDLE_DEVICE float abs(float v) { return __builtin_fabsf(v); }
HEDDLE_DEVICE double abs(double v) { return __builtin_fabs(v); }
HEDDLE_DEVICE bool isnan(float v) { return __builtin_isnan(v); }
HEDDLE_DEVICE bool isnan(double v) { return __builtin_isnan(v); }
HEDDLE_DEVICE bool isinf(float v) { return __builtin_isinf(v); }
HEDDLE_DEVICE bool isinf(double v) { return __builtin_isinf(v); }
HEDDLE_DEVICE bool isfinite(float v) { return __builtin_isfinite(v); }
HEDDLE_DEVICE bool isfinite(double v) { return __builtin_isfinite(v); }
HEDDLE_DEVICE float rsqrtf(float v) { return __nvvm_rsqrt_approx_f(v); }
HEDDLE_DEVICE float __saturatef(float v) { return __nvvm_saturate_f(v); }
HEDDLE_DEVICE float __sinf(float v) { return __nvvm_sin_approx_f(v); }
HEDDLE_DEVICE float __cosf(float v) { return __nvvm_cos_approx_f(v); }
HEDDLE_DEVICE float __log2f(float v) { return __nvvm_lg2_approx_f(v); }
HEDDLE_DEVICE float __logf(float v) { return __nvvm_lg2_approx_f(v) * 0.693147181f; }
HEDDLE_DEVICE float __log10f(float v) { return __nvvm_lg2_approx_f(v) * 0.301029996f; }
HEDDLE_DEVICE float __expf(float v) { return __nvvm_ex2_approx_f(v * 1.442695041f); }
HEDDLE_DEVICE float __exp10f(float v) { return __nvvm_ex2_approx_f(v * 3.321928095f); }
HEDDLE_DEVICE float __powf(float a, float b) { return __nvvm_ex2_approx_f(b * __nvvm_lg2_approx_f(a)); }
HEDDLE_DEVICE float __tanf(float v) { return __nvvm_div_approx_f(__sinf(v), __cosf(v)); }
HEDDLE_DEVICE float __fdividef(float a, float b) { return __nvvm_div_approx_f(a, b); }
// clang's own conversions of whole numbers to float round to nearest where they should cut.
#define HEDDLE_CVT(m, type)                                    \
  float to;                                                    \
  asm("cvt." #m ".f32." #type " %0, %1;" : "=f"(to) : "r"(v)); \
  return to;
#define HEDDLE_ROUNDED(mode, m)                                                                              \
  HEDDLE_DEVICE float __fadd_##mode(float a, float b) { return __nvvm_add_##m##_f(a, b); }                   \
  HEDDLE_DEVICE float __fsub_##mode(float a, float b) { return __nvvm_add_##m##_f(a, -b); }                  \
  HEDDLE_DEVICE float __fmul_##mode(float a, float b) { return __nvvm_mul_##m##_f(a, b); }                   \
  HEDDLE_DEVICE float __fdiv_##mode(float a, float b) { return __nvvm_div_##m##_f(a, b); }                   \
  HEDDLE_DEVICE float __fmaf_##mode(float a, float b, float c) { return __nvvm_fma_##m##_f(a, b, c); }       \
  HEDDLE_DEVICE float __frcp_##mode(float v) { return __nvvm_rcp_##m##_f(v); }                               \
  HEDDLE_DEVICE float __fsqrt_##mode(float v) { return __nvvm_sqrt_##m##_f(v); }                             \
  HEDDLE_DEVICE double __dadd_##mode(double a, double b) { return __nvvm_add_##m##_d(a, b); }                \
  HEDDLE_DEVICE double __dsub_##mode(double a, double b) { return __nvvm_add_##m##_d(a, -b); }               \
  HEDDLE_DEVICE double __dmul_##mode(double a, double b) { return __nvvm_mul_##m##_d(a, b); }                \
  HEDDLE_DEVICE double __ddiv_##mode(double a, double b) { return __nvvm_div_##m##_d(a, b); }                \
  HEDDLE_DEVICE double __fma_##mode(double a, double b, double c) { return __nvvm_fma_##m##_d(a, b, c); }    \
  HEDDLE_DEVICE double __drcp_##mode(double v) { return __nvvm_rcp_##m##_d(v); }                             \
  HEDDLE_DEVICE double __dsqrt_##mode(double v) { return __nvvm_sqrt_##m##_d(v); }                           \
  HEDDLE_DEVICE int __float2int_##mode(float v) { return __nvvm_f2i_##m(v); }                                \
  HEDDLE_DEVICE unsigned __float2uint_##mode(float v) { return __nvvm_f2ui_##m(v); }                         \
  HEDDLE_DEVICE long long __float2ll_##mode(float v) { return __nvvm_f2ll_##m(v); }                          \
  HEDDLE_DEVICE float __int2float_##mode(int v){HEDDLE_CVT(m, s32)} HEDDLE_DEVICE float __uint2float_##mode( \
      unsigned v){HEDDLE_CVT(m, u32)} HEDDLE_DEVICE int __double2int_##mode(double v) {                      \
    return __nvvm_d2i_##m(v);                                                                                \
  }                                                                                                          \
  HEDDLE_DEVICE long long __double2ll_##mode(double v) { return __nvvm_d2ll_##m(v); }                        \
  HEDDLE_DEVICE float __double2float_##mode(double v) { return __nvvm_d2f_##m(v); }
HEDDLE_ROUNDED(rn, rn)
HEDDLE_ROUNDED(rz, rz)
HEDDLE_ROUNDED(ru, rp)
HEDDLE_ROUNDED(rd, rm)

// Whole numbers.
HEDDLE_DEVICE int __popc(unsigned v) { return __builtin_popcount(v); }
HEDDLE_DEVICE int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
HEDDLE_DEVICE int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
HEDDLE_DEVICE int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
HEDDLE_DEVICE int __ffs(int v) { return v ? __builtin_ctz((unsigned)v) + 1 : 0; }
HEDDLE_DEVICE int __ffsll(long long v) { return v ? __builtin_ctzll((unsigned long long)v) + 1 : 0; }
HEDDLE_DEVICE unsigned __brev(unsigned v) { return __builtin_bitreverse32(v); }
HEDDLE_DEVICE unsigned long long __brevll(unsigned long long v) { return __builtin_bitreverse64(v); }
HEDDLE_DEVICE int __mulhi(int a, int b) { return __nvvm_mulhi_i(a, b); }
HEDDLE_DEVICE unsigned __umulhi(unsigned a, unsigned b) { return __nvvm_mulhi_ui(a, b); }
HEDDLE_DEVICE long long __mul64hi(long long a, long long b) { return __nvvm_mulhi_ll(a, b); }
HEDDLE_DEVICE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return __nvvm_mulhi_ull(a, b);
}
HEDDLE_DEVICE int __mul24(int a, int b) { return __nvvm_mul24_i(a, b); }
HEDDLE_DEVICE unsigned __umul24(unsigned a, unsigned b) { return __nvvm_mul24_ui(a, b); }
HEDDLE_DEVICE unsigned __byte_perm(unsigned a, unsigned b, unsigned at) { return __nvvm_prmt(a, b, at); }
HEDDLE_DEVICE unsigned __sad(int a, int b, unsigned sum) { return sum + (unsigned)(a < b ? b - a : a - b); }
HEDDLE_DEVICE unsigned __usad(unsigned a, unsigned b, unsigned sum) { return sum + (a < b ? b - a : a - b); }
HEDDLE_DEVICE int __hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
HEDDLE_DEVICE int __rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
HEDDLE_DEVICE unsigned __uhadd(unsigned a, unsigned b) { return (a & b) + ((a ^ b) >> 1); }
HEDDLE_DEVICE unsigned __urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }
#define HEDDLE_OF_THREE(name, instruction, R, A, B, C)                           \
  HEDDLE_DEVICE R name(A a, B b, C c) {                                          \
    R result;                                                                    \
    asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(a), "r"(b), "r"(c)); \
    return result;                                                               \
  }
HEDDLE_OF_THREE(__funnelshift_l, "shf.l.wrap.b32", unsigned, unsigned, unsigned, unsigned)
HEDDLE_OF_THREE(__funnelshift_lc, "shf.l.clamp.b32", unsigned, unsigned, unsigned, unsigned)
HEDDLE_OF_THREE(__funnelshift_r, "shf.r.wrap.b32", unsigned, unsigned, unsigned, unsigned)
HEDDLE_OF_THREE(__funnelshift_rc, "shf.r.clamp.b32", unsigned, unsigned, unsigned, unsigned)
HEDDLE_OF_THREE(__dp4a, "dp4a.s32.s32", int, int, int, int)
HEDDLE_OF_THREE(__dp4a, "dp4a.u32.u32", unsigned, unsigned, unsigned, unsigned)

// Read-only memory, spaces of addresses, time, output.
HEDDLE_DEVICE unsigned __isGlobal(const void* at) { return __nvvm_isspacep_global(at); }
HEDDLE_DEVICE unsigned __isShared(const void* at) { return __nvvm_isspacep_shared(at); }
HEDDLE_DEVICE unsigned __isConstant(const void* at) { return __nvvm_isspacep_const(at); }
HEDDLE_DEVICE unsigned __isLocal(const void* at) { return __nvvm_isspacep_local(at); }
HEDDLE_DEVICE void __nanosleep(unsigned ns) { asm volatile("nanosleep.u32 %0;" ::"r"(ns) : "memory"); }
#define HEDDLE_LDG(T, builtin, as) \
  HEDDLE_DEVICE T __ldg(const T* at) { return __nvvm_ldg_##builtin((const as*)at); }
HEDDLE_LDG(char, c, char)
HEDDLE_LDG(signed char, c, char)
HEDDLE_LDG(unsigned char, uc, unsigned char)
HEDDLE_LDG(short, s, short)
HEDDLE_LDG(unsigned short, us, unsigned short)
HEDDLE_LDG(int, i, int)
HEDDLE_LDG(unsigned, ui, unsigned)
HEDDLE_LDG(long, l, long)
HEDDLE_LDG(unsigned long, ul, unsigned long)
HEDDLE_LDG(long long, ll, long long)
HEDDLE_LDG(unsigned long long, ull, unsigned long long)
HEDDLE_LDG(float, f, float)
HEDDLE_LDG(double, d, double)
#define HEDDLE_LDG_PAIR(T, builtin, E)                  \
  HEDDLE_DEVICE T##2 __ldg(const T##2 * at) {           \
    typedef E pair __attribute__((ext_vector_type(2))); \
    pair v = __nvvm_ldg_##builtin##2((const pair*)at);  \
    return {v.x, v.y};                                  \
  }
#define HEDDLE_LDG_FOUR(T, builtin, E)                  \
  HEDDLE_LDG_PAIR(T, builtin, E)                        \
  HEDDLE_DEVICE T##4 __ldg(const T##4 * at) {           \
    typedef E four __attribute__((ext_vector_type(4))); \
    four v = __nvvm_ldg_##builtin##4((const four*)at);  \
    return {v.x, v.y, v.z, v.w};                        \
  }
HEDDLE_LDG_FOUR(int, i, int)
HEDDLE_LDG_FOUR(uint, ui, unsigned)
HEDDLE_LDG_FOUR(float, f, float)
HEDDLE_LDG_PAIR(double, d, double)
HEDDLE_DEVICE long clock() { return (int)__nvvm_read_ptx_sreg_clock(); }
HEDDLE_DEVICE long long clock64() { return __nvvm_read_ptx_sreg_clock64(); }
extern "C" __device__ int printf(const char* format, ...);

extern "C" __device__ void __assertfail(const char* what, const char* file, unsigned line, const char* function,
                                        size_t);
extern "C" __device__ __forceinline__ void __assert_fail(const char* what, const char* file, unsigned line,
                                                         const char* function) {
  __assertfail(what, file, line, function, sizeof(char));
}
extern "C" __device__ void* malloc(size_t bytes) __attribute__((nothrow, malloc));
extern "C" __device__ void free(void* at) __attribute__((nothrow));

#include "clang_math.cuh"
// The warp's sums and so on in one instruction are of sm_80.
#define HEDDLE_OF_SM_80(name) \
  HEDDLE_UNAVAILABLE(name, "it is of sm_80 and later, clang++ compiles for sm_70: it needs nvcc")
HEDDLE_OF_SM_80(__reduce_add_sync)
HEDDLE_OF_SM_80(__reduce_min_sync)
HEDDLE_OF_SM_80(__reduce_max_sync)
HEDDLE_OF_SM_80(__reduce_and_sync)
HEDDLE_OF_SM_80(__reduce_or_sync)
HEDDLE_OF_SM_80(__reduce_xor_sync)
#ifdef HEDDLE_CONTRACT
// The user's products and sums may become one instruction. libclc's may not: its sums of products are exact in two
// parts.
#pragma clang fp contract(fast)
#endif
