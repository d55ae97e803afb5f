// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/hir/ptx_op.h"

#include <unordered_map>

#include "heddle/frontend/ptx/hir/video_form.h"

namespace heddle::ptx {

namespace word_group {  // whose names the rows use
namespace {

constexpr bool yes = true, no = false;
constexpr ptx_op_info table[] = {
#define HEDDLE_X(name, text, words, types, sources, operands, needed, guardable, commutes, alone) \
  {text, words, types, sources, operand_use::operands, needed_kind::needed, guardable, commutes, alone_kind::alone},
    HEDDLE_PTX_OPS(HEDDLE_X)
#undef HEDDLE_X
};

}  // namespace
}  // namespace word_group

const ptx_op_info& info(ptx_op op) { return word_group::table[static_cast<unsigned>(op)]; }

bool find_op(const std::string& w, ptx_op& op) {
  static const std::unordered_map<std::string, ptx_op> table = [] {
    std::unordered_map<std::string, ptx_op> t;
    for (unsigned k = 0; k < static_cast<unsigned>(ptx_op::count); ++k) {
      const char* const name = info(static_cast<ptx_op>(k)).name;
      if (*name) t.emplace(name, static_cast<ptx_op>(k));
    }
    return t;
  }();
  auto it = table.find(w);
  if (it == table.end() && !is_video_name(w)) return false;
  op = it == table.end() ? ptx_op::video : it->second;
  return true;
}

}  // namespace heddle::ptx
