// SPDX-License-Identifier: MIT
#include "heddle/frontend/sass_trace/block/shape_store.h"

namespace heddle::sass_trace {

namespace {
constexpr std::size_t most_shapes = 4096;  // 1 MB
}

shape_store::number shape_store::find_or_add(const offset_list& offsets) {
  const auto known = numbers_.find(offsets);
  if (known != numbers_.end()) return known->second;
  if (shapes_.size() == most_shapes) return none;
  const auto n = static_cast<number>(shapes_.size());
  shapes_.push_back(&numbers_.emplace(offsets, n).first->first);
  return n;
}

}  // namespace heddle::sass_trace
