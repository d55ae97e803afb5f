// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "heddle/isa/operation.h"

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

/// yes: chips with uniform registers execute it there if its sources are constants and immediates.
enum class uniform_use : bool { no, yes };

/// Whether the bits of a result are computed, or bits of the sources in other places. moved: of the first source;
/// chosen: whole registers; logic: by the truth table; merged: of the first and the third source; shifted, funnel: of
/// the first, or of both, by the second; field: of the first, by the place in the second.
enum class result_bits : std::uint8_t { computed, moved, chosen, logic, merged, shifted, funnel, field };

/// What the number of zeros at the low end of a result follows from: those of the source, of the source shifted, of
/// that sum, of a sum, of a multiply-add, or of LOP3's and, or.
enum class alignment_rule : std::uint8_t { unknown, copied, shifted, shifted_sum, sum, product, logic };

/// What a command to the TMA unit does. copy: to, from or between shared memory, by its bulk_direction.
enum class bulk_rule : std::uint8_t {
  none,
  copy,
  reduction,
  prefetch,
  tensor_load,
  tensor_store,
  tensor_reduction,
  tensor_prefetch
};

/// How the multiplier computes the same, if an operand's form permits it: c + 0 * 0, a * 2^b, or a * 1 + c.
enum class multiply_rule : std::uint8_t { no, move, shift, sum };

/// Floating-point operations: of each lane one, or two that are fused, of the unit of the timing class; of the warp
/// those of a product of matrices, or of its share of a warpgroup's product.
enum class flop_rule : std::uint8_t { none, one, fused, product, group };

/// Whether the trace of a run holds what determines the time of the instruction, or what it lacks. not_arrivals: all
/// but the arrivals at an mbarrier; of_threads: the waits for copies by threads.
enum class trace_rule : std::uint8_t {
  yes,
  not_arrivals,
  of_threads,
  system_calls,
  bulk_copies,
  products,
  registers,
  textures,
  mbarriers,
  clusters,
  launches
};

