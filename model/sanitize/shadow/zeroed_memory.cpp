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
  if (used_ + bytes > chunk_bytes) take_chunk();
  void* const taken = static_cast<std::uint8_t*>(chunks_[taken_ - 1].begin) + used_;
  used_ += bytes;
  return taken;
}

// To clear a kept one costs a fraction of what the host's system takes for a new one.
void zeroed_memory::take_chunk() {
  if (taken_ != 0) chunks_[taken_ - 1].used = used_;
  if (taken_ == chunks_.size()) chunks_.push_back({map_chunk(), 0});
  chunk& next = chunks_[taken_++];
  std::memset(next.begin, 0, next.used);
  used_ = 0;
}

void zeroed_memory::clear() {
  if (taken_ != 0) chunks_[taken_ - 1].used = used_;
  release(most_kept);
  taken_ = 0;
  used_ = chunk_bytes;
}

void zeroed_memory::release(std::size_t keep) {
  while (chunks_.size() > keep) {
    munmap(chunks_.back().begin, chunk_bytes);
    chunks_.pop_back();
  }
}

}  // namespace heddle::sanitize
