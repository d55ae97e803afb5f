// SPDX-License-Identifier: MIT
#include "frontend/ptx/form_table.h"

// Sets of words that many forms share.
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
#define SCOPES "cta|cluster|gpu|sys"
#define L1_HINT " ?L1::evict_normal|L1::evict_unchanged|L1::evict_first|L1::evict_last|L1::no_allocate "
#define L2_HINTS " ?L2::evict_normal|L2::evict_first|L2::evict_last ?L2::cache_hint "
#define PREFETCH " ?L2::64B|L2::128B|L2::256B "
#define VECTOR " ?v2|v4|v8 "
#define ATOMIC " ?" SCOPES " ?global|" SHARED " ?L2::cache_hint "
#define ATOMIC_VECTOR " ?" SCOPES " ?global ?L2::cache_hint "
#define ATOM_ORDER "?relaxed|acquire|release|acq_rel"
#define RED_ORDER "?relaxed|release"
// What atom and red have in common.
#define ATOMIC_FORMS(operation, order)                                                               \
  {operation, order ATOMIC "and|or|xor .b32|b64"},                                                   \
      {operation, order ATOMIC "inc|dec .u32"},                                                      \
      {operation, order ATOMIC "min|max ." WORDS},                                                   \
      {operation, order ATOMIC "add .u32|s32|u64|f32|f64"},                                          \
      {operation, order ATOMIC "add noftz .f16|f16x2|bf16|bf16x2"},                                  \
      {operation, order ATOMIC_VECTOR "add v2|v4 .f32"},                                             \
      {operation, order ATOMIC_VECTOR "add|min|max noftz v2|v4|v8 .f16|bf16"},                       \
      {operation, order ATOMIC_VECTOR "add|min|max noftz v2|v4 .f16x2|bf16x2"}
#define SET_RESULT " .u32|s32|f32|f16"

