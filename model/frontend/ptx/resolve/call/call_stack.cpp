// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/call/call_stack.h"

#include <algorithm>
#include <utility>

#include "heddle/frontend/ptx/resolve/align_up.h"

namespace heddle::ptx {

namespace {

constexpr std::uint8_t stack_limit_bank = 0xfd;  // marks the end of the stack until it is known

}  // namespace

value call_stack::pointer() {
  if (!pointer_.is_reg()) pointer_ = register_value(code_.new_register(1, 32));
  return pointer_;
}

value call_stack::limit() const { return constant_value(stack_limit_bank, 0, 1); }

std::uint32_t call_stack::add_site(const call_site& s) {
  sites_.push_back(s);
  return static_cast<std::uint32_t>(sites_.size() - 1);
}

void call_stack::need_frame(std::uint32_t bytes) { largest_frame_ = std::max(largest_frame_, bytes); }

void call_stack::finish() {
  if (!pointer_.is_reg()) return;
  const std::uint32_t base = static_cast<std::uint32_t>(align_up(out_.local_bytes, 16));
  out_.local_bytes = base + call_stack_bytes;
  expand_call_frames(out_, sites_, pointer_, out_.local_bytes, largest_frame_);
  hir_instruction start = new_instruction(ptx_op::mov, isa::dtype::b32, {pointer_}, {immediate_value(base)});
  hir_block& first = out_.blocks.front();
  if (!first.code.empty()) {
    start.where = first.code.front().where;
    start.source = first.code.front().source;
  }
  first.code.insert(first.code.begin(), std::move(start));
  for (hir_block& b : out_.blocks)
    for (hir_instruction& h : b.code)
      for (value& v : h.src)
        if (v.what == value::kind::constant && v.bank == stack_limit_bank) v = immediate_value(out_.local_bytes);
}

}  // namespace heddle::ptx
