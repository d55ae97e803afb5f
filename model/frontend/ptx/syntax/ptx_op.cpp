// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/syntax/ptx_op.h"

#include <unordered_map>

namespace heddle::ptx {

namespace word_group {  // whose names the rows use
namespace {

constexpr bool yes = true, no = false;
constexpr ptx_op_info table[] = {
#define HEDDLE_X(name, text, family, words, types, sources, operands, needed, guardable, commutes, alone, more, typed, \
                 fold)                                                                                                 \
  {text,                                                                                                               \
   op_family::family,                                                                                                  \
   words,                                                                                                              \
   types,                                                                                                              \
   sources,                                                                                                            \
   operand_use::operands,                                                                                              \
   needed_kind::needed,                                                                                                \
   guardable,                                                                                                          \
   commutes,                                                                                                           \
   alone_kind::alone,                                                                                                  \
   more_sources::more,                                                                                                 \
   source_typing::typed,                                                                                               \
   fold_rule::fold},
    HEDDLE_PTX_OPS(HEDDLE_X)
#undef HEDDLE_X
};

}  // namespace
}  // namespace word_group

const ptx_op_info& info(ptx_op op) { return word_group::table[static_cast<unsigned>(op)]; }

ptx_op find_op(std::string_view word) {
  static const std::unordered_map<std::string_view, ptx_op> known = [] {
    std::unordered_map<std::string_view, ptx_op> t;
    for (unsigned k = 0; k < static_cast<unsigned>(ptx_op::count); ++k) {
      const char* const name = info(static_cast<ptx_op>(k)).name;
      if (*name) t.emplace(name, static_cast<ptx_op>(k));
    }
    return t;
  }();
  const auto it = known.find(word);
  return it == known.end() ? unknown_op : it->second;
}

}  // namespace heddle::ptx
