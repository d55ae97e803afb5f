// SPDX-License-Identifier: MIT
// The PTX instructions that the lowering supports, one row each with every property that does not depend on operands.
#pragma once

#include <cstdint>
#include <string_view>

namespace heddle::ptx {

/// Groups of modifiers that an instruction accepts.
namespace word_group {
enum : std::uint32_t {
  no_words = 0,
  round = 1u << 0,           // .rn, .rz, ...
  ftz = 1u << 1,             // .ftz
  sat = 1u << 2,             // .sat
  approx = 1u << 3,          // .approx, .full
  part = 1u << 4,            // .lo, .hi, .wide
  compare = 1u << 5,         // .eq, .lt, ...
  boolean = 1u << 6,         // .and, .or, .xor, to combine with a predicate
  space = 1u << 7,           // .global, .shared, ...
  cache = 1u << 8,           // .ca, .cg, .nc, ...
  vector = 1u << 9,          // .v2, .v4
  order = 1u << 10,          // .relaxed, .gpu, ...
  nan = 1u << 11,            // .NaN
  carry = 1u << 12,          // .cc
  sync = 1u << 13,           // .sync
  integer_round = 1u << 14,  // .rni, ...
  atomic = 1u << 15,         // .add, .cas, ...
  own = 1u << 16,            // words of this instruction alone
  to = 1u << 17,             // .to
  uni = 1u << 18,            // .uni
  relu = 1u << 19,           // .relu
  arithmetic = round | ftz | sat
};
}  // namespace word_group

/// Operands: a destination and sources, sources only, none, or what the instruction's own decoder takes.
enum class operand_use : std::uint8_t { result, no_result, none, own };

/// When an instruction is needed although nothing reads its result. by_use: if it writes the carry flag, which is not
/// tracked. if_store: a wmma.store. if_strong: a volatile or ordered load. if_clock: S2R of a clock.
enum class needed_kind : std::uint8_t { by_use, always, if_store, if_strong, if_clock };

/// Whether a loop with it is not unrolled: lanes must reconverge at it, it orders memory, or it leaves for the system.
/// if_warp: a barrier of a warp, or with a reduction. if_call: a branch that comes back.
enum class alone_kind : std::uint8_t { no, yes, if_warp, if_call };

/// Instructions that the same object translates: in resolve/family those of several families go to one object, in
/// select to one of a few. part: created by the lowering. difference: video instructions that chips have, too.
enum class op_family : std::uint8_t {
  arithmetic,
  bits,
  compare,
  function,
  warp,
  barrier,
  memory,
  fence,
  address,
  move,
  flow,
  call,
  system,
  hint,
  matrix,
  texture,
  video,
  difference,
  copy,
  arrival,
  stack,
  search,
  part
};

// clang-format off
/// X(enumerator, PTX name, family, words, types, sources, operands, needed, guardable, commutes, alone); the columns are the
/// members of ptx_op_info. An empty name is an instruction that the lowering itself creates.
#define HEDDLE_PTX_OPS(X)  \
  X(abs,            "abs",            arithmetic, ftz,                                      1, 1, result,    by_use,    yes, no,  no)      \
  X(activemask,     "activemask",     warp,       no_words,                                 1, 0, result,    by_use,    no,  no,  no)      \
  X(add,            "add",            arithmetic, arithmetic | carry,                       1, 2, result,    by_use,    yes, yes, no)      \
  X(addc,           "addc",           arithmetic, carry,                                    1, 2, result,    always,    no,  no,  no)      \
  X(and_,           "and",            bits,       no_words,                                 1, 2, result,    by_use,    yes, yes, no)      \
  X(atom,           "atom",           memory,     space | order | atomic | vector,          1, 1, own,       always,    no,  no,  no)      \
  X(bar,            "bar",            barrier,    sync | own,                               1, 1, own,       always,    no,  no,  if_warp) \
  X(barrier,        "barrier",        barrier,    sync | own,                               1, 1, own,       always,    no,  no,  if_warp) \
  X(bfe,            "bfe",            bits,       no_words,                                 1, 3, result,    by_use,    yes, no,  no)      \
  X(bfi,            "bfi",            bits,       no_words,                                 1, 4, result,    by_use,    yes, no,  no)      \
  X(bfind,          "bfind",          bits,       own,                                      1, 1, result,    by_use,    no,  no,  no)      \
  X(bmsk,           "bmsk",           bits,       own,                                      1, 2, result,    by_use,    no,  no,  no)      \
  X(bra,            "bra",            flow,       uni,                                      0, 1, own,       always,    no,  no,  if_call) \
  X(brev,           "brev",           bits,       no_words,                                 1, 1, result,    by_use,    yes, no,  no)      \
  X(brx,            "brx",            flow,       uni,                                      0, 1, own,       by_use,    no,  no,  no)      \
  X(call,           "call",           call,       uni,                                      0, 1, own,       by_use,    no,  no,  no)      \
  X(clz,            "clz",            bits,       no_words,                                 1, 1, result,    by_use,    yes, no,  no)      \
  X(cnot,           "cnot",           bits,       no_words,                                 1, 1, result,    by_use,    no,  no,  no)      \
  X(copysign,       "copysign",       arithmetic, no_words,                                 1, 2, result,    by_use,    no,  no,  no)      \
  X(cos,            "cos",            function,   ftz | approx,                             1, 1, result,    by_use,    no,  no,  no)      \
  X(cvt,            "cvt",            arithmetic, round | integer_round | ftz | sat | relu, 2, 1, result,    by_use,    yes, no,  no)      \
  X(cvta,           "cvta",           address,    space | to,                               1, 1, result,    by_use,    no,  no,  no)      \
  X(div,            "div",            arithmetic, round | ftz | approx,                     1, 2, result,    by_use,    no,  no,  no)      \
  X(dp2a,           "dp2a",           arithmetic, part,                                     2, 3, result,    by_use,    no,  no,  no)      \
  X(dp4a,           "dp4a",           arithmetic, no_words,                                 2, 3, result,    by_use,    no,  no,  no)      \
  X(ex2,            "ex2",            function,   ftz | approx,                             1, 1, result,    by_use,    no,  no,  no)      \
  X(exit,           "exit",           flow,       no_words,                                 0, 0, none,      always,    no,  no,  no)      \
  X(fence,          "fence",          fence,      order | own,                              0, 0, none,      always,    no,  no,  yes)     \
  X(fma,            "fma",            arithmetic, arithmetic | relu,                        1, 3, result,    by_use,    yes, yes, no)      \
  X(isspacep,       "isspacep",       address,    space,                                    0, 1, result,    by_use,    no,  no,  no)      \
  X(wmma,           "wmma",           matrix,     no_words,                                 1, 1, own,       if_store,  no,  no,  no)      \
  X(mma,            "mma",            matrix,     no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(ldmatrix,       "ldmatrix",       matrix,     no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(stmatrix,       "stmatrix",       matrix,     no_words,                                 1, 1, own,       always,    no,  no,  no)      \
  X(movmatrix,      "movmatrix",      matrix,     no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(wgmma,          "wgmma",          matrix,     no_words,                                 0, 1, own,       always,    no,  no,  yes)     \
  X(setmaxnreg,     "setmaxnreg",     matrix,     no_words,                                 0, 1, own,       always,    no,  no,  yes)     \
  X(tex,            "tex",            texture,    no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(tld4,           "tld4",           texture,    no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(suld,           "suld",           texture,    no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(sust,           "sust",           texture,    no_words,                                 1, 1, own,       always,    no,  no,  no)      \
  X(txq,            "txq",            texture,    no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(suq,            "suq",            texture,    no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(ld,             "ld",             memory,     space | cache | vector | order,           1, 1, own,       if_strong, no,  no,  no)      \
  X(ldu,            "ldu",            memory,     space | cache | vector | order,           1, 1, own,       by_use,    no,  no,  no)      \
  X(lg2,            "lg2",            function,   ftz | approx,                             1, 1, result,    by_use,    no,  no,  no)      \
  X(lop3,           "lop3",           bits,       own,                                      1, 4, result,    by_use,    yes, no,  no)      \
  X(mad,            "mad",            arithmetic, arithmetic | part | carry,                1, 3, result,    by_use,    yes, yes, no)      \
  X(mad24,          "mad24",          arithmetic, part | sat,                               1, 3, result,    by_use,    no,  yes, no)      \
  X(madc,           "madc",           arithmetic, part | carry,                             1, 3, result,    always,    no,  no,  no)      \
  X(match,          "match",          warp,       sync | own,                               1, 2, result,    by_use,    no,  no,  yes)     \
  X(max,            "max",            arithmetic, ftz | nan | relu | own,                   1, 2, result,    by_use,    yes, yes, no)      \
  X(membar,         "membar",         fence,      order | own,                              0, 0, none,      always,    no,  no,  yes)     \
  X(min,            "min",            arithmetic, ftz | nan | relu | own,                   1, 2, result,    by_use,    yes, yes, no)      \
  X(mov,            "mov",            move,       vector,                                   1, 1, own,       by_use,    yes, no,  no)      \
  X(mul,            "mul",            arithmetic, arithmetic | part,                        1, 2, result,    by_use,    yes, yes, no)      \
  X(mul24,          "mul24",          arithmetic, part | sat,                               1, 2, result,    by_use,    no,  yes, no)      \
  X(nanosleep,      "nanosleep",      system,     no_words,                                 1, 1, no_result, always,    no,  no,  no)      \
  X(neg,            "neg",            arithmetic, ftz,                                      1, 1, result,    by_use,    yes, no,  no)      \
  X(not_,           "not",            bits,       no_words,                                 1, 1, result,    by_use,    yes, no,  no)      \
  X(or_,            "or",             bits,       no_words,                                 1, 2, result,    by_use,    yes, yes, no)      \
  X(pmevent,        "pmevent",        system,     own,                                      0, 1, no_result, always,    no,  no,  no)      \
  X(popc,           "popc",           bits,       no_words,                                 1, 1, result,    by_use,    yes, no,  no)      \
  X(prefetch,       "prefetch",       hint,       space | own,                              0, 1, no_result, by_use,    no,  no,  no)      \
  X(prefetchu,      "prefetchu",      hint,       space | own,                              0, 1, no_result, by_use,    no,  no,  no)      \
  X(prmt,           "prmt",           bits,       own,                                      1, 3, result,    by_use,    yes, no,  no)      \
  X(rcp,            "rcp",            arithmetic, round | ftz | approx,                     1, 1, result,    by_use,    no,  no,  no)      \
  X(red,            "red",            memory,     space | order | atomic | vector,          1, 1, own,       always,    no,  no,  no)      \
  X(redux,          "redux",          warp,       sync | own,                               1, 2, result,    by_use,    no,  no,  yes)     \
  X(rem,            "rem",            arithmetic, no_words,                                 1, 2, result,    by_use,    no,  no,  no)      \
  X(ret,            "ret",            flow,       uni,                                      0, 1, none,      by_use,    no,  no,  no)      \
  X(rsqrt,          "rsqrt",          function,   round | ftz | approx,                     1, 1, result,    by_use,    no,  no,  no)      \
  X(sad,            "sad",            arithmetic, no_words,                                 1, 3, result,    by_use,    no,  no,  no)      \
  X(selp,           "selp",           compare,    no_words,                                 1, 3, result,    by_use,    yes, no,  no)      \
  X(set,            "set",            compare,    ftz | compare | boolean,                  2, 2, result,    by_use,    no,  no,  no)      \
  X(setp,           "setp",           compare,    ftz | compare | boolean,                  1, 2, result,    by_use,    yes, no,  no)      \
  X(shf,            "shf",            bits,       own,                                      1, 3, result,    by_use,    yes, no,  no)      \
  X(shfl,           "shfl",           warp,       sync | own,                               1, 3, result,    by_use,    no,  no,  yes)     \
  X(shl,            "shl",            bits,       no_words,                                 1, 2, result,    by_use,    yes, no,  no)      \
  X(shr,            "shr",            bits,       no_words,                                 1, 2, result,    by_use,    yes, no,  no)      \
  X(sin,            "sin",            function,   ftz | approx,                             1, 1, result,    by_use,    no,  no,  no)      \
  X(slct,           "slct",           compare,    ftz,                                      2, 3, result,    by_use,    no,  no,  no)      \
  X(sqrt,           "sqrt",           arithmetic, round | ftz | approx,                     1, 1, result,    by_use,    no,  no,  no)      \
  X(st,             "st",             memory,     space | cache | vector | order,           1, 1, own,       always,    no,  no,  no)      \
  X(sub,            "sub",            arithmetic, arithmetic | carry,                       1, 2, result,    by_use,    yes, no,  no)      \
  X(subc,           "subc",           arithmetic, carry,                                    1, 2, result,    always,    no,  no,  no)      \
  X(tanh,           "tanh",           function,   ftz | approx,                             1, 1, result,    by_use,    no,  no,  no)      \
  X(testp,          "testp",          arithmetic, own,                                      1, 1, result,    by_use,    no,  no,  no)      \
  X(trap,           "trap",           system,     no_words,                                 0, 0, none,      always,    no,  no,  no)      \
  X(vote,           "vote",           warp,       sync | own,                               1, 1, result,    by_use,    no,  no,  yes)     \
  X(xor_,           "xor",            bits,       no_words,                                 1, 2, result,    by_use,    yes, yes, no)      \
  X(szext,          "szext",          bits,       own,                                      1, 2, result,    by_use,    no,  no,  no)      \
  X(s2r,            "",               part,       no_words,                                 1, 0, own,       if_clock,  no,  no,  no)      \
  X(cp,             "cp",             copy,       space | cache | own,                      0, 1, own,       always,    no,  no,  no)      \
  X(tensormap,      "tensormap",      copy,       space | order | sync | own,                1, 1, own,       always,    no,  no,  yes)     \
  X(applypriority,  "applypriority",  hint,       space | own,                              0, 1, result,    by_use,    no,  no,  no)      \
  X(createpolicy,   "createpolicy",   hint,       own,                                      1, 1, result,    by_use,    no,  no,  no)      \
  X(discard,        "discard",        hint,       space | own,                              0, 1, result,    by_use,    no,  no,  no)      \
  X(griddepcontrol, "griddepcontrol", barrier,    own,                                      0, 0, none,      always,    no,  no,  yes)     \
  X(vabsdiff2,      "vabsdiff2",      difference, sat | own,                                3, 2, result,    by_use,    no,  no,  no)      \
  X(vabsdiff4,      "vabsdiff4",      difference, sat | own,                                3, 2, result,    by_use,    no,  no,  no)      \
  X(elect,          "elect",          warp,       sync,                                     0, 1, result,    by_use,    no,  no,  yes)     \
  X(mbarrier,       "mbarrier",       arrival,    space | order | own,                      1, 1, own,       always,    no,  no,  no)      \
  X(alloca_,        "alloca",         stack,      no_words,                                 1, 1, own,       by_use,    no,  no,  yes)     \
  X(stacksave,      "stacksave",      stack,      no_words,                                 1, 1, own,       by_use,    no,  no,  yes)     \
  X(stackrestore,   "stackrestore",   stack,      no_words,                                 1, 1, own,       by_use,    no,  no,  yes)     \
  X(save,           "",               part,       no_words,                                 1, 1, own,       by_use,    no,  no,  yes)     \
  X(restore,        "",               part,       no_words,                                 1, 1, own,       by_use,    no,  no,  yes)     \
  X(system_call,    "",               system,     no_words,                                 1, 1, own,       always,    no,  no,  yes)     \
  X(pack,           "",               part,       no_words,                                 1, 1, own,       by_use,    yes, no,  no)      \
  X(unpack,         "",               part,       no_words,                                 1, 1, own,       by_use,    yes, no,  no)      \
  X(brkpt,          "brkpt",          system,     no_words,                                 0, 1, result,    by_use,    no,  no,  no)      \
  X(fns,            "fns",            search,     no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(mapa,           "mapa",           address,    space,                                    1, 1, own,       by_use,    no,  no,  no)      \
  X(getctarank,     "getctarank",     address,    space,                                    1, 1, own,       by_use,    no,  no,  no)      \
  X(vadd,           "vadd",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vadd2,          "vadd2",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vadd4,          "vadd4",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vavrg2,         "vavrg2",         video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vavrg4,         "vavrg4",         video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vmad,           "vmad",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vmax,           "vmax",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vmax2,          "vmax2",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vmax4,          "vmax4",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vmin,           "vmin",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vmin2,          "vmin2",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vmin4,          "vmin4",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vset,           "vset",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vset2,          "vset2",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vset4,          "vset4",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vshl,           "vshl",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vshr,           "vshr",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vsub,           "vsub",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vsub2,          "vsub2",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vsub4,          "vsub4",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(vabsdiff,       "vabsdiff",       video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no)
// clang-format on

enum class ptx_op : std::uint8_t {
#define HEDDLE_X(name, ...) name,
  HEDDLE_PTX_OPS(HEDDLE_X)
#undef HEDDLE_X
      count
};

constexpr ptx_op unknown_op = ptx_op::count;  // of a word that names no instruction

struct ptx_op_info {
  const char* name;
  op_family family;
  std::uint32_t words;   // sum of word_group
  std::uint8_t types;    // how many the instruction may have
  std::uint8_t sources;  // the least number, of an instruction without its own decoder
  operand_use operands;
  needed_kind needed;
  bool guardable;  // may take a guard in place of a branch around it
  bool commutes;   // the first two sources may change places
  alone_kind alone;
};
const ptx_op_info& info(ptx_op op);

/// The operation that a PTX instruction's first word names; unknown_op: none.
ptx_op find_op(std::string_view word);

}  // namespace heddle::ptx
