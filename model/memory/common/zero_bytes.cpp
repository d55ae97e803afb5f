// SPDX-License-Identifier: MIT
#include "heddle/memory/common/zero_bytes.h"

#include <cstdlib>
#include <cstring>
#include <new>

// Sanitizers watch what lies beyond the end of the heap's blocks.
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <sys/mman.h>
#define HEDDLE_OWN_PAGES
#endif

namespace heddle {

#ifdef HEDDLE_OWN_PAGES
namespace {
// Before the bytes stands how many there are, with the room of a line, so that lines begin as they do on a page.
constexpr std::size_t size_bytes = 128;
}  // namespace

void release_pages::operator()(std::uint8_t* bytes) const {
  std::uint8_t* const pages = bytes - size_bytes;
  std::size_t size;
  std::memcpy(&size, pages, sizeof size);
  ::munmap(pages, size);
}

// The system gives zeros.
std::unique_ptr<std::uint8_t[], release_pages> zero_bytes(std::size_t size) {
  size += size_bytes;
  void* const pages = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) throw std::bad_alloc();
  std::memcpy(pages, &size, sizeof size);
  return std::unique_ptr<std::uint8_t[], release_pages>(static_cast<std::uint8_t*>(pages) + size_bytes);
}
#else
void release_pages::operator()(std::uint8_t* bytes) const { std::free(bytes); }

std::unique_ptr<std::uint8_t[], release_pages> zero_bytes(std::size_t size) {
  void* const bytes = std::calloc(size, 1);
  if (bytes == nullptr) throw std::bad_alloc();
  return std::unique_ptr<std::uint8_t[], release_pages>(static_cast<std::uint8_t*>(bytes));
}
#endif

}  // namespace heddle
