// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "heddle/frontend/ptx/hir/hir.h"

namespace heddle::ptx {

constexpr std::uint32_t call_stack_bytes = 16384;  // per thread, in local memory, of kernels that need a stack

/// A call within a function that may be entered again before it returns: what of its registers must outlive the call.
struct call_site {
  // Registers of the activation: [first, end) of the body so far, [own_first, own_end) of its parameters.
  std::uint32_t first = 0, end = 0, own_first = 0, own_end = 0;
};

/// Replaces the save and restore marks of calls by stores to and loads from the call stack of those registers that are
/// read after the call. `pointer` holds the stack's top, a local address, multiple of 16; the stack ends at `limit`;
/// `reserve` bytes must stay free for what the callee places on it.
void expand_call_frames(hir_function& f, const std::vector<call_site>& sites, value pointer, std::uint32_t limit,
                        std::uint32_t reserve);

}  // namespace heddle::ptx
