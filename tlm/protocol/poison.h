// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#if defined(__SANITIZE_ADDRESS__)
#define HEDDLE_POISON_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEDDLE_POISON_ASAN 1
#endif
#endif
#ifdef HEDDLE_POISON_ASAN
#include <sanitizer/asan_interface.h>
#endif

// An object in a pool has no owner. Poison finds accesses through pointers that were kept after its release: under
// AddressSanitizer every access, at the access; in other builds without NDEBUG every write, when the object is taken
// from its pool again. Builds with NDEBUG do not check.

namespace heddle::poison {

enum class found : std::uint8_t { nothing, writes, accesses };
#if defined(HEDDLE_POISON_ASAN)
constexpr found finds = found::accesses;
#elif defined(NDEBUG)
constexpr found finds = found::nothing;
#else
constexpr found finds = found::writes;
#endif
constexpr std::uint8_t pattern = 0xdb;

/// `bytes` plain bytes at `p` may not be accessed from now on.
inline void set([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef HEDDLE_POISON_ASAN
  ASAN_POISON_MEMORY_REGION(p, bytes);
#endif
  if constexpr (finds == found::writes) std::fill_n(static_cast<std::uint8_t*>(p), bytes, pattern);
}
/// They may be accessed again; their values are undefined. Throws std::logic_error if they were written.
inline void lift([[maybe_unused]] void* p, [[maybe_unused]] std::size_t bytes) {
#ifdef HEDDLE_POISON_ASAN
  ASAN_UNPOISON_MEMORY_REGION(p, bytes);
#endif
  if constexpr (finds == found::writes) {
    const auto* const b = static_cast<const std::uint8_t*>(p);
    if (!std::all_of(b, b + bytes, [](std::uint8_t v) { return v == pattern; }))
      throw std::logic_error("an object was written after it had been given back to its pool");
  }
}
/// As set and lift for a whole object whose members are not plain bytes, which only AddressSanitizer can watch.
template <class T>
void set_object([[maybe_unused]] T& object) {
#ifdef HEDDLE_POISON_ASAN
  ASAN_POISON_MEMORY_REGION(&object, sizeof object);
#endif
}
template <class T>
void lift_object([[maybe_unused]] T& object) {
#ifdef HEDDLE_POISON_ASAN
  ASAN_UNPOISON_MEMORY_REGION(&object, sizeof object);
#endif
}

}  // namespace heddle::poison
