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

/// Sources beyond the least number: none, one, one if the result is combined with a predicate, or one if two floats are
/// packed into a register.
enum class more_sources : std::uint8_t { none, one, combined, packed };

/// The type of a source: the first of the instruction's types, the second, the second for the third source alone, or a
/// predicate for that.
enum class source_typing : std::uint8_t { own, second, third_second, third_predicate };

/// What is simplified where sources are known: the operation of two integers; a multiply-add; a conversion; an address
/// to which a constant is added, of a matrix for some chips only, or both of a copy.
enum class fold_rule : std::uint8_t {
  none,
  sum,
  difference,
  product,
  conjunction,
  disjunction,
  exclusive,
  left_shift,
  right_shift,
  multiply_add,
  conversion,
  address,
  matrix_address,
  copy
};

// clang-format off
/// X(enumerator, PTX name, family, words, types, sources, operands, needed, guardable, commutes, alone, more, typed, fold);
/// the columns are the members of ptx_op_info. An empty name is an instruction that the lowering itself creates.
#define HEDDLE_PTX_OPS(X)  \
  X(abs,            "abs",            arithmetic, ftz,                                      1, 1, result,    by_use,    yes, no,  no,      none,     own,             none)           \
  X(activemask,     "activemask",     warp,       no_words,                                 1, 0, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(add,            "add",            arithmetic, arithmetic | carry,                       1, 2, result,    by_use,    yes, yes, no,      none,     own,             sum)            \
  X(addc,           "addc",           arithmetic, carry,                                    1, 2, result,    always,    no,  no,  no,      none,     own,             none)           \
  X(and_,           "and",            bits,       no_words,                                 1, 2, result,    by_use,    yes, yes, no,      none,     own,             conjunction)    \
  X(atom,           "atom",           memory,     space | order | atomic | vector,          1, 1, own,       always,    no,  no,  no,      none,     own,             address)        \
  X(bar,            "bar",            barrier,    sync | own,                               1, 1, own,       always,    no,  no,  if_warp, none,     own,             none)           \
  X(barrier,        "barrier",        barrier,    sync | own,                               1, 1, own,       always,    no,  no,  if_warp, none,     own,             none)           \
  X(bfe,            "bfe",            bits,       no_words,                                 1, 3, result,    by_use,    yes, no,  no,      none,     own,             none)           \
  X(bfi,            "bfi",            bits,       no_words,                                 1, 4, result,    by_use,    yes, no,  no,      none,     own,             none)           \
  X(bfind,          "bfind",          bits,       own,                                      1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(bmsk,           "bmsk",           bits,       own,                                      1, 2, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(bra,            "bra",            flow,       uni,                                      0, 1, own,       always,    no,  no,  if_call, none,     own,             none)           \
  X(brev,           "brev",           bits,       no_words,                                 1, 1, result,    by_use,    yes, no,  no,      none,     own,             none)           \
  X(brx,            "brx",            flow,       uni,                                      0, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(call,           "call",           call,       uni,                                      0, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(clz,            "clz",            bits,       no_words,                                 1, 1, result,    by_use,    yes, no,  no,      none,     own,             none)           \
  X(cnot,           "cnot",           bits,       no_words,                                 1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(copysign,       "copysign",       arithmetic, no_words,                                 1, 2, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(cos,            "cos",            function,   ftz | approx,                             1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(cvt,            "cvt",            arithmetic, round | integer_round | ftz | sat | relu, 2, 1, result,    by_use,    yes, no,  no,      packed,   second,          conversion)     \
  X(cvta,           "cvta",           address,    space | to,                               1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(div,            "div",            arithmetic, round | ftz | approx,                     1, 2, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(dp2a,           "dp2a",           arithmetic, part,                                     2, 3, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(dp4a,           "dp4a",           arithmetic, no_words,                                 2, 3, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(ex2,            "ex2",            function,   ftz | approx,                             1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(exit,           "exit",           flow,       no_words,                                 0, 0, none,      always,    no,  no,  no,      none,     own,             none)           \
  X(fence,          "fence",          fence,      order | own,                              0, 0, none,      always,    no,  no,  yes,     none,     own,             none)           \
  X(fma,            "fma",            arithmetic, arithmetic | relu,                        1, 3, result,    by_use,    yes, yes, no,      none,     own,             none)           \
  X(isspacep,       "isspacep",       address,    space,                                    0, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(wmma,           "wmma",           matrix,     no_words,                                 1, 1, own,       if_store,  no,  no,  no,      none,     own,             matrix_address) \
  X(mma,            "mma",            matrix,     no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(ldmatrix,       "ldmatrix",       matrix,     no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             address)        \
  X(stmatrix,       "stmatrix",       matrix,     no_words,                                 1, 1, own,       always,    no,  no,  no,      none,     own,             none)           \
  X(movmatrix,      "movmatrix",      matrix,     no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(wgmma,          "wgmma",          matrix,     no_words,                                 0, 1, own,       always,    no,  no,  yes,     none,     own,             none)           \
  X(setmaxnreg,     "setmaxnreg",     matrix,     no_words,                                 0, 1, own,       always,    no,  no,  yes,     none,     own,             none)           \
  X(tex,            "tex",            texture,    no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(tld4,           "tld4",           texture,    no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(suld,           "suld",           texture,    no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(sust,           "sust",           texture,    no_words,                                 1, 1, own,       always,    no,  no,  no,      none,     own,             none)           \
  X(txq,            "txq",            texture,    no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(suq,            "suq",            texture,    no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(ld,             "ld",             memory,     space | cache | vector | order,           1, 1, own,       if_strong, no,  no,  no,      none,     own,             address)        \
  X(ldu,            "ldu",            memory,     space | cache | vector | order,           1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(lg2,            "lg2",            function,   ftz | approx,                             1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(lop3,           "lop3",           bits,       own,                                      1, 4, result,    by_use,    yes, no,  no,      combined, own,             none)           \
  X(mad,            "mad",            arithmetic, arithmetic | part | carry,                1, 3, result,    by_use,    yes, yes, no,      none,     own,             multiply_add)   \
  X(mad24,          "mad24",          arithmetic, part | sat,                               1, 3, result,    by_use,    no,  yes, no,      none,     own,             none)           \
  X(madc,           "madc",           arithmetic, part | carry,                             1, 3, result,    always,    no,  no,  no,      none,     own,             none)           \
  X(match,          "match",          warp,       sync | own,                               1, 2, result,    by_use,    no,  no,  yes,     none,     own,             none)           \
  X(max,            "max",            arithmetic, ftz | nan | relu | own,                   1, 2, result,    by_use,    yes, yes, no,      none,     own,             none)           \
  X(membar,         "membar",         fence,      order | own,                              0, 0, none,      always,    no,  no,  yes,     none,     own,             none)           \
  X(min,            "min",            arithmetic, ftz | nan | relu | own,                   1, 2, result,    by_use,    yes, yes, no,      none,     own,             none)           \
  X(mov,            "mov",            move,       vector,                                   1, 1, own,       by_use,    yes, no,  no,      none,     own,             none)           \
  X(mul,            "mul",            arithmetic, arithmetic | part,                        1, 2, result,    by_use,    yes, yes, no,      none,     own,             product)        \
  X(mul24,          "mul24",          arithmetic, part | sat,                               1, 2, result,    by_use,    no,  yes, no,      none,     own,             none)           \
  X(nanosleep,      "nanosleep",      system,     no_words,                                 1, 1, no_result, always,    no,  no,  no,      none,     own,             none)           \
  X(neg,            "neg",            arithmetic, ftz,                                      1, 1, result,    by_use,    yes, no,  no,      none,     own,             none)           \
  X(not_,           "not",            bits,       no_words,                                 1, 1, result,    by_use,    yes, no,  no,      none,     own,             none)           \
  X(or_,            "or",             bits,       no_words,                                 1, 2, result,    by_use,    yes, yes, no,      none,     own,             disjunction)    \
  X(pmevent,        "pmevent",        system,     own,                                      0, 1, no_result, always,    no,  no,  no,      none,     own,             none)           \
  X(popc,           "popc",           bits,       no_words,                                 1, 1, result,    by_use,    yes, no,  no,      none,     own,             none)           \
  X(prefetch,       "prefetch",       hint,       space | own,                              0, 1, no_result, by_use,    no,  no,  no,      none,     own,             none)           \
  X(prefetchu,      "prefetchu",      hint,       space | own,                              0, 1, no_result, by_use,    no,  no,  no,      none,     own,             none)           \
  X(prmt,           "prmt",           bits,       own,                                      1, 3, result,    by_use,    yes, no,  no,      none,     own,             none)           \
  X(rcp,            "rcp",            arithmetic, round | ftz | approx,                     1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(red,            "red",            memory,     space | order | atomic | vector,          1, 1, own,       always,    no,  no,  no,      none,     own,             address)        \
  X(redux,          "redux",          warp,       sync | own,                               1, 2, result,    by_use,    no,  no,  yes,     none,     own,             none)           \
  X(rem,            "rem",            arithmetic, no_words,                                 1, 2, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(ret,            "ret",            flow,       uni,                                      0, 1, none,      by_use,    no,  no,  no,      none,     own,             none)           \
  X(rsqrt,          "rsqrt",          function,   round | ftz | approx,                     1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(sad,            "sad",            arithmetic, no_words,                                 1, 3, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(selp,           "selp",           compare,    no_words,                                 1, 3, result,    by_use,    yes, no,  no,      none,     third_predicate, none)           \
  X(set,            "set",            compare,    ftz | compare | boolean,                  2, 2, result,    by_use,    no,  no,  no,      combined, second,          none)           \
  X(setp,           "setp",           compare,    ftz | compare | boolean,                  1, 2, result,    by_use,    yes, no,  no,      combined, own,             none)           \
  X(shf,            "shf",            bits,       own,                                      1, 3, result,    by_use,    yes, no,  no,      none,     own,             none)           \
  X(shfl,           "shfl",           warp,       sync | own,                               1, 3, result,    by_use,    no,  no,  yes,     one,      own,             none)           \
  X(shl,            "shl",            bits,       no_words,                                 1, 2, result,    by_use,    yes, no,  no,      none,     own,             left_shift)     \
  X(shr,            "shr",            bits,       no_words,                                 1, 2, result,    by_use,    yes, no,  no,      none,     own,             right_shift)    \
  X(sin,            "sin",            function,   ftz | approx,                             1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(slct,           "slct",           compare,    ftz,                                      2, 3, result,    by_use,    no,  no,  no,      none,     third_second,    none)           \
  X(sqrt,           "sqrt",           arithmetic, round | ftz | approx,                     1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(st,             "st",             memory,     space | cache | vector | order,           1, 1, own,       always,    no,  no,  no,      none,     own,             address)        \
  X(sub,            "sub",            arithmetic, arithmetic | carry,                       1, 2, result,    by_use,    yes, no,  no,      none,     own,             difference)     \
  X(subc,           "subc",           arithmetic, carry,                                    1, 2, result,    always,    no,  no,  no,      none,     own,             none)           \
  X(tanh,           "tanh",           function,   ftz | approx,                             1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(testp,          "testp",          arithmetic, own,                                      1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(trap,           "trap",           system,     no_words,                                 0, 0, none,      always,    no,  no,  no,      none,     own,             none)           \
  X(vote,           "vote",           warp,       sync | own,                               1, 1, result,    by_use,    no,  no,  yes,     one,      own,             none)           \
  X(xor_,           "xor",            bits,       no_words,                                 1, 2, result,    by_use,    yes, yes, no,      none,     own,             exclusive)      \
  X(szext,          "szext",          bits,       own,                                      1, 2, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(s2r,            "",               part,       no_words,                                 1, 0, own,       if_clock,  no,  no,  no,      none,     own,             none)           \
  X(cp,             "cp",             copy,       space | cache | own,                      0, 1, own,       always,    no,  no,  no,      none,     own,             copy)           \
  X(tensormap,      "tensormap",      copy,       space | order | sync | own,                1, 1, own,       always,    no,  no,  yes,     none,     own,             none)           \
  X(applypriority,  "applypriority",  hint,       space | own,                              0, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(createpolicy,   "createpolicy",   hint,       own,                                      1, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(discard,        "discard",        hint,       space | own,                              0, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(griddepcontrol, "griddepcontrol", barrier,    own,                                      0, 0, none,      always,    no,  no,  yes,     none,     own,             none)           \
  X(vabsdiff2,      "vabsdiff2",      difference, sat | own,                                3, 2, result,    by_use,    no,  no,  no,      one,      own,             none)           \
  X(vabsdiff4,      "vabsdiff4",      difference, sat | own,                                3, 2, result,    by_use,    no,  no,  no,      one,      own,             none)           \
  X(elect,          "elect",          warp,       sync,                                     0, 1, result,    by_use,    no,  no,  yes,     none,     own,             none)           \
  X(mbarrier,       "mbarrier",       arrival,    space | order | own,                      1, 1, own,       always,    no,  no,  no,      none,     own,             none)           \
  X(alloca_,        "alloca",         stack,      no_words,                                 1, 1, own,       by_use,    no,  no,  yes,     none,     own,             none)           \
  X(stacksave,      "stacksave",      stack,      no_words,                                 1, 1, own,       by_use,    no,  no,  yes,     none,     own,             none)           \
  X(stackrestore,   "stackrestore",   stack,      no_words,                                 1, 1, own,       by_use,    no,  no,  yes,     none,     own,             none)           \
  X(save,           "",               part,       no_words,                                 1, 1, own,       by_use,    no,  no,  yes,     none,     own,             none)           \
  X(restore,        "",               part,       no_words,                                 1, 1, own,       by_use,    no,  no,  yes,     none,     own,             none)           \
  X(system_call,    "",               system,     no_words,                                 1, 1, own,       always,    no,  no,  yes,     none,     own,             none)           \
  X(pack,           "",               part,       no_words,                                 1, 1, own,       by_use,    yes, no,  no,      none,     own,             none)           \
  X(unpack,         "",               part,       no_words,                                 1, 1, own,       by_use,    yes, no,  no,      none,     own,             none)           \
  X(brkpt,          "brkpt",          system,     no_words,                                 0, 1, result,    by_use,    no,  no,  no,      none,     own,             none)           \
  X(fns,            "fns",            search,     no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(mapa,           "mapa",           address,    space,                                    1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(getctarank,     "getctarank",     address,    space,                                    1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vadd,           "vadd",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vadd2,          "vadd2",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vadd4,          "vadd4",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vavrg2,         "vavrg2",         video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vavrg4,         "vavrg4",         video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vmad,           "vmad",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vmax,           "vmax",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vmax2,          "vmax2",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vmax4,          "vmax4",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vmin,           "vmin",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vmin2,          "vmin2",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vmin4,          "vmin4",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vset,           "vset",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vset2,          "vset2",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vset4,          "vset4",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vshl,           "vshl",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vshr,           "vshr",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vsub,           "vsub",           video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vsub2,          "vsub2",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vsub4,          "vsub4",          video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)           \
  X(vabsdiff,       "vabsdiff",       video,      no_words,                                 1, 1, own,       by_use,    no,  no,  no,      none,     own,             none)
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
  more_sources more;
  source_typing typed;
  fold_rule fold;
};
const ptx_op_info& info(ptx_op op);

/// The operation that a PTX instruction's first word names; unknown_op: none.
ptx_op find_op(std::string_view word);

}  // namespace heddle::ptx
