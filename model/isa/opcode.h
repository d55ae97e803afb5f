// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace heddle::isa {

/// Functional unit that an instruction is dispatched to; one execution_unit module each.
enum class unit : std::uint8_t { fp32, integer, fp64, half, sfu, tensor, ldst, branch, texture, count };

/// Timing class: determines latency and initiation interval. Every class belongs to one unit (see unit_of); its figures
/// are in that unit's section of the configuration.
enum class op_class : std::uint8_t {
  fp32_add,          // FADD FMUL FFMA                       [fp32] latency_cycles, lanes
  fp32_minmax,       // FMNMX                                [fp32] minmax_*
  fp32_compare,      // FSETP FSET FCHK                      [fp32] compare_*
  int_add,           // IADD3 LEA LOP3 MOV SEL PRMT ...      [int] latency_cycles, lanes
  int_shift,         // SHL SHR SHF BFE BFI                  [int] shift_*
  int_multiply,      // IMAD IMUL XMAD DP4A                  [int] multiply_*
  int_minmax,        // IMNMX VABSDIFF                       [int] minmax_*
  int_compare,       // ISETP PLOP3                          [int] compare_*
  special_register,  // S2R CS2R                             [int] special_register_*
  fp64_add,          // DADD DMUL DMNMX                      [fp64] latency_cycles, lanes
  fp64_fma,          // DFMA                                 [fp64] fma_latency_cycles, lanes
  fp64_compare,      // DSETP                                [fp64] compare_*
  half_add,          // HADD2 HMUL2 HFMA2 HMNMX2             [half] latency_cycles, lanes
  half_compare,      // HSETP2 HSET2                         [half] compare_*
  sfu,               // MUFU                                 [sfu] latency_cycles, lanes
  bit_count,         // POPC                                 [sfu] bit_count_*
  bit_scan,          // FLO BREV                             [sfu] bit_scan_*
  conversion,        // F2F F2I I2F I2I FRND                 [sfu] conversion_*
  tensor,            // HMMA IMMA DMMA                       [tensor] by shape and type, see docs/tensor.md
  load_store,        // all address-based accesses of the LSU; variable latency
  shuffle,           // SHFL MATCH REDUX MOVM                [ldst] shuffle_*
  vote,              // VOTE                                 [int] latency_cycles, lanes
  texture,           // TEX TLD4 SULD SUST                   [texture] lanes; variable latency
  branch,            // BRA BRX CALL RET EXIT BAR NOP ...    [branch] latency_cycles
  count
};

constexpr unit unit_of(op_class c) {
  switch (c) {
    case op_class::fp32_add:
    case op_class::fp32_minmax:
    case op_class::fp32_compare: return unit::fp32;
    case op_class::fp64_add:
    case op_class::fp64_fma:
    case op_class::fp64_compare: return unit::fp64;
    case op_class::half_add:
    case op_class::half_compare: return unit::half;
    case op_class::sfu:
    case op_class::bit_count:
    case op_class::bit_scan:
    case op_class::conversion: return unit::sfu;
    case op_class::tensor: return unit::tensor;
    case op_class::load_store:
    case op_class::shuffle: return unit::ldst;
    case op_class::branch: return unit::branch;
    case op_class::texture: return unit::texture;
    default: return unit::integer;
  }
}

// clang-format off
/// The machine's opcodes: X(enumerator, mnemonic, op_class). Names follow SASS.
#define HEDDLE_OPCODES(X)                                                                      \
  X(nop, "NOP", branch) X(mov, "MOV", int_add) X(sel, "SEL", int_add)                          \
  X(s2r, "S2R", special_register)                                                              \
  X(iadd3, "IADD3", int_add) X(lea, "LEA", int_add) X(lop3, "LOP3", int_add)                   \
  X(prmt, "PRMT", int_add) X(iabs, "IABS", int_add) X(sgxt, "SGXT", int_shift)                 \
  X(shl, "SHL", int_shift) X(shr, "SHR", int_shift) X(shf, "SHF", int_shift)                   \
  X(bfe, "BFE", int_shift) X(bfi, "BFI", int_shift) X(bmsk, "BMSK", int_shift)                 \
  X(imad, "IMAD", int_multiply) X(xmad, "XMAD", int_multiply) X(idp, "IDP", int_multiply)      \
  X(imnmx, "IMNMX", int_minmax) X(vabsdiff, "VABSDIFF", int_minmax)                            \
  X(isetp, "ISETP", int_compare) X(plop3, "PLOP3", int_compare)                                \
  X(p2r, "P2R", int_add) X(r2p, "R2P", int_add)                                                \
  X(popc, "POPC", bit_count) X(flo, "FLO", bit_scan) X(brev, "BREV", bit_scan)               \
  X(fadd, "FADD", fp32_add) X(fmul, "FMUL", fp32_add) X(ffma, "FFMA", fp32_add)                \
  X(fmnmx, "FMNMX", fp32_minmax) X(fsetp, "FSETP", fp32_compare) X(fset, "FSET", fp32_compare) \
  X(fchk, "FCHK", fp32_compare)                                                                \
  X(mufu, "MUFU", sfu) X(assist, "ASSIST", sfu)                                                \
  X(f2f, "F2F", conversion) X(f2i, "F2I", conversion) X(i2f, "I2F", conversion)                \
  X(i2i, "I2I", conversion) X(frnd, "FRND", conversion)                                        \
  X(dadd, "DADD", fp64_add) X(dmul, "DMUL", fp64_add) X(dfma, "DFMA", fp64_fma)                \
  X(dmnmx, "DMNMX", fp64_add) X(dsetp, "DSETP", fp64_compare)                                  \
  X(hadd2, "HADD2", half_add) X(hmul2, "HMUL2", half_add) X(hfma2, "HFMA2", half_add)          \
  X(hmnmx2, "HMNMX2", half_add) X(hsetp2, "HSETP2", half_compare) X(hset2, "HSET2", half_compare) \
  X(ld, "LD", load_store) X(st, "ST", load_store) X(ldc, "LDC", load_store)                    \
  X(atom, "ATOM", load_store) X(red, "RED", load_store)                                        \
  X(shfl, "SHFL", shuffle) X(match, "MATCH", shuffle) X(redux, "REDUX", shuffle)               \
  X(vote, "VOTE", vote) X(movm, "MOVM", shuffle) X(ldsm, "LDSM", load_store)                   \
  X(hmma, "HMMA", tensor) X(imma, "IMMA", tensor) X(dmma, "DMMA", tensor)                      \
  X(tex, "TEX", texture) X(tld4, "TLD4", texture) X(suld, "SULD", texture) X(sust, "SUST", texture) \
  X(txq, "TXQ", shuffle)                                                                       \
  X(bra, "BRA", branch) X(exit, "EXIT", branch)                                                \
  X(bar, "BAR", branch) X(membar, "MEMBAR", branch) X(trap, "BPT.TRAP", branch)                \
  X(nanosleep, "NANOSLEEP", branch) X(syscall, "SYSCALL", branch)
// clang-format on

enum class opcode : std::uint8_t {
#define HEDDLE_X(name, text, cls) name,
  HEDDLE_OPCODES(HEDDLE_X)
#undef HEDDLE_X
      count
};

struct opcode_info {
  const char* mnemonic;
  op_class timing;
};

/// Mnemonic and timing class of an opcode.
const opcode_info& info(opcode op);

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
  e5m2x2
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
  zero
};

}  // namespace heddle::isa
