// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <unordered_map>

#include "heddle/frontend/ptx/resolve/block_builder.h"

namespace heddle::ptx {

/// Bank number that marks the address of an extern shared array until the size of the static variables is known.
constexpr std::uint8_t dynamic_shared_bank = 0xfe;

/// The stack frame of a function that is not inlined.
struct activation {
  value base;  // stack pointer at entry
  std::uint32_t local_bytes = 0;
};

/// Places variables in shared and local memory and on the stack.
class memory_places {
 public:
  memory_places(block_builder& code, hir_function& out) : code_(code), out_(out) {}

  /// Local variables are placed in `a` from now on; null: in the kernel's local memory. Returns the one before.
  activation* set_activation(activation* a);

  value place_shared(const ast_variable& v);
  value place_once(const ast_variable& v);
  value place_local(const ast_variable& v, std::uint32_t align, std::uint64_t bytes);
  /// The size of the kernel's local memory so far.
  [[nodiscard]] std::uint32_t local_bytes() const { return out_.local_bytes; }
  /// Called when all variables are known: replaces the addresses of extern shared arrays.
  void finish();

 private:
  value place_on_stack(const ast_variable& v, std::uint32_t align, std::uint64_t bytes);

  block_builder& code_;
  hir_function& out_;
  activation* activation_ = nullptr;
  std::uint32_t dynamic_shared_align_ = 0;                 // 0: no extern shared array is used
  std::unordered_map<const ast_variable*, value> places_;  // by place_once()
};

}  // namespace heddle::ptx
