// SPDX-License-Identifier: MIT
#include "testbench/cuda/core/window.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace heddle::cuda {

namespace {

// Past the caches, which need not fetch lines first that are written as a whole.
void copy_past_caches(unsigned char* to, const unsigned char* from, std::size_t bytes) {
#if defined(__SSE2__)
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(to) % sizeof(__m128i);
  if (bytes > 65536) {
    std::memcpy(to, from, before);
    std::size_t k = before;
    for (; k + sizeof(__m128i) <= bytes; k += sizeof(__m128i))
      _mm_stream_si128(reinterpret_cast<__m128i*>(to + k), _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + k)));
    _mm_sfence();
    std::memcpy(to + k, from + k, bytes - k);
    return;
  }
#endif
  std::memcpy(to, from, bytes);
}

}  // namespace

int window::open() {
  tried = true;
  const int file = ::memfd_create("heddle", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) return -1;
  void* at = MAP_FAILED;
  if (::ftruncate(file, wire::window_bytes) == 0 && ::fcntl(file, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
    at = ::mmap(nullptr, wire::window_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (at == MAP_FAILED) {
    ::close(file);
    return -1;
  }
  ::madvise(at, wire::window_bytes, MADV_DONTFORK);
  data = static_cast<unsigned char*>(at);
  return file;
}

bool window::move(const wire::move_request& r) const {
  if (data == nullptr || r.bytes > wire::window_bytes) return false;
  auto* const own = reinterpret_cast<unsigned char*>(r.address);
  if (r.to_window != 0) std::memcpy(data, own, r.bytes);
  else copy_past_caches(own, data, r.bytes);
  return true;
}

kept_processor::~kept_processor() {
  if (kept_) ::sched_setaffinity(0, sizeof before_, &before_);
}

int kept_processor::number() {
  if (kept_) return number_;
  number_ = ::sched_getcpu();
  if (number_ < 0 || number_ >= CPU_SETSIZE || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return number_;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(number_), &one);
  kept_ = ::sched_setaffinity(0, sizeof one, &one) == 0;
  return number_;
}

void window::close() {
  if (data != nullptr) ::munmap(data, wire::window_bytes);
  data = nullptr;
}

}  // namespace heddle::cuda
