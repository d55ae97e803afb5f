// SPDX-License-Identifier: MIT
// Places the heap of a program that links this file on huge pages, where the system provides them. The state of a large
// GPU is tens of megabytes that every cycle accesses throughout; with small pages, many of these accesses miss the TLB.
// It happens before the constructors of the shared libraries: SystemC's allocate and clear three megabytes, page by
// page, which is half of the time of a short command. Without huge pages nothing changes; results do not depend on it.
#include <cstdint>
#include <cstdlib>  // says which C library this is

#if defined(__linux__) && defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

namespace heddle::testbench {
namespace {

void* volatile heap_start = nullptr;  // what lies before the first huge page, never used

void use_huge_pages() {
  // Address space; memory is allocated only when it is used.
  constexpr std::size_t reserved_bytes = std::size_t{256} << 20;
  constexpr std::uintptr_t page_bytes = std::uintptr_t{2} << 20;
  // The heap grows once, is never trimmed, and is advised as a whole.
  mallopt(M_TRIM_THRESHOLD, 2 * static_cast<int>(reserved_bytes));
  mallopt(M_TOP_PAD, static_cast<int>(reserved_bytes));
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  void* volatile much = std::malloc(std::size_t{1} << 20);  // larger than a fresh heap
  if (much == nullptr) {                                    // the process may not have so much (ulimit -v)
    mallopt(M_TOP_PAD, 128 << 10);
    return;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(much);
  std::free(much);
  const std::uintptr_t begin = (first + page_bytes - 1) / page_bytes * page_bytes;
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0)) / page_bytes * page_bytes;
  if (begin >= end || madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE) != 0) return;
  if (constexpr std::uintptr_t headers = 64; begin - first > 2 * headers)
    heap_start = std::malloc(begin - first - headers);
}

// What the dynamic linker calls first.
__attribute__((section(".preinit_array"), used)) void (*first_of_all)() = use_huge_pages;

}  // namespace
}  // namespace heddle::testbench
#endif
