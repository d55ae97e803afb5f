// SPDX-License-Identifier: MIT
// Classifies the program's pointers: device memory, managed memory, pinned memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "testbench/cuda/core/types.h"
#include "testbench/exec/wire.h"

namespace heddle::cuda {

struct allocation {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  memory_type type = unregistered;
  unsigned flags = 0;
  bool registered = false;      // memory of the program that it registered, or a variable of a module
  const void* owner = nullptr;  // the context with which it is released
};

inline std::uint64_t address_number(const void* p) { return reinterpret_cast<std::uint64_t>(p); }
inline void* pointer_at(std::uint64_t address) { return reinterpret_cast<void*>(address); }

void note_allocation(const allocation& a);
/// Which call ends an allocation: another one is refused.
enum class ended_by { free, free_host, unregister };
/// What the program has said of the use of managed memory does not count for the memory that takes its place.
void forget_advice(const allocation& was);
/// False: no allocation that the call ends begins there.
bool forget_allocation(const void* p, ended_by call, allocation& was);
/// Takes back what note_allocation() said of an address.
void drop_allocation(std::uint64_t address);
/// The allocation that contains the address; `type` unregistered: unknown to CUDA.
allocation allocation_of(const void* p);
/// Whether some of these bytes are registered memory of the program.
bool overlaps_registered(std::uint64_t address, std::uint64_t bytes);
/// The same for an address on the device: also of a variable that the program has never asked for by name.
allocation device_allocation_of(const void* p);
/// True if a box of rows that begins in the allocation does not end there.
bool leaves(const allocation& a, const void* p, std::size_t pitch, std::size_t layer, std::size_t width,
            std::size_t height, std::size_t depth);

/// All flags of pinned memory: portable, mapped, write-combined.
constexpr unsigned most_host_flags = 7;
/// With one address space for host and GPU all pinned memory is mapped.
constexpr unsigned host_flag_mapped = 2;

/// Maps memory at this address that the simulator accesses in place. It has a file in memory, which both map.
error_t share_memory(std::uint64_t address, std::uint64_t bytes, wire::range_step what);
/// Allocates device memory, managed memory or pinned memory.
error_t allocate(void** pointer, std::size_t bytes, wire::memory_kind kind, memory_type type, unsigned flags);
error_t release(void* pointer, ended_by call);
/// What cudaMalloc and cudaFree do where no capture forbids them.
error_t allocate_device(void** pointer, std::size_t bytes);
error_t free_memory(void* pointer);
/// Releases all memory that a context owns.
void release_of(const void* owner);

}  // namespace heddle::cuda
