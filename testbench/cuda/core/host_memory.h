// SPDX-License-Identifier: MIT
// Which of the program's pointers are what: device memory, managed memory, pinned memory.
#pragma once

#include <cstdint>

#include "testbench/cuda/core/types.h"
#include "testbench/exec/wire.h"

namespace heddle::cuda {

struct allocation {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  memory_type type = unregistered;
  unsigned flags = 0;
  bool registered = false;      // the program's own memory, or a variable of a module
  const void* owner = nullptr;  // the context that it goes with
};

void note_allocation(const allocation& a);
/// False: none begins there.
bool forget_allocation(const void* p, allocation& was);
/// What holds the address; `type` unregistered: nothing that CUDA knows.
allocation allocation_of(const void* p);
/// Kernels or copies take this pointer for device memory.
inline bool is_device(const allocation& a) { return a.type == device || a.type == managed; }

/// Device memory, managed memory, pinned memory.
error_t allocate(void** pointer, std::size_t bytes, wire::memory_kind kind, memory_type type, unsigned flags);
error_t release(void* pointer);
/// All that a context owns.
void release_of(const void* owner);

}  // namespace heddle::cuda
