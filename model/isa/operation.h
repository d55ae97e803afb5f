// SPDX-License-Identifier: MIT
// What an opcode's instruction may name besides its operands: types, functions, modes, spaces and special registers.
#pragma once

#include <cstdint>

namespace heddle::isa {

/// Operand type of an operation. pred is a predicate; b* are untyped bits.
enum class dtype : std::uint8_t {
  none,
  pred,
  u8,
  s8,
  u16,
  s16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f16x2,
  bf16,
  bf16x2,
  f32,
  f64,
  b8,
  b16,
  b32,
  b64,
  b128,
  f32x2,
  e4m3x2,
  e5m2x2,
  s4,
  u4,
  b1
};

/// Bytes of one element of the type (pred and none: 0).
unsigned size_of(dtype t);
bool is_float(dtype t);
bool is_signed(dtype t);
const char* name_of(dtype t);

enum class rounding : std::uint8_t { rn, rz, rm, rp, rna };  // rm: to -inf, rp: to +inf
enum class compare : std::uint8_t { f, lt, eq, le, gt, ne, ge, num, nan, ltu, equ, leu, gtu, neu, geu, t };
enum class bool_op : std::uint8_t { and_, or_, xor_ };
enum class mufu_function : std::uint8_t { rcp, rsq, sqrt, sin, cos, ex2, lg2, tanh, rcp64h, rsq64h };
/// The exact function that an ASSIST computes (it replaces the slow-path subroutine of a macro expansion).
enum class assist_function : std::uint8_t {
  div_f32,
  rcp_f32,
  sqrt_f32,
  div_f64,
  rcp_f64,
  sqrt_f64,
  div_s64,
  div_u64,
  rem_s64,
  rem_u64
};
enum class atomic_op : std::uint8_t { add, min, max, inc, dec, and_, or_, xor_, exch, cas, arrive };
/// What UBLKCP moves: from global to shared memory, back, or to shared memory of a block of the cluster.
enum class bulk_direction : std::uint8_t { load, store, cluster };
enum class shuffle_mode : std::uint8_t { up, down, bfly, idx };
enum class vote_mode : std::uint8_t { any, all, uni, ballot, activemask };
enum class match_mode : std::uint8_t { any, all };
enum class redux_op : std::uint8_t { add, min, max, and_, or_, xor_ };
/// System routines that a program calls, provided by the CUDA device runtime.
enum class system_function : std::uint8_t { vprintf, malloc, free };
enum class space : std::uint8_t { generic, global, shared, local, constant };
enum class cache_op : std::uint8_t { ca, cg, cs, lu, cv, wb, wt, nc, volatile_ };

/// Special registers readable through S2R.
enum class special : std::uint8_t {
  tid_x,
  tid_y,
  tid_z,
  ntid_x,
  ntid_y,
  ntid_z,
  ctaid_x,
  ctaid_y,
  ctaid_z,
  nctaid_x,
  nctaid_y,
  nctaid_z,
  laneid,
  warpid,
  nwarpid,
  smid,
  nsmid,
  gridid,
  lanemask_eq,
  lanemask_lt,
  lanemask_le,
  lanemask_gt,
  lanemask_ge,
  clock,
  clock_hi,
  clock64,
  globaltimer,
  total_smem_size,
  dynamic_smem_size,
  cluster_ctaid_x,
  cluster_ctaid_y,
  cluster_ctaid_z,
  cluster_ctarank,
  clusterid_x,
  clusterid_y,
  clusterid_z,
  zero
};

/// Whether each read of the register gives another value.
constexpr bool is_clock(special s) {
  return s == special::clock || s == special::clock_hi || s == special::clock64 || s == special::globaltimer;
}

}  // namespace heddle::isa
