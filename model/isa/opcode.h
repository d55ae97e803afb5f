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
  tensor,            // HMMA IMMA DMMA HGMMA ...             [tensor] by shape and type, see docs/model/tensor.md
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
    case op_class::int_add:
    case op_class::int_shift:
    case op_class::int_multiply:
    case op_class::int_minmax:
    case op_class::int_compare:
    case op_class::special_register:
    case op_class::vote:
    case op_class::count: break;
  }
  return unit::integer;
}

/// Which sources may be a constant or an immediate. Where more than two may, each of them may at the same time;
/// otherwise one source at most is one.
enum class constant_use : std::uint8_t {
  none,
  first,
  second,
  third,
  later,
  fourth,
  not_first,
  any
};  // later: second or third

/// Whether the first two sources may change places: never, at once, with the truth table of LOP3 or the comparison
/// rewritten, or with the predicate of SEL inverted.
enum class exchange_rule : std::uint8_t { no, yes, table, compare, choice };

/// Number of predicate sources: fixed, or one more with .X (carry: none without it), or by the mode of VOTE or BAR.
enum class predicate_use : std::uint8_t { none, one, three, one_or_two, carry, vote, reduction };

/// What the instruction does to the flow of its warp.
enum class flow_kind : std::uint8_t {
  none,
  branch,
  exit,
  barrier,
  fence,
  sleep,
  trap,
  system_call,
  copy_commit,
  copy_wait,
  product_fence,
  product_commit,
  product_wait,
  register_change,
  bulk_copy
};

/// How the instruction accesses memory.
enum class access_kind : std::uint8_t {
  none,
  load,
  matrix_load,
  constant_load,
  copy,
  store,
  atomic,
  reduction,
  sample,
  surface_load,
  surface_store
};

/// Whether the instruction is needed without a use of its result. order: always, and no other instruction moves over
/// it; write: always; if_volatile, if_clock: loads and S2R of these kinds.
enum class effect_kind : std::uint8_t { none, order, write, if_volatile, if_clock };

/// The source that holds the mask of lanes that take part together.
enum class member_mask : std::uint8_t { source_0, source_1, source_2, source_3, no };

/// Whether the bits of a result are computed, or bits of the sources in other places.
enum class result_bits : std::uint8_t { computed, moved };

/// What the number of zeros at the low end of a result follows from: those of the source, of the source shifted, of
/// that sum, of a sum, of a multiply-add, or of LOP3's and, or.
enum class alignment_rule : std::uint8_t { unknown, copied, shifted, shifted_sum, sum, product, logic };

