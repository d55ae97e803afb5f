// SPDX-License-Identifier: MIT
#include "testbench/program/heap.h"

#include <cstdint>
#include <cstdlib>  // says which C library this is

#if defined(__linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace heddle::testbench {

#if defined(__linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

void use_huge_pages() {
  // Address space; memory is allocated only when it is used.
  constexpr std::size_t reserved_bytes = std::size_t{256} << 20;
  constexpr std::uintptr_t page_bytes = std::uintptr_t{2} << 20;
  // The heap grows once, is never trimmed, and is advised as a whole.
  mallopt(M_TRIM_THRESHOLD, 2 * static_cast<int>(reserved_bytes));
  mallopt(M_TOP_PAD, static_cast<int>(reserved_bytes));
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  const auto before = reinterpret_cast<std::uintptr_t>(sbrk(0));
  void* volatile much = std::malloc(std::size_t{1} << 20);  // larger than a fresh heap
  std::free(much);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0)) / page_bytes * page_bytes;
  const std::uintptr_t begin = (before + page_bytes - 1) / page_bytes * page_bytes;
  if (begin < end) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

#else

void use_huge_pages() {}

#endif

}  // namespace heddle::testbench
