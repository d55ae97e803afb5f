// SPDX-License-Identifier: MIT
#include "heddle/frontend/ptx/resolve/memory_places.h"

#include <algorithm>
#include <utility>

#include "heddle/frontend/ptx/hir/call_frames.h"
#include "heddle/frontend/ptx/resolve/align_up.h"

namespace heddle::ptx {

/// Places a variable that has one location per kernel, independent of the number of calls: in the block's shared
/// memory or the thread's local memory.
value memory_places::place_once(const ast_variable& v) {
  const auto known = places_.find(&v);
  if (known != places_.end()) return known->second;
  activation* const frame = set_activation(nullptr);  // not on the stack, where each activation has its own copy
  const value place = v.space == state_space::shared ? place_shared(v) : place_local(v, v.alignment(), v.size_bytes());
  set_activation(frame);
  return places_[&v] = place;
}

/// Reserves local memory; in a function that is not inlined, for each of its activations.
value memory_places::place_local(const ast_variable& v, std::uint32_t align, std::uint64_t bytes) {
  if (activation_) return place_on_stack(v, align, bytes);
  const std::uint64_t start = align_up(out_.local_bytes, align);
  if (start + bytes > (1u << 19)) code_.fail(v.where, "local memory of the kernel exceeds 512 KiB at '" + v.name + "'");
  out_.local_bytes = static_cast<std::uint32_t>(start + bytes);
  return immediate_value(start);
}

value memory_places::place_shared(const ast_variable& v) {
  if (v.is_extern || (v.is_array && v.size_bytes() == 0)) {
    dynamic_shared_align_ = std::max(dynamic_shared_align_, std::max(v.alignment(), 1u));
    return constant_value(dynamic_shared_bank, 0, 1);
  }
  const std::uint64_t start = align_up(out_.shared_bytes, v.alignment());
  if (start + v.size_bytes() > (1u << 24))
    code_.fail(v.where, "shared memory of the kernel exceeds 16 MiB at '" + v.name + "'");
  out_.shared_bytes = static_cast<std::uint32_t>(start + v.size_bytes());
  return immediate_value(start);
}

/// A .local variable of a function that is not inlined: each activation has its own copy on the stack.
value memory_places::place_on_stack(const ast_variable& v, std::uint32_t align, std::uint64_t bytes) {
  align = std::min<std::uint32_t>(align, 16);
  const std::uint64_t start = (std::uint64_t{activation_->local_bytes} + align - 1) / align * align;
  if (start + bytes > call_stack_bytes)
    code_.fail(v.where, "local memory of a recursive function exceeds " + std::to_string(call_stack_bytes) +
                            " bytes at '" + v.name + "'");
  activation_->local_bytes = static_cast<std::uint32_t>(start + bytes);
  const value narrow = register_value(code_.new_register(1, 32)), wide = register_value(code_.new_register(2, 64));
  hir_instruction sum =
      new_instruction(ptx_op::add, isa::dtype::u32, {narrow}, {activation_->base, immediate_value(start)});
  hir_instruction widen = new_instruction(ptx_op::pack, isa::dtype::b64, {wide}, {narrow, immediate_value(0)});
  sum.where = widen.where = v.where;
  code_.append(std::move(sum));
  code_.append(std::move(widen));
  return wide;
}

activation* memory_places::set_activation(activation* a) { return std::exchange(activation_, a); }

void memory_places::finish() {
  const std::uint32_t align = std::max(dynamic_shared_align_, 1u);
  if (dynamic_shared_align_) out_.shared_bytes = (out_.shared_bytes + align - 1) / align * align;
  for (hir_block& b : out_.blocks)
    for (hir_instruction& h : b.code)
      for (value& v : h.src)
        if (v.what == value::kind::constant && v.bank == dynamic_shared_bank)
          v = immediate_value(out_.shared_bytes + v.bits);
}

}  // namespace heddle::ptx