// clang-format off
/// The machine's opcodes, one row each; names follow SASS. A new opcode states every property.
///
/// X(enumerator, mnemonic, op_class, constants, exchange, predicates, flow, access, effect, members, uniform, bits,
/// alignment, bulk, multiply, flops, trace); the columns are the members of opcode_info.
#define HEDDLE_OPCODES(X) \
  X(nop,       "NOP",       branch,           first,     no,      none,       none,        none,          order,       source_0, no,  computed, unknown,     none,             no,    none,    yes)           \
  X(mov,       "MOV",       int_add,          first,     no,      none,       none,        none,          none,        no,       no,  moved,    copied,      none,             move,  none,    yes)           \
  X(sel,       "SEL",       int_add,          later,     choice,  one,        none,        none,          none,        no,       no,  chosen,   unknown,     none,             no,    none,    yes)           \
  X(s2r,       "S2R",       special_register, none,      no,      none,       none,        none,          if_clock,    no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(iadd3,     "IADD3",     int_add,          later,     yes,     carry,      none,        none,          none,        no,       yes, computed, sum,         none,             sum,   none,    yes)           \
  X(lea,       "LEA",       int_add,          second,    no,      carry,      none,        none,          none,        no,       yes, computed, shifted_sum, none,             no,    none,    yes)           \
  X(lop3,      "LOP3",      int_add,          later,     table,   none,       none,        none,          none,        no,       yes, logic,    logic,       none,             no,    none,    yes)           \
  X(prmt,      "PRMT",      int_add,          later,     no,      none,       none,        none,          none,        no,       yes, merged,   unknown,     none,             no,    none,    yes)           \
  X(viadd,     "VIADD",     int_multiply,     second,    no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(iabs,      "IABS",      int_add,          first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(sgxt,      "SGXT",      int_shift,        second,    no,      none,       none,        none,          none,        no,       no,  moved,    unknown,     none,             no,    none,    yes)           \
  X(shl,       "SHL",       int_shift,        second,    no,      none,       none,        none,          none,        no,       yes, shifted,  shifted,     none,             shift, none,    yes)           \
  X(shr,       "SHR",       int_shift,        second,    no,      none,       none,        none,          none,        no,       yes, shifted,  unknown,     none,             no,    none,    yes)           \
  X(shf,       "SHF",       int_shift,        later,     no,      none,       none,        none,          none,        no,       yes, funnel,   unknown,     none,             no,    none,    yes)           \
  X(bfe,       "BFE",       int_shift,        later,     no,      none,       none,        none,          none,        no,       no,  field,    unknown,     none,             no,    none,    yes)           \
  X(bfi,       "BFI",       int_shift,        later,     no,      none,       none,        none,          none,        no,       no,  merged,   unknown,     none,             no,    none,    yes)           \
  X(bmsk,      "BMSK",      int_shift,        second,    no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(imad,      "IMAD",      int_multiply,     later,     yes,     carry,      none,        none,          none,        no,       yes, computed, product,     none,             no,    none,    yes)           \
  X(xmad,      "XMAD",      int_multiply,     later,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(idp,       "IDP",       int_multiply,     later,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(imnmx,     "IMNMX",     int_minmax,       later,     yes,     one,        none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(vabsdiff,  "VABSDIFF",  int_minmax,       later,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(isetp,     "ISETP",     int_compare,      later,     compare, one_or_two, none,        none,          none,        no,       yes, computed, unknown,     none,             no,    none,    yes)           \
  X(plop3,     "PLOP3",     int_compare,      later,     no,      three,      none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(p2r,       "P2R",       int_add,          first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(r2p,       "R2P",       int_add,          later,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(popc,      "POPC",      bit_count,        first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(flo,       "FLO",       bit_scan,         first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(brev,      "BREV",      bit_scan,         first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(fadd,      "FADD",      fp32_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    one,     yes)           \
  X(fmul,      "FMUL",      fp32_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    one,     yes)           \
  X(ffma,      "FFMA",      fp32_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    fused,   yes)           \
  X(fmnmx,     "FMNMX",     fp32_minmax,      later,     yes,     one,        none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(fsetp,     "FSETP",     fp32_compare,     later,     compare, one,        none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(fset,      "FSET",      fp32_compare,     later,     no,      one,        none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(fchk,      "FCHK",      fp32_compare,     second,    no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(mufu,      "MUFU",      sfu,              first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(assist,    "ASSIST",    sfu,              none,      no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(f2f,       "F2F",       conversion,       first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(f2i,       "F2I",       conversion,       first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(i2f,       "I2F",       conversion,       first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(i2i,       "I2I",       conversion,       first,     no,      none,       none,        none,          none,        no,       no,  moved,    unknown,     none,             no,    none,    yes)           \
  X(frnd,      "FRND",      conversion,       first,     no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(dadd,      "DADD",      fp64_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    one,     yes)           \
  X(dmul,      "DMUL",      fp64_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    one,     yes)           \
  X(dfma,      "DFMA",      fp64_fma,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    fused,   yes)           \
  X(dmnmx,     "DMNMX",     fp64_add,         later,     yes,     one,        none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(dsetp,     "DSETP",     fp64_compare,     later,     compare, one,        none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(hadd2,     "HADD2",     half_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    one,     yes)           \
  X(hmul2,     "HMUL2",     half_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    one,     yes)           \
  X(hfma2,     "HFMA2",     half_add,         later,     yes,     none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    fused,   yes)           \
  X(hmnmx2,    "HMNMX2",    half_add,         later,     yes,     one,        none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(hsetp2,    "HSETP2",    half_compare,     later,     no,      one,        none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(hset2,     "HSET2",     half_compare,     later,     no,      one,        none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(ld,        "LD",        load_store,       none,      no,      none,       none,        load,          if_volatile, no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(st,        "ST",        load_store,       none,      no,      none,       none,        store,         write,       no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(ldgsts,    "LDGSTS",    load_store,       third,     no,      one,        none,        copy,          write,       no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(ldc,       "LDC",       load_store,       none,      no,      none,       none,        constant_load, none,        no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(atom,      "ATOM",      load_store,       none,      no,      none,       none,        atomic,        write,       no,       no,  computed, unknown,     none,             no,    none,    not_arrivals)  \
  X(red,       "RED",       load_store,       none,      no,      none,       none,        reduction,     write,       no,       no,  computed, unknown,     none,             no,    none,    not_arrivals)  \
  X(shfl,      "SHFL",      shuffle,          not_first, no,      none,       none,        none,          none,        source_3, no,  chosen,   unknown,     none,             no,    none,    yes)           \
  X(match,     "MATCH",     shuffle,          second,    no,      none,       none,        none,          none,        source_1, no,  computed, unknown,     none,             no,    none,    yes)           \
  X(redux,     "REDUX",     shuffle,          second,    no,      none,       none,        none,          none,        source_1, no,  computed, unknown,     none,             no,    none,    yes)           \
  X(vote,      "VOTE",      vote,             any,       no,      vote,       none,        none,          none,        source_0, no,  computed, unknown,     none,             no,    none,    yes)           \
  X(movm,      "MOVM",      shuffle,          fourth,    no,      none,       none,        none,          none,        source_3, no,  computed, unknown,     none,             no,    none,    yes)           \
  X(ldsm,      "LDSM",      load_store,       fourth,    no,      none,       none,        matrix_load,   none,        source_3, no,  computed, unknown,     none,             no,    none,    yes)           \
  X(hmma,      "HMMA",      tensor,           fourth,    no,      none,       none,        none,          none,        source_3, no,  computed, unknown,     none,             no,    product, yes)           \
  X(imma,      "IMMA",      tensor,           fourth,    no,      none,       none,        none,          none,        source_3, no,  computed, unknown,     none,             no,    none,    yes)           \
  X(bmma,      "BMMA",      tensor,           fourth,    no,      none,       none,        none,          none,        source_3, no,  computed, unknown,     none,             no,    none,    yes)           \
  X(dmma,      "DMMA",      tensor,           fourth,    no,      none,       none,        none,          none,        source_3, no,  computed, unknown,     none,             no,    product, yes)           \
  X(hgmma,     "HGMMA",     tensor,           fourth,    no,      one,        none,        none,          order,       source_3, no,  computed, unknown,     none,             no,    group,   products)      \
  X(qgmma,     "QGMMA",     tensor,           fourth,    no,      one,        none,        none,          order,       source_3, no,  computed, unknown,     none,             no,    group,   products)      \
  X(igmma,     "IGMMA",     tensor,           fourth,    no,      one,        none,        none,          order,       source_3, no,  computed, unknown,     none,             no,    none,    products)      \
  X(bgmma,     "BGMMA",     tensor,           fourth,    no,      one,        none,        none,          order,       source_3, no,  computed, unknown,     none,             no,    none,    products)      \
  X(tex,       "TEX",       texture,          none,      no,      none,       none,        sample,        none,        no,       no,  computed, unknown,     none,             no,    none,    textures)      \
  X(tld4,      "TLD4",      texture,          none,      no,      none,       none,        sample,        none,        no,       no,  computed, unknown,     none,             no,    none,    textures)      \
  X(suld,      "SULD",      texture,          none,      no,      none,       none,        surface_load,  none,        no,       no,  computed, unknown,     none,             no,    none,    textures)      \
  X(sust,      "SUST",      texture,          none,      no,      none,       none,        surface_store, write,       no,       no,  computed, unknown,     none,             no,    none,    textures)      \
  X(txq,       "TXQ",       shuffle,          none,      no,      none,       none,        none,          none,        no,       no,  computed, unknown,     none,             no,    none,    textures)      \
  X(bra,       "BRA",       branch,           none,      no,      none,       branch,      none,          order,       no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(exit,      "EXIT",      branch,           none,      no,      none,       exit,        none,          order,       no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(bar,       "BAR",       branch,           any,       no,      reduction,  barrier,     none,          order,       no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(ucgabar_arv,  "UCGABAR_ARV",  branch,     none,      no,      none,       barrier,     none,          order,       no,       no,  computed, unknown,     none,             no,    none,    clusters)      \
  X(ucgabar_wait, "UCGABAR_WAIT", branch,     none,      no,      none,       barrier,     none,          order,       no,       no,  computed, unknown,     none,             no,    none,    clusters)      \
  X(syncs,     "SYNCS",     branch,           none,      no,      none,       barrier,     none,          order,       no,       no,  computed, unknown,     none,             no,    none,    mbarriers)     \
  X(acqbulk,   "ACQBULK",   branch,           none,      no,      none,       barrier,     none,          order,       no,       no,  computed, unknown,     none,             no,    none,    launches)      \
  X(preexit,   "PREEXIT",   branch,           none,      no,      none,       barrier,     none,          order,       no,       no,  computed, unknown,     none,             no,    none,    launches)      \
  X(ublkcp,    "UBLKCP",    branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown,     copy,             no,    none,    bulk_copies)   \
  X(ublkred,   "UBLKRED",   branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown,     reduction,        no,    none,    bulk_copies)   \
  X(ublkpf,    "UBLKPF",    branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown,     prefetch,         no,    none,    bulk_copies)   \
  X(utmaldg,   "UTMALDG",   branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown,     tensor_load,      no,    none,    bulk_copies)   \
  X(utmastg,   "UTMASTG",   branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown,     tensor_store,     no,    none,    bulk_copies)   \
  X(utmaredg,  "UTMAREDG",  branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown,     tensor_reduction, no,    none,    bulk_copies)   \
  X(utmapf,    "UTMAPF",    branch,           none,      no,      none,       bulk_copy,   none,          order,       no,       no,  computed, unknown,     tensor_prefetch,  no,    none,    bulk_copies)   \
  X(utmacmdflush, "UTMACMDFLUSH", branch,     none,      no,      none,       copy_commit, none,          order,       no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(membar,    "MEMBAR",    branch,           none,      no,      none,       fence,       none,          order,       no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(ldgdepbar, "LDGDEPBAR", branch,           none,      no,      none,       copy_commit, none,          order,       no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(depbar,    "DEPBAR",    branch,           none,      no,      none,       copy_wait,   none,          order,       no,       no,  computed, unknown,     none,             no,    none,    of_threads)    \
  X(wgarrive,  "WARPGROUP.ARRIVE", branch,    none,      no,      none,       product_fence,  none,       order,       no,       no,  computed, unknown,     none,             no,    none,    products)      \
  X(wgcommit,  "WARPGROUP.COMMIT", branch,    none,      no,      none,       product_commit, none,       order,       no,       no,  computed, unknown,     none,             no,    none,    products)      \
  X(wgdepbar,  "WARPGROUP.DEPBAR", branch,    none,      no,      none,       product_wait,   none,       order,       no,       no,  computed, unknown,     none,             no,    none,    products)      \
  X(setmaxreg, "USETMAXREG", branch,          none,      no,      none,       register_change, none,      order,       no,       no,  computed, unknown,     none,             no,    none,    registers)     \
  X(trap,      "BPT.TRAP",  branch,           none,      no,      none,       trap,        none,          order,       no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(nanosleep, "NANOSLEEP", branch,           first,     no,      none,       sleep,       none,          order,       no,       no,  computed, unknown,     none,             no,    none,    yes)           \
  X(syscall,   "SYSCALL",   branch,           none,      no,      none,       system_call, none,          order,       no,       no,  computed, unknown,     none,             no,    none,    system_calls)
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
  uniform_use uniform;
  result_bits bits;
  alignment_rule alignment;
  bulk_rule bulk;
  multiply_rule multiply;
  flop_rule flops;
  trace_rule trace;
};

/// The properties of each opcode.
inline constexpr opcode_info opcode_table[] = {
#define HEDDLE_X(name, text, cls, constants, exchange, predicates, flow, access, effect, members, uniform, bits, \
                 alignment, bulk, multiply, flops, trace)                                                        \
  {text,                                                                                                         \
   op_class::cls,                                                                                                \
   constant_use::constants,                                                                                      \
   exchange_rule::exchange,                                                                                      \
   predicate_use::predicates,                                                                                    \
   flow_kind::flow,                                                                                              \
   access_kind::access,                                                                                          \
   effect_kind::effect,                                                                                          \
   member_mask::members,                                                                                         \
   uniform_use::uniform,                                                                                         \
   result_bits::bits,                                                                                            \
   alignment_rule::alignment,                                                                                    \
   bulk_rule::bulk,                                                                                              \
   multiply_rule::multiply,                                                                                      \
   flop_rule::flops,                                                                                             \
   trace_rule::trace},
    HEDDLE_OPCODES(HEDDLE_X)
#undef HEDDLE_X
};

/// The properties of an opcode.
constexpr const opcode_info& info(opcode op) { return opcode_table[static_cast<unsigned>(op)]; }

/// Whether the opcode reads memory and writes what follows from that and an operand, with or without a result.
constexpr bool is_atomic(opcode op) {
  return info(op).access == access_kind::atomic || info(op).access == access_kind::reduction;
}
/// Whether the opcode writes its operand to memory or to a surface.
constexpr bool is_store(opcode op) {
  return info(op).access == access_kind::store || info(op).access == access_kind::surface_store;
}
/// Whether the opcode reads a texture, not a surface.
constexpr bool samples_texture(opcode op) { return info(op).access == access_kind::sample; }

/// Whether the opcode's first source is the address of an access to memory, with an offset.
constexpr bool names_address(opcode op) {
  switch (info(op).access) {
    case access_kind::load:
    case access_kind::copy:
    case access_kind::store:
    case access_kind::atomic:
    case access_kind::reduction: return true;
    case access_kind::none:
    case access_kind::matrix_load:
    case access_kind::constant_load:
    case access_kind::sample:
    case access_kind::surface_load:
    case access_kind::surface_store: break;
  }
  return false;
}

}  // namespace heddle::isa
