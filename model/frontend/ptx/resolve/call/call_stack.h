// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/hir/call_frames.h"
#include "heddle/frontend/ptx/resolve/block_builder.h"

namespace heddle::ptx {

/// The stack in the thread's local memory, of functions that are not inlined and of alloca.
class call_stack {
 public:
  call_stack(block_builder& code, hir_function& out) : code_(code), out_(out) {}

  /// The register that holds the top of the stack. A kernel has a stack if it is asked for.
  value pointer();
  /// The end of the stack.
  [[nodiscard]] value limit() const;
  /// Adds a call that saves registers; returns its number.
  std::uint32_t add_site(const call_site& s);
  /// A function needs so many bytes.
  void need_frame(std::uint32_t bytes);
  /// Called when all blocks are known: places the stack and emits the code of calls that saves registers.
  void finish();

 private:
  block_builder& code_;
  hir_function& out_;
  value pointer_;  // none if no stack is needed
  std::vector<call_site> sites_;
  std::uint32_t largest_frame_ = 0;
};

}  // namespace heddle::ptx
