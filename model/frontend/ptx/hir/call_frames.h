// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

constexpr std::uint32_t call_stack_bytes = 16384;  // per thread, in local memory, for kernels that need a call stack

/// A call within a function that may be re-entered before it returns, with the registers that may have to survive it.
struct call_site {
  // Registers of the activation: [first, end) of the body so far, [own_first, own_end) of its parameters.
  std::uint32_t first = 0, end = 0, own_first = 0, own_end = 0;
};

/// Replaces the save and restore marks of calls by stores to and loads from the call stack for registers that are read
/// after the call. `pointer` holds the top of the stack, a local address that is a multiple of 16; the stack ends at
/// `limit`. `reserve` bytes must stay free for the callee's own use of the stack.
void expand_call_frames(hir_function& f, const std::vector<call_site>& sites, value pointer, std::uint32_t limit,
                        std::uint32_t reserve);

}  // namespace heddle::ptx
