// SPDX-License-Identifier: MIT
// The PTX instructions that the lowering supports, one row each with every property that does not depend on operands.
#pragma once

#include <cstdint>
#include <string>

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

/// When an instruction is needed although nobody reads its result. by_use: if it writes the carry flag, which is not
/// tracked. if_store: a wmma.store. if_strong: a volatile or ordered load. if_clock: S2R of a clock.
enum class needed_kind : std::uint8_t { by_use, always, if_store, if_strong, if_clock };

/// Whether a loop with it is not unrolled: lanes must meet at it, it orders memory, or it leaves for the system.
/// if_warp: a barrier of a warp, or with a reduction. if_call: a branch that comes back.
enum class alone_kind : std::uint8_t { no, yes, if_warp, if_call };

// clang-format off
/// X(enumerator, PTX name, words, types, sources, operands, needed, guardable, commutes, alone); the columns are the
/// members of ptx_op_info. An empty name is an instruction that the lowering itself creates.
#define HEDDLE_PTX_OPS(X) \
  X(abs,            "abs",            ftz,                                      1, 1, result,    by_use,    yes, no,  no)      \
  X(activemask,     "activemask",     no_words,                                 1, 0, result,    by_use,    no,  no,  no)      \
  X(add,            "add",            arithmetic | carry,                       1, 2, result,    by_use,    yes, yes, no)      \
  X(addc,           "addc",           carry,                                    1, 2, result,    always,    no,  no,  no)      \
  X(and_,           "and",            no_words,                                 1, 2, result,    by_use,    yes, yes, no)      \
  X(atom,           "atom",           space | order | atomic | vector,          1, 1, own,       always,    no,  no,  no)      \
  X(bar,            "bar",            sync | own,                               1, 1, own,       always,    no,  no,  if_warp) \
  X(barrier,        "barrier",        sync | own,                               1, 1, own,       always,    no,  no,  if_warp) \
  X(bfe,            "bfe",            no_words,                                 1, 3, result,    by_use,    yes, no,  no)      \
  X(bfi,            "bfi",            no_words,                                 1, 4, result,    by_use,    yes, no,  no)      \
  X(bfind,          "bfind",          own,                                      1, 1, result,    by_use,    no,  no,  no)      \
  X(bmsk,           "bmsk",           own,                                      1, 2, result,    by_use,    no,  no,  no)      \
  X(bra,            "bra",            uni,                                      0, 1, own,       always,    no,  no,  if_call) \
  X(brev,           "brev",           no_words,                                 1, 1, result,    by_use,    yes, no,  no)      \
  X(brx,            "brx",            uni,                                      0, 1, own,       by_use,    no,  no,  no)      \
  X(call,           "call",           uni,                                      0, 1, own,       by_use,    no,  no,  no)      \
  X(clz,            "clz",            no_words,                                 1, 1, result,    by_use,    yes, no,  no)      \
  X(cnot,           "cnot",           no_words,                                 1, 1, result,    by_use,    no,  no,  no)      \
  X(copysign,       "copysign",       no_words,                                 1, 2, result,    by_use,    no,  no,  no)      \
  X(cos,            "cos",            ftz | approx,                             1, 1, result,    by_use,    no,  no,  no)      \
  X(cvt,            "cvt",            round | integer_round | ftz | sat | relu, 2, 1, result,    by_use,    yes, no,  no)      \
  X(cvta,           "cvta",           space | to,                               1, 1, result,    by_use,    no,  no,  no)      \
  X(div,            "div",            round | ftz | approx,                     1, 2, result,    by_use,    no,  no,  no)      \
  X(dp2a,           "dp2a",           part,                                     2, 3, result,    by_use,    no,  no,  no)      \
  X(dp4a,           "dp4a",           no_words,                                 2, 3, result,    by_use,    no,  no,  no)      \
  X(ex2,            "ex2",            ftz | approx,                             1, 1, result,    by_use,    no,  no,  no)      \
  X(exit,           "exit",           no_words,                                 0, 0, none,      always,    no,  no,  no)      \
  X(fence,          "fence",          order | own,                              0, 0, none,      always,    no,  no,  yes)     \
  X(fma,            "fma",            arithmetic | relu,                        1, 3, result,    by_use,    yes, yes, no)      \
  X(isspacep,       "isspacep",       space,                                    0, 1, result,    by_use,    no,  no,  no)      \
  X(wmma,           "wmma",           no_words,                                 1, 1, own,       if_store,  no,  no,  no)      \
  X(mma,            "mma",            no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(ldmatrix,       "ldmatrix",       no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(stmatrix,       "stmatrix",       no_words,                                 1, 1, own,       always,    no,  no,  no)      \
  X(movmatrix,      "movmatrix",      no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(tex,            "tex",            no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(tld4,           "tld4",           no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(suld,           "suld",           no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(sust,           "sust",           no_words,                                 1, 1, own,       always,    no,  no,  no)      \
  X(txq,            "txq",            no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(suq,            "suq",            no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(ld,             "ld",             space | cache | vector | order,           1, 1, own,       if_strong, no,  no,  no)      \
  X(ldu,            "ldu",            space | cache | vector | order,           1, 1, own,       by_use,    no,  no,  no)      \
  X(lg2,            "lg2",            ftz | approx,                             1, 1, result,    by_use,    no,  no,  no)      \
  X(lop3,           "lop3",           own,                                      1, 4, result,    by_use,    yes, no,  no)      \
  X(mad,            "mad",            arithmetic | part | carry,                1, 3, result,    by_use,    yes, yes, no)      \
  X(mad24,          "mad24",          part | sat,                               1, 3, result,    by_use,    no,  yes, no)      \
  X(madc,           "madc",           part | carry,                             1, 3, result,    always,    no,  no,  no)      \
  X(match,          "match",          sync | own,                               1, 2, result,    by_use,    no,  no,  yes)     \
  X(max,            "max",            ftz | nan | relu | own,                   1, 2, result,    by_use,    yes, yes, no)      \
  X(membar,         "membar",         order | own,                              0, 0, none,      always,    no,  no,  yes)     \
  X(min,            "min",            ftz | nan | relu | own,                   1, 2, result,    by_use,    yes, yes, no)      \
  X(mov,            "mov",            vector,                                   1, 1, own,       by_use,    yes, no,  no)      \
  X(mul,            "mul",            arithmetic | part,                        1, 2, result,    by_use,    yes, yes, no)      \
  X(mul24,          "mul24",          part | sat,                               1, 2, result,    by_use,    no,  yes, no)      \
  X(nanosleep,      "nanosleep",      no_words,                                 1, 1, no_result, always,    no,  no,  no)      \
  X(neg,            "neg",            ftz,                                      1, 1, result,    by_use,    yes, no,  no)      \
  X(not_,           "not",            no_words,                                 1, 1, result,    by_use,    yes, no,  no)      \
  X(or_,            "or",             no_words,                                 1, 2, result,    by_use,    yes, yes, no)      \
  X(pmevent,        "pmevent",        own,                                      0, 1, no_result, always,    no,  no,  no)      \
  X(popc,           "popc",           no_words,                                 1, 1, result,    by_use,    yes, no,  no)      \
  X(prefetch,       "prefetch",       space | own,                              0, 1, no_result, by_use,    no,  no,  no)      \
  X(prefetchu,      "prefetchu",      space | own,                              0, 1, no_result, by_use,    no,  no,  no)      \
  X(prmt,           "prmt",           own,                                      1, 3, result,    by_use,    yes, no,  no)      \
  X(rcp,            "rcp",            round | ftz | approx,                     1, 1, result,    by_use,    no,  no,  no)      \
  X(red,            "red",            space | order | atomic | vector,          1, 1, own,       always,    no,  no,  no)      \
  X(redux,          "redux",          sync | own,                               1, 2, result,    by_use,    no,  no,  yes)     \
  X(rem,            "rem",            no_words,                                 1, 2, result,    by_use,    no,  no,  no)      \
  X(ret,            "ret",            uni,                                      0, 1, none,      by_use,    no,  no,  no)      \
  X(rsqrt,          "rsqrt",          round | ftz | approx,                     1, 1, result,    by_use,    no,  no,  no)      \
  X(sad,            "sad",            no_words,                                 1, 3, result,    by_use,    no,  no,  no)      \
  X(selp,           "selp",           no_words,                                 1, 3, result,    by_use,    yes, no,  no)      \
  X(set,            "set",            ftz | compare | boolean,                  2, 2, result,    by_use,    no,  no,  no)      \
  X(setp,           "setp",           ftz | compare | boolean,                  1, 2, result,    by_use,    yes, no,  no)      \
  X(shf,            "shf",            own,                                      1, 3, result,    by_use,    yes, no,  no)      \
  X(shfl,           "shfl",           sync | own,                               1, 3, result,    by_use,    no,  no,  yes)     \
  X(shl,            "shl",            no_words,                                 1, 2, result,    by_use,    yes, no,  no)      \
  X(shr,            "shr",            no_words,                                 1, 2, result,    by_use,    yes, no,  no)      \
  X(sin,            "sin",            ftz | approx,                             1, 1, result,    by_use,    no,  no,  no)      \
  X(slct,           "slct",           ftz,                                      2, 3, result,    by_use,    no,  no,  no)      \
  X(sqrt,           "sqrt",           round | ftz | approx,                     1, 1, result,    by_use,    no,  no,  no)      \
  X(st,             "st",             space | cache | vector | order,           1, 1, own,       always,    no,  no,  no)      \
  X(sub,            "sub",            arithmetic | carry,                       1, 2, result,    by_use,    yes, no,  no)      \
  X(subc,           "subc",           carry,                                    1, 2, result,    always,    no,  no,  no)      \
  X(tanh,           "tanh",           ftz | approx,                             1, 1, result,    by_use,    no,  no,  no)      \
  X(testp,          "testp",          own,                                      1, 1, result,    by_use,    no,  no,  no)      \
  X(trap,           "trap",           no_words,                                 0, 0, none,      always,    no,  no,  no)      \
  X(vote,           "vote",           sync | own,                               1, 1, result,    by_use,    no,  no,  yes)     \
  X(xor_,           "xor",            no_words,                                 1, 2, result,    by_use,    yes, yes, no)      \
  X(szext,          "szext",          own,                                      1, 2, result,    by_use,    no,  no,  no)      \
  X(s2r,            "",               no_words,                                 1, 0, own,       if_clock,  no,  no,  no)      \
  X(cp,             "cp",             space | cache | own,                      0, 1, own,       always,    no,  no,  no)      \
  X(applypriority,  "applypriority",  space | own,                              0, 1, result,    by_use,    no,  no,  no)      \
  X(createpolicy,   "createpolicy",   own,                                      1, 1, result,    by_use,    no,  no,  no)      \
  X(discard,        "discard",        space | own,                              0, 1, result,    by_use,    no,  no,  no)      \
  X(griddepcontrol, "griddepcontrol", space | own,                              0, 1, result,    by_use,    no,  no,  no)      \
  X(vabsdiff2,      "vabsdiff2",      sat | own,                                3, 2, result,    by_use,    no,  no,  no)      \
  X(vabsdiff4,      "vabsdiff4",      sat | own,                                3, 2, result,    by_use,    no,  no,  no)      \
  X(elect,          "elect",          sync,                                     0, 1, result,    by_use,    no,  no,  yes)     \
  X(mbarrier,       "mbarrier",       space | order | own,                      1, 1, own,       always,    no,  no,  no)      \
  X(alloca_,        "alloca",         no_words,                                 1, 1, own,       by_use,    no,  no,  yes)     \
  X(stacksave,      "stacksave",      no_words,                                 1, 1, own,       by_use,    no,  no,  yes)     \
  X(stackrestore,   "stackrestore",   no_words,                                 1, 1, own,       by_use,    no,  no,  yes)     \
  X(save,           "",               no_words,                                 1, 1, own,       by_use,    no,  no,  yes)     \
  X(restore,        "",               no_words,                                 1, 1, own,       by_use,    no,  no,  yes)     \
  X(system_call,    "",               no_words,                                 1, 1, own,       always,    no,  no,  yes)     \
  X(pack,           "",               no_words,                                 1, 1, own,       by_use,    yes, no,  no)      \
  X(unpack,         "",               no_words,                                 1, 1, own,       by_use,    yes, no,  no)      \
  X(video,          "",               no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(brkpt,          "brkpt",          no_words,                                 0, 1, result,    by_use,    no,  no,  no)      \
  X(fns,            "fns",            no_words,                                 1, 1, own,       by_use,    no,  no,  no)      \
  X(mapa,           "mapa",           space,                                    1, 1, own,       by_use,    no,  no,  no)      \
  X(getctarank,     "getctarank",     space,                                    1, 1, own,       by_use,    no,  no,  no)
// clang-format on

enum class ptx_op : std::uint8_t {
#define HEDDLE_X(name, ...) name,
  HEDDLE_PTX_OPS(HEDDLE_X)
#undef HEDDLE_X
      count
};

struct ptx_op_info {
  const char* name;
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

/// The operation that a PTX instruction's first word names; false for an unknown one.
bool find_op(const std::string& word, ptx_op& op);

}  // namespace heddle::ptx