// clang-format off
/// The machine's opcodes, one row each; names follow SASS. A new opcode states every property.
///
/// X(enumerator, mnemonic, op_class, constants, exchange, predicates, flow, access, effect, members, uniform, bits,
/// alignment); the columns are the members of opcode_info.
#define HEDDLE_OPCODES(X) \
  X(nop,       "NOP",       branch,           first,     no,      none,       none,        none,          order,       source_0, no,  computed, unknown)    \
  X(mov,       "MOV",       int_add,          first,     no,      none,       none,        none,          none,        no,       no,  moved,    copied)     \
  X(sel,       "SEL",       int_add,          later,     choice,  one,        none,        none,          none,        no,       no,  moved,    unknown)    \
  X(s2r,       "S2R",       special_register, none,      no,      none,       none,        none,          if_clock,    no,       no,  computed, unknown)    \
  X(iadd3,     "IADD3",     int_add,          later,     yes,     carry,      none,        none,          none,        no,       yes, computed, sum)        \
  X(lea,       "LEA",       int_add,          second,    no,      carry,      none,        none,          none,        no,       yes, computed, shifted_sum)\
  X(lop3,      "LOP3",      int_add,          later,     table,   none,       none,        none,          none,        no,       yes, moved,    logic)      \
  X(prmt,      "PRMT",      int_add,          later,     no,      none,       none,        none,          none,        no,       yes, moved,    unknown)    \
  X(viadd,     "VIADD",     int_multiply,     second,    no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(iabs,      "IABS",      int_add,          first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(sgxt,      "SGXT",      int_shift,        second,    no,      none,       none,        none,          none,        no,       no,  moved,    unknown)    \
  X(shl,       "SHL",       int_shift,        second,    no,      none,       none,        none,          none,        no,       yes, moved,    shifted)    \
  X(shr,       "SHR",       int_shift,        second,    no,      none,       none,        none,          none,        no,       yes, moved,    unknown)    \
  X(shf,       "SHF",       int_shift,        later,     no,      none,       none,        none,          none,        no,       yes, moved,    unknown)    \
  X(bfe,       "BFE",       int_shift,        later,     no,      none,       none,        none,          none,        no,       no,  moved,    unknown)    \
  X(bfi,       "BFI",       int_shift,        later,     no,      none,       none,        none,          none,        no,       no,  moved,    unknown)    \
  X(bmsk,      "BMSK",      int_shift,        second,    no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(imad,      "IMAD",      int_multiply,     later,     yes,     carry,      none,        none,          none,        no,       yes, computed, product)    \
  X(xmad,      "XMAD",      int_multiply,     later,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(idp,       "IDP",       int_multiply,     later,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(imnmx,     "IMNMX",     int_minmax,       later,     yes,     one,        none,        none,          none,        no,       no,  computed, unknown)    \
  X(vabsdiff,  "VABSDIFF",  int_minmax,       later,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(isetp,     "ISETP",     int_compare,      later,     compare, one_or_two, none,        none,          none,        no,       yes, computed, unknown)    \
  X(plop3,     "PLOP3",     int_compare,      later,     no,      three,      none,        none,          none,        no,       no,  computed, unknown)    \
  X(p2r,       "P2R",       int_add,          first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(r2p,       "R2P",       int_add,          later,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(popc,      "POPC",      bit_count,        first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(flo,       "FLO",       bit_scan,         first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(brev,      "BREV",      bit_scan,         first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(fadd,      "FADD",      fp32_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(fmul,      "FMUL",      fp32_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(ffma,      "FFMA",      fp32_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(fmnmx,     "FMNMX",     fp32_minmax,      later,     yes,     one,        none,        none,          none,        no,       no,  computed, unknown)    \
  X(fsetp,     "FSETP",     fp32_compare,     later,     compare, one,        none,        none,          none,        no,       no,  computed, unknown)    \
  X(fset,      "FSET",      fp32_compare,     later,     no,      one,        none,        none,          none,        no,       no,  computed, unknown)    \
  X(fchk,      "FCHK",      fp32_compare,     second,    no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(mufu,      "MUFU",      sfu,              first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(assist,    "ASSIST",    sfu,              none,      no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(f2f,       "F2F",       conversion,       first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(f2i,       "F2I",       conversion,       first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(i2f,       "I2F",       conversion,       first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(i2i,       "I2I",       conversion,       first,     no,      none,       none,        none,          none,        no,       no,  moved,    unknown)    \
  X(frnd,      "FRND",      conversion,       first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(dadd,      "DADD",      fp64_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(dmul,      "DMUL",      fp64_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(dfma,      "DFMA",      fp64_fma,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(dmnmx,     "DMNMX",     fp64_add,         later,     yes,     one,        none,        none,          none,        no,       no,  computed, unknown)    \
  X(dsetp,     "DSETP",     fp64_compare,     later,     compare, one,        none,        none,          none,        no,       no,  computed, unknown)    \
  X(hadd2,     "HADD2",     half_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(hmul2,     "HMUL2",     half_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(hfma2,     "HFMA2",     half_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(hmnmx2,    "HMNMX2",    half_add,         later,     yes,     one,        none,        none,          none,        no,       no,  computed, unknown)    \
  X(hsetp2,    "HSETP2",    half_compare,     later,     no,      one,        none,        none,          none,        no,       no,  computed, unknown)    \
  X(hset2,     "HSET2",     half_compare,     later,     no,      one,        none,        none,          none,        no,       no,  computed, unknown)    \
  X(ld,        "LD",        load_store,       none,      no,      none,       none,        load,          if_volatile, no,       no,  computed, unknown)    \
  X(st,        "ST",        load_store,       none,      no,      none,       none,        store,         write,       no,       no,  computed, unknown)    \
  X(ldgsts,    "LDGSTS",    load_store,       third,     no,      one,        none,        copy,          write,       no,       no,  computed, unknown)    \
  X(ldc,       "LDC",       load_store,       none,      no,      none,       none,        constant_load, none,        no,       no,  computed, unknown)    \
  X(atom,      "ATOM",      load_store,       none,      no,      none,       none,        atomic,        write,       no,       no,  computed, unknown)    \
  X(red,       "RED",       load_store,       none,      no,      none,       none,        reduction,     write,       no,       no,  computed, unknown)    \
  X(shfl,      "SHFL",      shuffle,          not_first, no,      none,       none,        none,          none,        source_3, no,  moved,    unknown)    \
  X(match,     "MATCH",     shuffle,          second,    no,      none,       none,        none,          none,        source_1, no,  computed, unknown)    \
  X(redux,     "REDUX",     shuffle,          second,    no,      none,       none,        none,          none,        source_1, no,  computed, unknown)    \
  X(vote,      "VOTE",      vote,             any,       no,      vote,       none,        none,          none,        source_0, no,  computed, unknown)    \
  X(movm,      "MOVM",      shuffle,          fourth,    no,      none,       none,        none,          none,        source_3, no,  computed, unknown)    \
  X(ldsm,      "LDSM",      load_store,       fourth,    no,      none,       none,        matrix_load,   none,        source_3, no,  computed, unknown)    \
  X(hmma,      "HMMA",      tensor,           fourth,    no,      none,       none,        none,          none,        source_3, no,  computed, unknown)    \
  X(imma,      "IMMA",      tensor,           fourth,    no,      none,       none,        none,          none,        source_3, no,  computed, unknown)    \
  X(bmma,      "BMMA",      tensor,           fourth,    no,      none,       none,        none,          none,        source_3, no,  computed, unknown)    \
  X(dmma,      "DMMA",      tensor,           fourth,    no,      none,       none,        none,          none,        source_3, no,  computed, unknown)    \
  X(hgmma,     "HGMMA",     tensor,           fourth,    no,      one,        none,        none,          order,       source_3, no,  computed, unknown)    \
  X(qgmma,     "QGMMA",     tensor,           fourth,    no,      one,        none,        none,          order,       source_3, no,  computed, unknown)    \
  X(igmma,     "IGMMA",     tensor,           fourth,    no,      one,        none,        none,          order,       source_3, no,  computed, unknown)    \
  X(bgmma,     "BGMMA",     tensor,           fourth,    no,      one,        none,        none,          order,       source_3, no,  computed, unknown)    \
  X(tex,       "TEX",       texture,          none,      no,      none,       none,        sample,        none,        no,       no,  computed, unknown)    \
  X(tld4,      "TLD4",      texture,          none,      no,      none,       none,        sample,        none,        no,       no,  computed, unknown)    \
  X(suld,      "SULD",      texture,          none,      no,      none,       none,        surface_load,  none,        no,       no,  computed, unknown)    \
  X(sust,      "SUST",      texture,          none,      no,      none,       none,        surface_store, write,       no,       no,  computed, unknown)    \
  X(txq,       "TXQ",       shuffle,          none,      no,      none,       none,        none,          none,        no,       no,  computed, unknown)    \
  X(bra,       "BRA",       branch,           none,      no,      none,       branch,      none,          order,       no,       no,  computed, unknown)    \
  X(exit,      "EXIT",      branch,           none,      no,      none,       exit,        none,          order,       no,       no,  computed, unknown)    \
  X(bar,       "BAR",       branch,           any,       no,      reduction,  barrier,     none,          order,       no,       no,  computed, unknown)    \
  X(ucgabar_arv,  "UCGABAR_ARV",  branch,     none,      no,      none,       barrier,     none,          order,       no,       no,  computed, unknown)    \
  X(ucgabar_wait, "UCGABAR_WAIT", branch,     none,      no,      none,       barrier,     none,          order,       no,       no,  computed, unknown)    \
  X(syncs,     "SYNCS",     branch,           none,      no,      none,       barrier,     none,          order,       no,       no,  computed, unknown)    \
  X(acqbulk,   "ACQBULK",   branch,           none,      no,      none,       barrier,     none,          order,       no,       no,  computed, unknown)    \
  X(preexit,   "PREEXIT",   branch,           none,      no,      none,       barrier,     none,          order,       no,       no,  computed, unknown)    \
  X(ublkcp,    "UBLKCP",    branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown)    \
  X(ublkred,   "UBLKRED",   branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown)    \
  X(ublkpf,    "UBLKPF",    branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown)    \
  X(utmaldg,   "UTMALDG",   branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown)    \
  X(utmastg,   "UTMASTG",   branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown)    \
  X(utmaredg,  "UTMAREDG",  branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown)    \
  X(utmapf,    "UTMAPF",    branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown)    \
  X(utmacmdflush, "UTMACMDFLUSH", branch,     none,      no,      none,       copy_commit, none,          order,       no,       no,  computed, unknown)    \
  X(membar,    "MEMBAR",    branch,           none,      no,      none,       fence,       none,          order,       no,       no,  computed, unknown)    \
  X(ldgdepbar, "LDGDEPBAR", branch,           none,      no,      none,       copy_commit, none,          order,       no,       no,  computed, unknown)    \
  X(depbar,    "DEPBAR",    branch,           none,      no,      none,       copy_wait,   none,          order,       no,       no,  computed, unknown)    \
  X(wgarrive,  "WARPGROUP.ARRIVE", branch,    none,      no,      none,       product_fence,  none,       order,       no,       no,  computed, unknown)    \
  X(wgcommit,  "WARPGROUP.COMMIT", branch,    none,      no,      none,       product_commit, none,       order,       no,       no,  computed, unknown)    \
  X(wgdepbar,  "WARPGROUP.DEPBAR", branch,    none,      no,      none,       product_wait,   none,       order,       no,       no,  computed, unknown)    \
  X(setmaxreg, "USETMAXREG", branch,          none,      no,      none,       register_change, none,      order,       no,       no,  computed, unknown)    \
  X(trap,      "BPT.TRAP",  branch,           none,      no,      none,       trap,        none,          order,       no,       no,  computed, unknown)    \
  X(nanosleep, "NANOSLEEP", branch,           first,     no,      none,       sleep,       none,          order,       no,       no,  computed, unknown)    \
  X(syscall,   "SYSCALL",   branch,           none,      no,      none,       system_call, none,          order,       no,       no,  computed, unknown)
// clang-format on

enum class opcode : std::uint8_t {
#define HEDDLE_X(name, ...) name,
  HEDDLE_OPCODES(HEDDLE_X)
#undef HEDDLE_X
      count
};

struct opcode_info {
  const char* mnemonic;
  op_class timing;
  constant_use constants;
  exchange_rule exchange;
  predicate_use predicates;
  flow_kind flow;
  access_kind access;
  effect_kind effect;
  member_mask members;
  bool uniform;  // chips with uniform registers execute it there if its sources are constants and immediates
  result_bits bits;
  alignment_rule alignment;
};

/// The properties of an opcode.
const opcode_info& info(opcode op);

/// Whether the opcode's first source is the address of an access to memory, with an offset.
constexpr bool names_address(opcode op) {
  return op == opcode::ld || op == opcode::st || op == opcode::atom || op == opcode::red || op == opcode::ldgsts;
}

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
enum class bulk_way : std::uint8_t { load, store, cluster };
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
