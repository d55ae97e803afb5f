// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/form_table.h"

// Sets of words shared by several forms.
#define INTEGERS "u16|u32|u64|s16|s32|s64"
#define ALL_INTEGERS "u8|s8|" INTEGERS
#define BITS "b16|b32|b64"
#define WORDS "u32|u64|s32|s64"
#define MEMORY_TYPES "b8|b16|b32|b64|b128|" ALL_INTEGERS "|f32|f64"
#define DATA "b16|b32|b64|" INTEGERS "|f32|f64"
#define ROUND "rn|rz|rm|rp"
#define INTEGER_ROUND "rni|rzi|rmi|rpi"
#define EQUAL "eq|ne"
#define ORDER EQUAL "|lt|le|gt|ge"
#define UNSIGNED_ORDER "lo|ls|hi|hs"
#define FLOAT_ORDER ORDER "|equ|neu|ltu|leu|gtu|geu|num|nan"
#define COMBINED " ?and|or|xor "
#define SHARED "shared|shared::cta|shared::cluster"
#define SPACES "global|local|const|param|param::entry|param::func|" SHARED
#define GENERIC_SPACES "global|local|const|param|param::entry|" SHARED
#define SCOPES "cta|cluster|gpu|sys"
#define L1_HINT " ?L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate "
#define L2_HINT " ?L2::cache_hint "
#define PREFETCH " ?L2::64B|L2::128B|L2::256B "
#define VECTOR " ?v2|v4 "
#define L2_EVICT "L2::evict_normal|L2::evict_first|L2::evict_last ?L2::cache_hint "
// 32-byte accesses to global memory; only these have hints of eviction from L2.
#define WIDE_FORMS(operation, words, prefetch, operands)                       \
  {operation, words " ?" L2_EVICT prefetch "v8 .b32|u32|s32|f32", operands}, { \
    operation, words " " L2_EVICT prefetch "v4 .b64|u64|s64|f64", operands     \
  }
#define ATOMIC " ?" SCOPES " ?global|" SHARED " ?L2::cache_hint "
#define ATOMIC_VECTOR " ?" SCOPES " ?global ?L2::cache_hint "
#define ATOM_ORDER "?relaxed|acquire|release|acq_rel"
#define RED_ORDER "?relaxed|release"
// Forms that atom and red share.
#define ATOMIC_FORMS(operation, order, result, results)                                                 \
  {operation, order ATOMIC "and|or|xor .b32|b64", result "[] t b64^"},                                  \
      {operation, order ATOMIC "inc|dec .u32", result "[] t b64^"},                                     \
      {operation, order ATOMIC "min|max ." WORDS, result "[] t b64^"},                                  \
      {operation, order ATOMIC "add .u32|s32|u64|f32|f64", result "[] t b64^"},                         \
      {operation, order ATOMIC "add noftz .f16|f16x2|bf16|bf16x2", result "[] t b64^"},                 \
      {operation, order ATOMIC_VECTOR "add v2|v4 .f32", results "[] {t} b64^"},                         \
      {operation, order ATOMIC_VECTOR "add|min|max noftz v2|v4|v8 .f16|bf16", results "[] {t} b64^"}, { \
    operation, order ATOMIC_VECTOR "add|min|max noftz v2|v4 .f16x2|bf16x2", results "[] {t} b64^"       \
  }
#define ASYNC_RED "async relaxed cluster ?shared::cluster mbarrier::complete_tx::bytes "
#define SET_RESULT " .u32|s32|f32|f16"