namespace heddle::ptx {

const std::vector<form_row>& form_table() {
  static const std::vector<form_row> table = {
      // Integer arithmetic.
      {"add|sub", "." INTEGERS},
      {"add|sub", "?sat .s32"},
      {"add|sub", "cc ." WORDS},
      {"addc|subc", "?cc ." WORDS},
      {"mul", "lo|hi ." INTEGERS},
      {"mul", "wide .u16|u32|s16|s32"},
      {"mad", "lo|hi ." INTEGERS},
      {"mad", "wide .u16|u32|s16|s32"},
      {"mad", "hi sat .s32"},
      {"mad", "lo|hi cc ." WORDS},
      {"madc", "lo|hi ?cc ." WORDS},
      {"mul24|mad24", "lo|hi .u32|s32"},
      {"mad24", "hi sat .s32"},
      {"div|rem|sad|min|max", "." INTEGERS},
      {"min|max", "relu .s32|s16x2"},
      {"add|min|max", ".u16x2|s16x2"},
      {"abs|neg", ".s16|s32|s64"},
      {"dp4a", ".u32|s32 .u32|s32"},
      {"dp2a", "lo|hi .u32|s32 .u32|s32"},
      // Bits.
      {"and|or|xor|not", ".pred|" BITS},
      {"cnot|shl", "." BITS},
      {"shr", "." BITS "|" INTEGERS},
      {"lop3", ".b32"},
      {"lop3", "and|or .b32"},
      {"shf", "l|r clamp|wrap .b32"},
      {"bfe", "." WORDS},
      {"bfi|popc|clz|brev", ".b32|b64"},
      {"bfind", "?shiftamt ." WORDS},
      {"bmsk", "clamp|wrap .b32"},
      {"szext", "clamp|wrap .u32|s32"},
      {"prmt", ".b32 ?f4e|b4e|rc8|ecl|ecr|rc16"},
      {"fns", ".b32"},
      // Floating point. mad without rounding is of programs for the first GPUs, where it was mul and add.
      {"add|sub|mul", "?" ROUND " ?ftz ?sat .f32"},
      {"add|sub|mul", "?" ROUND " .f64"},
      {"add|sub|mul", "?" ROUND " ?ftz .f32x2"},
      {"add|sub|mul", "?rn ?ftz ?sat .f16|f16x2"},
      {"add|sub|mul", "?rn .bf16|bf16x2"},
      {"mad", "?" ROUND " ?ftz ?sat .f32"},
      {"fma", ROUND " ?ftz ?sat .f32"},
      {"fma|mad", ROUND " .f64"},
      {"fma", ROUND " ?ftz .f32x2"},
      {"fma", "rn ?ftz ?sat .f16|f16x2"},
      {"fma", "rn ?ftz relu .f16|f16x2"},
      {"fma", "rn ?relu .bf16|bf16x2"},
      {"abs|neg", "?ftz .f32|f16|f16x2"},
      {"abs|neg", ".f64|bf16|bf16x2"},
      {"min|max", "?ftz ?NaN .f32|f16|f16x2"},
      {"min|max", "?ftz ?NaN xorsign abs .f32|f16|f16x2"},
      {"min|max", "?NaN .bf16|bf16x2"},
      {"min|max", "?NaN xorsign abs .bf16|bf16x2"},
      {"min|max", ".f64"},
      {"div", ROUND "|approx|full ?ftz .f32"},
      {"div|sqrt", ROUND " .f64"},
      {"rcp", ROUND " ?ftz .f64"},
      {"rcp|sqrt", ROUND "|approx ?ftz .f32"},
      {"rcp", "approx ftz .f64"},
      {"rsqrt", "approx ?ftz .f32|f64"},
      {"sin|cos|lg2|ex2", "approx ?ftz .f32"},
      {"ex2", "approx .f16|f16x2"},
      {"ex2", "approx ftz .bf16|bf16x2"},
      {"tanh", "approx .f32|f16|f16x2|bf16|bf16x2"},
      {"copysign", ".f32|f64"},
      {"testp", "finite|infinite|number|notanumber|normal|subnormal .f32|f64"},
      // Comparison and selection.
      {"setp", EQUAL COMBINED "." BITS},
      {"setp", ORDER COMBINED "." INTEGERS},
      {"setp", UNSIGNED_ORDER COMBINED ".u16|u32|u64"},
      {"setp", FLOAT_ORDER COMBINED "?ftz .f32|f16|f16x2"},
      {"setp", FLOAT_ORDER COMBINED ".f64|bf16|bf16x2"},
      {"set", EQUAL COMBINED SET_RESULT "|bf16 ." BITS},
      {"set", ORDER COMBINED SET_RESULT "|bf16 ." INTEGERS},
      {"set", UNSIGNED_ORDER COMBINED SET_RESULT "|bf16 .u16|u32|u64"},
      {"set", FLOAT_ORDER COMBINED "?ftz" SET_RESULT " .f32"},
      {"set", FLOAT_ORDER COMBINED ".bf16 .f32"},
      {"set", FLOAT_ORDER COMBINED SET_RESULT "|bf16 .f64"},
      {"set", FLOAT_ORDER COMBINED "?ftz .u16|s16|u32|s32|f16 .f16"},
      {"set", FLOAT_ORDER COMBINED ".bf16 .f16"},
      {"set", FLOAT_ORDER COMBINED "?ftz .f16x2|u32|s32 .f16x2"},
      {"set", FLOAT_ORDER COMBINED ".u16|s16|u32|s32|bf16 .bf16"},
      {"set", FLOAT_ORDER COMBINED ".bf16x2|u32|s32 .bf16x2"},
      {"selp", "." DATA},
      {"slct", "." DATA " .s32"},
      {"slct", "?ftz ." DATA " .f32"},
      // Conversion.
      {"cvt", "." ALL_INTEGERS " ." ALL_INTEGERS},
      {"cvt", "sat .u8 .s8|" INTEGERS},   // where the type does not hold all values of the other
      {"cvt", "sat .s8 .u8|" INTEGERS},
      {"cvt", "sat .u16 .s8|s16|" WORDS},
      {"cvt", "sat .s16 .u16|" WORDS},
      {"cvt", "sat .u32 .s8|s16|s32|u64|s64"},
      {"cvt", "sat .s32 .u32|u64|s64"},
      {"cvt", "sat .u64 .s8|s16|s32|s64"},
      {"cvt", "sat .s64 .u64"},
      {"cvt", INTEGER_ROUND " ?ftz ?sat ." ALL_INTEGERS " .f32"},
      {"cvt", INTEGER_ROUND " ?sat ." ALL_INTEGERS " .f16|f64"},
      {"cvt", INTEGER_ROUND " ." INTEGERS " .bf16"},
      {"cvt", ROUND " ?ftz ?sat .f32 ." ALL_INTEGERS "|f64"},
      {"cvt", ROUND " ?sat .f16 ." ALL_INTEGERS "|f64"},
      {"cvt", ROUND " ?sat .f64 ." ALL_INTEGERS},
      {"cvt", ROUND " .bf16 ." INTEGERS "|f64"},
      {"cvt", ROUND " ?ftz ?sat .f16 .f32"},
      {"cvt", ROUND " ?ftz .bf16 .f32"},
      {"cvt", "rn|rz ?relu ?satfinite .f16|bf16|f16x2|bf16x2|tf32 .f32"},
      {"cvt", "rna ?satfinite .tf32 .f32"},
      {"cvt", "?ftz ?sat .f64 .f32"},
      {"cvt", "?ftz ?sat .f32 .f16"},
      {"cvt", "?sat .f64 .f16"},
      {"cvt", "?" ROUND " ?ftz .f32 .bf16"},
      {"cvt", "?" ROUND " .f64|f16 .bf16"},
      {"cvt", "?" ROUND " .bf16 .f16"},
      {"cvt", "?" INTEGER_ROUND " ?ftz ?sat .f32 .f32"},
      {"cvt", "?" INTEGER_ROUND " ?sat .f64 .f64"},
      {"cvt", "?" INTEGER_ROUND " ?sat .f16 .f16"},
      {"cvt", "?" INTEGER_ROUND " .bf16 .bf16"},
      {"cvt", "rn satfinite ?relu .e4m3x2|e5m2x2 .f32|f16x2"},
      {"cvt", "rn ?relu .f16x2 .e4m3x2|e5m2x2"},
      {"cvt", "pack sat .u16|s16 .s32"},
      {"cvt", "pack sat .u8|s8|u4|s4|u2|s2 .s32 .b32"},
      // Moves and addresses.
      {"mov", ".pred|b128|" DATA},
      {"mov", "v2|v4 ." DATA},
      {"cvta", "?to " SPACES " .u32|u64"},
      {"isspacep", SPACES},
      {"mapa|getctarank", "?shared::cluster .u32|u64"},
      // Memory.
      {"ld", "?weak ?" SPACES " ?ca|cg|cs|lu|cv" L1_HINT L2_HINTS PREFETCH "?unified" VECTOR "." MEMORY_TYPES},
      {"ld", "?weak global nc ?ca|cg|cs" L1_HINT L2_HINTS PREFETCH "?unified" VECTOR "." MEMORY_TYPES},
      {"ld", "relaxed|acquire " SCOPES " ?global|" SHARED L1_HINT L2_HINTS PREFETCH VECTOR "." MEMORY_TYPES},
      {"ld", "volatile ?" SPACES PREFETCH VECTOR "." MEMORY_TYPES},
      {"ld", "mmio relaxed sys ?global ." MEMORY_TYPES},
      {"ldu", "?global ?L2::cache_hint" PREFETCH VECTOR "." MEMORY_TYPES},
      {"st", "?weak ?global|local|param|param::func|" SHARED " ?wb|cg|cs|wt" L1_HINT L2_HINTS VECTOR "." MEMORY_TYPES},
      {"st", "relaxed|release " SCOPES " ?global|" SHARED L1_HINT L2_HINTS VECTOR "." MEMORY_TYPES},
      {"st", "volatile ?global|local|" SHARED VECTOR "." MEMORY_TYPES},
      {"st", "mmio relaxed sys ?global ." MEMORY_TYPES},
      {"prefetch", "?global|local L1|L2"},
      {"prefetch", "?global L2::evict_last|L2::evict_normal"},
      {"prefetchu", "L1"},
      {"applypriority", "?global L2::evict_normal"},
      {"discard", "?global L2"},
      // Atomic operations.
      {"atom", ATOM_ORDER ATOMIC "exch .b32|b64"},
      {"atom", ATOM_ORDER ATOMIC "cas .b16|b32|b64"},
      ATOMIC_FORMS("atom", ATOM_ORDER),
      ATOMIC_FORMS("red", RED_ORDER),
      // Order, barriers, the threads of a warp. Without .sync: programs for GPUs before Volta.
      {"fence", "?sc|acq_rel|acquire|release " SCOPES},
      {"fence", "mbarrier_init release cluster"},
      {"membar", "cta|gl|sys"},
      {"fence|membar", "proxy alias|async"},
      {"fence|membar", "proxy async global|shared::cta|shared::cluster"},
      {"bar", "?cta sync|arrive"},
      {"bar", "?cta red popc .u32"},
      {"bar", "?cta red and|or .pred"},
      {"bar", "warp sync"},
      {"barrier", "?cta sync|arrive ?aligned"},
      {"barrier", "?cta red popc ?aligned .u32"},
      {"barrier", "?cta red and|or ?aligned .pred"},
      {"shfl", "?sync up|down|bfly|idx .b32"},
      {"vote", "?sync all|any|uni .pred"},
      {"vote", "?sync ballot .b32"},
      {"match", "all|any sync .b32|b64"},
      {"redux", "sync add|min|max .u32|s32"},
      {"redux", "sync and|or|xor .b32"},
      {"elect", "sync"},
      {"activemask", ".b32"},
      {"nanosleep", ".u32"},
      // Control flow.
      {"bra|call|ret", "?uni"},
      {"brx", "idx ?uni"},
      {"exit|trap|brkpt", ""},
      {"pmevent", "?mask"},
      {"griddepcontrol", "wait|launch_dependents"},
      {"alloca|stacksave|stackrestore", ".u32|u64"},
  };
  return table;
}

}  // namespace heddle::ptx
