// SPDX-License-Identifier: MIT
#include "heddle/sanitize/shadow/zeroed_memory.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstring>
#include <new>

namespace heddle::sanitize {

namespace {

// A chunk that begins at a multiple of its size, as large pages do.
void* map_chunk() {
  constexpr std::size_t size = zeroed_memory::chunk_bytes;
  void* const all = mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  auto* const begin = static_cast<std::uint8_t*>(all);
  const std::size_t before = (size - reinterpret_cast<std::uintptr_t>(begin) % size) % size;
  if (before != 0) munmap(begin, before);
  munmap(begin + before + size, size - before);
  madvise(begin + before, size, MADV_HUGEPAGE);  // fails where the kernel has none
  return begin + before;
}

}  // namespace

zeroed_memory::~zeroed_memory() { release(0); }

void* zeroed_memory::take(std::size_t bytes) {
  constexpr std::size_t alignment = 64;
  bytes = (bytes + alignment - 1) / alignment * alignment;
  if (bytes > chunk_bytes) throw std::bad_alloc();
  if (used_ + bytes > chunk_bytes) {
    chunks_.push_back(map_chunk());
    used_ = 0;
  }
  void* const taken = static_cast<std::uint8_t*>(chunks_.back()) + used_;
  used_ += bytes;
  return taken;
}

// The first chunk is kept: small launches need no more.
void zeroed_memory::clear() {
  if (chunks_.empty()) return;
  std::memset(chunks_.front(), 0, chunks_.size() == 1 ? used_ : chunk_bytes);
  release(1);
  used_ = 0;
}

void zeroed_memory::release(std::size_t keep) {
  while (chunks_.size() > keep) {
    munmap(chunks_.back(), chunk_bytes);
    chunks_.pop_back();
  }
}

}  // namespace heddle::sanitize