namespace heddle::ptx {

const std::vector<form_row>& form_table() {
  static const std::vector<form_row> table = {
      // Integer arithmetic.
      {"add|sub", "." INTEGERS, "=t t t"},
      {"add|sub", "?sat .s32", "=t t t"},
      {"add|sub", "cc ." WORDS, "=t t t"},
      {"addc|subc", "?cc ." WORDS, "=t t t"},
      {"mul", "lo|hi ." INTEGERS, "=t t t"},
      {"mul", "wide .u16|u32|s16|s32", "=w t t"},
      {"mad", "lo|hi ." INTEGERS, "=t t t t"},
      {"mad", "wide .u16|u32|s16|s32", "=w t t w"},
      {"mad", "hi sat .s32", "=t t t t"},
      {"mad", "lo|hi cc ." WORDS, "=t t t t"},
      {"madc", "lo|hi ?cc ." WORDS, "=t t t t"},
      {"mul24", "lo|hi .u32|s32", "=t t t"},
      {"mad24", "lo|hi .u32|s32", "=t t t t"},
      {"mad24", "hi sat .s32", "=t t t t"},
      {"div|rem|min|max", "." INTEGERS, "=t t t"},
      {"sad", "." INTEGERS, "=t t t t"},
      {"min|max", "relu .s32|s16x2", "=t t t"},
      {"add|min|max", ".u16x2|s16x2", "=t t t"},
      {"abs|neg", ".s16|s32|s64", "=t t"},
      {"dp4a", ".u32|s32 .u32|s32", "=s32 t s s32"},
      {"dp2a", "lo|hi .u32|s32 .u32|s32", "=s32 t s s32"},
      // Bits.
      {"and|or|xor", ".pred|" BITS, "=t t t"},
      {"not", ".pred|" BITS, "=t t"},
      {"cnot", "." BITS, "=t t"},
      {"shl", "." BITS, "=t t u32"},
      {"shr", "." BITS "|" INTEGERS, "=t t u32"},
      {"lop3", ".b32", "=t_ t t t #"},
      {"lop3", "and|or .b32", "=t|pred t t t # pred"},
      {"shf", "l|r clamp|wrap .b32", "=t t t u32"},
      {"bfe", "." WORDS, "=t t u32 u32"},
      {"bfi", ".b32|b64", "=t t t u32 u32"},
      {"popc|clz", ".b32|b64", "=u32 t"},
      {"brev", ".b32|b64", "=t t"},
      {"bfind", "?shiftamt ." WORDS, "=u32 t"},
      {"bmsk", "clamp|wrap .b32", "=u32 u32 u32"},
      {"szext", "clamp|wrap .u32|s32", "=t t u32"},
      {"prmt", ".b32 ?f4e|b4e|rc8|ecl|ecr|rc16", "=t t t t"},
      {"fns", ".b32", "=t t t t"},
      // Floating point. mad without rounding occurs in programs for the first GPUs, where it was mul followed by add.
      {"add|sub|mul", "?" ROUND " ?ftz ?sat .f32", "=t t t"},
      {"add|sub|mul", "?" ROUND " .f64", "=t t t"},
      {"add|sub|mul", "?" ROUND " ?ftz .f32x2", "=t t t"},
      {"add|sub|mul", "?rn ?ftz ?sat .f16|f16x2", "=t t t"},
      {"add|sub|mul", "?rn .bf16|bf16x2", "=t t t"},
      {"mad", "?" ROUND " ?ftz ?sat .f32", "=t t t t"},
      {"fma", ROUND " ?ftz ?sat .f32", "=t t t t"},
      {"fma|mad", ROUND " .f64", "=t t t t"},
      {"fma", ROUND " ?ftz .f32x2", "=t t t t"},
      {"fma", "rn ?ftz ?sat .f16|f16x2", "=t t t t"},
      {"fma", "rn ?ftz relu .f16|f16x2", "=t t t t"},
      {"fma", "rn ?relu .bf16|bf16x2", "=t t t t"},
      {"abs|neg", "?ftz .f32|f16|f16x2", "=t t"},
      {"abs|neg", ".f64|bf16|bf16x2", "=t t"},
      {"min|max", "?ftz ?NaN .f32|f16|f16x2", "=t t t"},
      {"min|max", "?ftz ?NaN xorsign abs .f32|f16|f16x2", "=t t t"},
      {"min|max", "?NaN .bf16|bf16x2", "=t t t"},
      {"min|max", "?NaN xorsign abs .bf16|bf16x2", "=t t t"},
      {"min|max", ".f64", "=t t t"},
      {"div", ROUND "|approx|full ?ftz .f32", "=t t t"},
      {"div", ROUND " .f64", "=t t t"},
      {"sqrt", ROUND " .f64", "=t t"},
      {"rcp", ROUND " ?ftz .f64", "=t t"},
      {"rcp|sqrt", ROUND "|approx ?ftz .f32", "=t t"},
      {"rcp", "approx ftz .f64", "=t t"},
      {"rsqrt", "approx ?ftz .f32|f64", "=t t"},
      {"sin|cos|lg2|ex2", "approx ?ftz .f32", "=t t"},
      {"ex2", "approx .f16|f16x2", "=t t"},
      {"ex2", "approx ftz .bf16|bf16x2", "=t t"},
      {"tanh", "approx .f32|f16|f16x2|bf16|bf16x2", "=t t"},
      {"copysign", ".f32|f64", "=t t t"},
      {"testp", "finite|infinite|number|notanumber|normal|subnormal .f32|f64", "=pred t"},
      // Comparison and selection.
      {"setp", EQUAL COMBINED "." BITS, "=pred_|pred? t t pred&"},
      {"setp", ORDER COMBINED "." INTEGERS, "=pred_|pred? t t pred&"},
      {"setp", UNSIGNED_ORDER COMBINED ".u16|u32|u64", "=pred_|pred? t t pred&"},
      {"setp", FLOAT_ORDER COMBINED "?ftz .f32|f16x2", "=pred_|pred? t t pred&"},
      {"setp", FLOAT_ORDER COMBINED ".f64|bf16x2", "=pred_|pred? t t pred&"},
      {"setp", FLOAT_ORDER COMBINED "?ftz .f16", "=pred_ t t pred&"},
      {"setp", FLOAT_ORDER COMBINED ".bf16", "=pred_ t t pred&"},
      {"set", EQUAL COMBINED SET_RESULT "|bf16 ." BITS, "=d s s pred&"},
      {"set", ORDER COMBINED SET_RESULT "|bf16 ." INTEGERS, "=d s s pred&"},
      {"set", UNSIGNED_ORDER COMBINED SET_RESULT "|bf16 .u16|u32|u64", "=d s s pred&"},
      {"set", FLOAT_ORDER COMBINED "?ftz" SET_RESULT " .f32", "=d s s pred&"},
      {"set", FLOAT_ORDER COMBINED ".bf16 .f32", "=d s s pred&"},
      {"set", FLOAT_ORDER COMBINED SET_RESULT "|bf16 .f64", "=d s s pred&"},
      {"set", FLOAT_ORDER COMBINED "?ftz .u16|s16|u32|s32|f16 .f16", "=d s s pred&"},
      {"set", FLOAT_ORDER COMBINED ".bf16 .f16", "=d s s pred&"},
      {"set", FLOAT_ORDER COMBINED "?ftz .f16x2|u32|s32 .f16x2", "=d s s pred&"},
      {"set", FLOAT_ORDER COMBINED ".u16|s16|u32|s32|bf16 .bf16", "=d s s pred&"},
      {"set", FLOAT_ORDER COMBINED ".bf16x2|u32|s32 .bf16x2", "=d s s pred&"},
      {"selp", "." DATA, "=t t t pred"},
      {"slct", "." DATA " .s32", "=t t t s"},
      {"slct", "?ftz ." DATA " .f32", "=t t t s"},
      // Conversion.
      {"cvt", "." ALL_INTEGERS " ." ALL_INTEGERS, "=t+ s+%"},
      {"cvt", "sat .u8 .s8|" INTEGERS, "=t+ s+%"},  // where the destination type cannot hold all source values
      {"cvt", "sat .s8 .u8|" INTEGERS, "=t+ s+%"},
      {"cvt", "sat .u16 .s8|s16|" WORDS, "=t+ s+%"},
      {"cvt", "sat .s16 .u16|" WORDS, "=t+ s+%"},
      {"cvt", "sat .u32 .s8|s16|s32|u64|s64", "=t+ s+%"},
      {"cvt", "sat .s32 .u32|u64|s64", "=t+ s+%"},
      {"cvt", "sat .u64 .s8|s16|s32|s64", "=t+ s+%"},
      {"cvt", "sat .s64 .u64", "=t+ s+%"},
      {"cvt", INTEGER_ROUND " ?ftz ?sat ." ALL_INTEGERS " .f32", "=t+ s+"},
      {"cvt", INTEGER_ROUND " ?sat ." ALL_INTEGERS " .f16|f64", "=t+ s+"},
      {"cvt", INTEGER_ROUND " ." INTEGERS " .bf16", "=t s"},
      {"cvt", ROUND " ?ftz ?sat .f32 ." ALL_INTEGERS "|f64", "=t+ s+"},
      {"cvt", ROUND " ?sat .f16 ." ALL_INTEGERS "|f64", "=t+ s+"},
      {"cvt", ROUND " ?sat .f64 ." ALL_INTEGERS, "=t+ s+"},
      {"cvt", ROUND " .bf16 ." INTEGERS "|f64", "=t s"},
      {"cvt", ROUND " ?ftz ?sat .f16 .f32", "=t+ s+"},
      {"cvt", ROUND " ?ftz .bf16 .f32", "=t s"},
      {"cvt", "rn|rz ?relu ?satfinite .f16 .f32", "=t+ s+"},
      {"cvt", "rn|rz ?relu ?satfinite .bf16|tf32 .f32", "=t s"},
      {"cvt", "rn|rz ?relu ?satfinite .f16x2 .f32", "=t+ s+ s+"},
      {"cvt", "rn|rz ?relu ?satfinite .bf16x2 .f32", "=t s s"},
      {"cvt", "rna ?satfinite .tf32 .f32", "=t s"},
      {"cvt", "?ftz ?sat .f64 .f32", "=t+ s+"},
      {"cvt", "?ftz ?sat .f32 .f16", "=t+ s+"},
      {"cvt", "?sat .f64 .f16", "=t+ s+"},
      {"cvt", "?" ROUND " ?ftz .f32 .bf16", "=t s"},
      {"cvt", "?" ROUND " .f64|f16 .bf16", "=t s"},
      {"cvt", "?" ROUND " .bf16 .f16", "=t s"},
      {"cvt", "?" INTEGER_ROUND " ?ftz ?sat .f32 .f32", "=t+ s+"},
      {"cvt", "?" INTEGER_ROUND " ?sat .f64 .f64", "=t+ s+"},
      {"cvt", "?" INTEGER_ROUND " ?sat .f16 .f16", "=t+ s+"},
      {"cvt", "?" INTEGER_ROUND " .bf16 .bf16", "=t s"},
      {"cvt", "rn satfinite ?relu .e4m3x2|e5m2x2 .f32", "=t s s"},
      {"cvt", "rn satfinite ?relu .e4m3x2|e5m2x2 .f16x2", "=t s"},
      {"cvt", "rn ?relu .f16x2 .e4m3x2|e5m2x2", "=t s"},
      {"cvt", "pack sat .u16|s16 .s32", "=u32+ s+ s+"},
      {"cvt", "pack sat .u8|s8|u4|s4|u2|s2 .s32 .b32", "=u32+ s+ s+ b32+"},
      // Moves and addresses.
      {"mov", ".pred|b128|" DATA, "=t* t*"},
      {"mov", "v2|v4 ." DATA, "={t} {t}*"},
      {"cvta", GENERIC_SPACES " .u32|u64", "=t t~"},
      {"cvta", "to " GENERIC_SPACES " .u32|u64", "=t t"},
      {"isspacep", GENERIC_SPACES, "=pred a"},
      {"mapa", "?shared::cluster .u32|u64", "=t t~ u32"},
      {"getctarank", "?shared::cluster .u32|u64", "=u32 t~"},
      // Memory.
      {"ld", "?weak ?" SPACES " ?ca|cg|cs|lu|cv" L1_HINT L2_HINT PREFETCH VECTOR "." MEMORY_TYPES, "={t}+ [] b64^"},
      {"ld", "global nc ?ca|cg|cs" L1_HINT L2_HINT PREFETCH VECTOR "." MEMORY_TYPES, "={t}+ [] b64^"},
      {"ld", "relaxed|acquire " SCOPES " ?global|" SHARED L1_HINT L2_HINT PREFETCH VECTOR "." MEMORY_TYPES,
       "={t}+ [] b64^"},
      {"ld", "volatile ?global|" SHARED PREFETCH VECTOR "." MEMORY_TYPES, "={t}+ [] b64^"},
      {"ld", "mmio relaxed sys ?global ." MEMORY_TYPES, "={t}+ [] b64^"},
      WIDE_FORMS("ld", "?weak ?global ?ca|cg|cs|lu|cv" L1_HINT, PREFETCH, "={t}+ [] b64^"),
      WIDE_FORMS("ld", "global nc ?ca|cg|cs" L1_HINT, PREFETCH, "={t}+ [] b64^"),
      WIDE_FORMS("ld", "relaxed|acquire " SCOPES " ?global" L1_HINT, PREFETCH, "={t}+ [] b64^"),
      {"ldu", "?global" VECTOR "." MEMORY_TYPES, "={t}+ [] b64^"},
      {"st", "?weak ?global|local|param|param::func|" SHARED " ?wb|cg|cs|wt" L1_HINT L2_HINT VECTOR "." MEMORY_TYPES,
       "[] {t}+ b64^"},
      {"st", "relaxed|release " SCOPES " ?global|" SHARED L1_HINT L2_HINT VECTOR "." MEMORY_TYPES, "[] {t}+ b64^"},
      {"st", "volatile ?global|" SHARED VECTOR "." MEMORY_TYPES, "[] {t}+ b64^"},
      {"st", "mmio relaxed sys ?global ." MEMORY_TYPES, "[] {t}+ b64^"},
      {"st", "async ?weak ?shared::cluster mbarrier::complete_tx::bytes" VECTOR ".b32|b64|" WORDS "|f32|f64",
       "[] {t} []"},
      WIDE_FORMS("st", "?weak ?global ?wb|cg|cs|wt" L1_HINT, "", "[] {t}+ b64^"),
      WIDE_FORMS("st", "relaxed|release " SCOPES " ?global" L1_HINT, "", "[] {t}+ b64^"),
      {"prefetch", "?global|local L1|L2", "[]"},
      {"prefetch", "?global L2::evict_last|L2::evict_normal", "[]"},
      {"prefetchu", "L1", "[]"},
      {"applypriority", "?global L2::evict_normal", "[] #"},
      {"discard", "?global L2", "[] #"},
      // Atomic operations.
      {"atom", ATOM_ORDER ATOMIC "exch .b32|b64|b128", "=t_ [] t b64^"},
      {"atom", ATOM_ORDER " ?" SCOPES " ?global|" SHARED " cas .b16|b32|b64|b128", "=t_ [] t t"},
      ATOMIC_FORMS("atom", ATOM_ORDER, "=t_ ", "={t}_ "),
      ATOMIC_FORMS("red", RED_ORDER, "", ""),
      {"red", ASYNC_RED "inc|dec .u32", "[] t []"},
      {"red", ASYNC_RED "min|max .u32|s32", "[] t []"},
      {"red", ASYNC_RED "and|or|xor .b32", "[] t []"},
      {"red", ASYNC_RED "add .u32|s32|u64", "[] t []"},
      // Ordering, barriers, operations between the threads of a warp. Without .sync: programs for GPUs before Volta.
      {"fence", "?sc|acq_rel|acquire|release " SCOPES, ""},
      {"fence", "mbarrier_init release cluster", ""},
      {"fence", "acquire sync_restrict::shared::cluster cluster", ""},
      {"fence", "release sync_restrict::shared::cta cluster", ""},
      {"membar", "cta|gl|sys", ""},
      {"fence", "proxy alias|async", ""},
      {"membar", "proxy alias", ""},
      {"fence", "proxy async global|shared::cta|shared::cluster", ""},
      {"bar", "?cta sync", "u32 u32?"},
      {"bar", "?cta arrive", "u32 u32"},
      {"bar", "?cta red popc .u32", "=t u32 pred"},
      {"bar", "?cta red popc .u32", "=t u32 u32 pred"},
      {"bar", "?cta red and|or .pred", "=t u32 pred"},
      {"bar", "?cta red and|or .pred", "=t u32 u32 pred"},
      {"bar", "warp sync", "u32"},
      {"barrier", "?cta sync ?aligned", "u32 u32?"},
      {"barrier", "?cta arrive ?aligned", "u32 u32"},
      {"barrier", "?cta red popc ?aligned .u32", "=t u32 pred"},
      {"barrier", "?cta red popc ?aligned .u32", "=t u32 u32 pred"},
      {"barrier", "?cta red and|or ?aligned .pred", "=t u32 pred"},
      {"barrier", "?cta red and|or ?aligned .pred", "=t u32 u32 pred"},
      {"barrier", "cluster arrive ?release|relaxed ?aligned", ""},
      {"barrier", "cluster wait ?acquire ?aligned", ""},
      {"shfl", "sync up|down|bfly|idx .b32", "=t|pred? t t t u32"},
      {"shfl", "up|down|bfly|idx .b32", "=t|pred? t t t"},
      {"vote", "sync all|any|uni .pred", "=t pred u32"},
      {"vote", "all|any|uni .pred", "=t pred"},
      {"vote", "sync ballot .b32", "=t pred u32"},
      {"vote", "ballot .b32", "=t pred"},
      {"match", "any sync .b32|b64", "=u32 t u32"},
      {"match", "all sync .b32|b64", "=u32_|pred? t u32"},
      {"redux", "sync add|min|max .u32|s32", "=t t u32"},
      {"redux", "sync and|or|xor .b32", "=u32 u32 u32"},
      {"elect", "sync", "=b32|pred u32"},
      {"activemask", ".b32", "=t"},
      {"nanosleep", ".u32", "u32"},
      // Control flow.
      {"bra", "?uni", "label"},
      {"call", "?uni", "..."},
      {"ret", "?uni", ""},
      {"brx", "idx ?uni", "u32 list"},
      {"exit|trap|brkpt", "", ""},
      {"pmevent", "?mask", "#"},
      {"griddepcontrol", "wait|launch_dependents", ""},
      {"alloca", ".u32|u64", "=t t #?"},
      {"stacksave", ".u32|u64", "=t"},
      {"stackrestore", ".u32|u64", "t!"},
  };
  return table;
}

}  // namespace heddle::ptx
